//! Reads a journal's lines as they stand, for whoever may read the folder. Takes no lock, refuses no line for its chain, and
//! never holds up the writer.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take};
use std::path::{Path, PathBuf};

use super::chain::{Chain, LineFault, MAX_LINE, split};
use super::error::{Damage, OpenError, What};
use super::folders::Folders;
use super::segment::{SegmentRef, SegmentsNewestFirst, Stream, has_older, is_header};
use crate::base::day::Day;
use crate::record::event::Event;

/// The risk records of the journal in `dir`, oldest first, each as stored (one JSON object with its chain value, without the
/// line feed). A last line that is being written now is left out.
pub fn read_risk(dir: &Path) -> Result<StoredLines, OpenError> {
    if std::fs::symlink_metadata(dir).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Err(OpenError::NoRiskJournal(dir.to_owned()));
    }
    let folders = Folders::of(dir)?;
    let files = SegmentsNewestFirst::of(&folders, Stream::Risk)?.all()?;
    if files.is_empty() {
        return Err(OpenError::NoRiskJournal(dir.to_owned()));
    }
    Ok(StoredLines { folders, files, open: None })
}

/// The events of the journal in `dir` from some file on that begins at or before the event behind `after`, oldest first, each
/// as stored. Those before it in that file come too. A last line that is being written now is left out.
pub fn read_events(dir: &Path, after: u64) -> Result<StoredLines, OpenError> {
    let folders = Folders::of(dir)?;
    let mut newest_first = SegmentsNewestFirst::of(&folders, Stream::Events)?;
    let mut files = VecDeque::new();
    while let Some(file) = newest_first.older()? {
        files.push_front(file.clone());
        let mut lines = StoredLines { folders: folders.clone(), files: VecDeque::from([file]), open: None };
        let first = lines.find(|line| !matches!(line, Err(OpenError::Damaged(_)))).transpose()?;
        if first.is_some_and(|line| Event::parse(&line).is_some_and(|event| event.seq <= after.saturating_add(1))) {
            break;
        }
    }
    Ok(StoredLines { folders, files, open: None })
}

/// The events of the journal in `dir` from a day on, oldest first, each with whether its chain holds; all of them without a
/// day. The last file of that day or of one before comes whole, so that those asked for follow on what was before them. A
/// last line that is being written now is left out.
pub fn read_days(dir: &Path, from: Option<Day>) -> Result<ChainedLines, OpenError> {
    let folders = Folders::of(dir)?;
    let mut newest_first = SegmentsNewestFirst::of(&folders, Stream::Events)?;
    let mut files = VecDeque::new();
    let mut is_whole = true;
    while let Some(file) = newest_first.older()? {
        let is_before = file.segment.day < from || (file.segment.day == from && file.segment.n == 0);
        files.push_front(file);
        if from.is_some() && is_before {
            is_whole = false;
            break;
        }
    }
    let first = files.front().map(|file| file.segment);
    // What the first line follows is known where it is the journal's first.
    let is_whole = is_whole && !has_older(&folders, first)?;
    let lines = StoredLines { folders, files, open: None };
    Ok(ChainedLines { lines, last: is_whole.then_some(Chain::START) })
}

/// Most lines are shorter.
const USUAL_LINE: usize = 1_024;
/// Read at a time.
const READ_AHEAD: usize = 65_536;

/// See [`read_risk`] and [`read_events`]. Memory: one line. A line that is no text is an [`OpenError::Damaged`] that names its place,
/// and the lines behind it follow; nothing comes behind another error.
pub struct StoredLines {
    folders: Folders,
    files: VecDeque<SegmentRef>,
    open: Option<OpenSegment>,
}

/// A file that is being read.
struct OpenSegment {
    path: PathBuf,
    reader: BufReader<Take<File>>,
    /// The number of the last line that was read, and where the next one begins.
    line: u64,
    byte: u64,
}

/// A line's bytes without the line feed, its number in the file from 1 on, and where it begins there.
struct Line {
    bytes: Vec<u8>,
    number: u64,
    byte: u64,
}

