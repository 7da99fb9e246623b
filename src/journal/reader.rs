//! Reads a journal's lines as they stand, for whoever may read the folder. Takes no lock, checks no chain, and never
//! holds up the writer.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take};
use std::path::Path;

use super::chain::MAX_LINE;
use super::error::OpenError;
use super::folder::Folders;
use super::segment::{SegmentRef, SegmentsNewestFirst, Stream, is_header};
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
        let first =
            StoredLines { folders: folders.clone(), files: VecDeque::from([file]), open: None }.next().transpose()?;
        if first.is_some_and(|line| Event::parse(&line).is_some_and(|event| event.seq <= after.saturating_add(1))) {
            break;
        }
    }
    Ok(StoredLines { folders, files, open: None })
}

/// The events of the journal in `dir` from a day on, oldest first, each as stored; all of them without a day. The last file
/// of that day or of one before comes whole, so that those asked for follow on what was before them. A last line that is
/// being written now is left out.
pub fn read_days(dir: &Path, from: Option<Day>) -> Result<StoredLines, OpenError> {
    let folders = Folders::of(dir)?;
    let mut newest_first = SegmentsNewestFirst::of(&folders, Stream::Events)?;
    let mut files = VecDeque::new();
    while let Some(file) = newest_first.older()? {
        let is_before = file.segment.day < from || (file.segment.day == from && file.segment.n == 0);
        files.push_front(file);
        if from.is_some() && is_before {
            break;
        }
    }
    Ok(StoredLines { folders, files, open: None })
}

/// Most lines are shorter.
const USUAL_LINE: usize = 1_024;
/// Read at a time.
const READ_AHEAD: usize = 65_536;

/// See [`read_risk`], [`read_events`] and [`read_days`]. Memory: one line.
pub struct StoredLines {
    folders: Folders,
    files: VecDeque<SegmentRef>,
    open: Option<BufReader<Take<File>>>,
}

impl StoredLines {
    fn next_line(&mut self) -> Result<Option<String>, OpenError> {
        loop {
            let Some(reader) = &mut self.open else {
                let Some(segment_ref) = self.files.pop_front() else { return Ok(None) };
                let Some((_, file)) = self.folders.open(&segment_ref.segment.name())? else { continue };
                self.open = Some(BufReader::with_capacity(READ_AHEAD, file.take(segment_ref.end)));
                continue;
            };
            let mut line = Vec::with_capacity(USUAL_LINE);
            let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
            let failed = OpenError::io(self.folders.main.path());
            reader.take(limit).read_until(b'\n', &mut line).map_err(&failed)?;
            if line.pop_if(|last| *last == b'\n').is_none() {
                self.open = None;
            } else if !is_header(&line) {
                return String::from_utf8(line).map(Some).map_err(|error| failed(io::Error::other(error)));
            }
        }
    }
}

impl Iterator for StoredLines {
    type Item = Result<String, OpenError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_line();
        if next.is_err() {
            (self.files, self.open) = (VecDeque::new(), None);
        }
        next.transpose()
    }
}