impl StoredLines {
    /// The next line, also one that only says where a file goes on from.
    fn next_line(&mut self) -> Result<Option<Line>, OpenError> {
        loop {
            let Some(open) = &mut self.open else {
                let Some(segment_ref) = self.files.pop_front() else { return Ok(None) };
                let Some((path, file)) = self.folders.open(&segment_ref.segment.name())? else { continue };
                let reader = BufReader::with_capacity(READ_AHEAD, file.take(segment_ref.end));
                self.open = Some(OpenSegment { path, reader, line: 0, byte: 0 });
                continue;
            };
            let mut bytes = Vec::with_capacity(USUAL_LINE);
            let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
            let read = (&mut open.reader).take(limit).read_until(b'\n', &mut bytes);
            let read = read.map_err(OpenError::io(&open.path))?;
            if bytes.pop_if(|last| *last == b'\n').is_none() {
                self.open = None;
                continue;
            }
            let byte = open.byte;
            open.line = open.line.saturating_add(1);
            open.byte = byte.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
            return Ok(Some(Line { bytes, number: open.line, byte }));
        }
    }

    /// The same; nothing comes behind an error.
    fn next_of_any(&mut self) -> Option<Result<Line, OpenError>> {
        let next = self.next_line();
        if next.is_err() {
            (self.files, self.open) = (VecDeque::new(), None);
        }
        next.transpose()
    }

    /// The line of the file that is open as text.
    fn text(&self, line: Line) -> Result<String, OpenError> {
        let Line { bytes, number, byte } = line;
        String::from_utf8(bytes).map_err(|_| {
            let file = self.open.as_ref().map(|open| open.path.clone()).unwrap_or_default();
            Damage { file, line: number, byte, what: What::Line(LineFault::NotText) }.into()
        })
    }
}

impl Iterator for StoredLines {
    type Item = Result<String, OpenError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_of_any()? {
                Ok(line) if is_header(&line.bytes) => {}
                line => return Some(line.and_then(|line| self.text(line))),
            }
        }
    }
}

/// A line as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainedLine {
    /// One JSON object with its chain value, without the line feed. Where a byte is no UTF-8, what is before it and
    /// U+FFFD: no object that is whole.
    pub text: String,
    /// What came before it.
    pub before: Before,
}

/// The chain value that the line before states; none where any may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before(Option<Chain>);

impl Before {
    /// Any value may come before.
    pub const ANY: Before = Before(None);

    /// Whether a line's chain value is the one that follows. That of a line after one without a value, and of the first one read of
    /// a journal's later part, is taken as it stands. Most of the work of reading a journal is here: it may be done beside that.
    #[must_use]
    pub fn leads_to(self, line: &str) -> bool {
        match (split(line.as_bytes()), self.0) {
            (Ok((inner, claimed)), Some(last)) => last.leads_to(inner, claimed),
            (stated, _) => stated.is_ok(),
        }
    }
}

/// See [`read_days`]. Memory: one line.
pub struct ChainedLines {
    lines: StoredLines,
    /// The value of the line before, as it states it; none where any may be.
    last: Option<Chain>,
}

impl ChainedLines {
    fn chained(&mut self, line: Vec<u8>) -> ChainedLine {
        let stated = split(&line).ok().map(|(_, claimed)| claimed);
        let before = Before(std::mem::replace(&mut self.last, stated));
        let text = String::from_utf8(line).unwrap_or_else(|error| {
            let end = error.utf8_error().valid_up_to();
            let whole = error.as_bytes().get(..end).map(String::from_utf8_lossy).unwrap_or_default();
            format!("{whole}{}", char::REPLACEMENT_CHARACTER)
        });
        ChainedLine { text, before }
    }
}

impl Iterator for ChainedLines {
    type Item = Result<ChainedLine, OpenError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = self.lines.next_of_any()?.map(|line| (is_header(&line.bytes), self.chained(line.bytes)));
            match next {
                Ok((true, _)) => {}
                Ok((false, line)) => return Some(Ok(line)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
