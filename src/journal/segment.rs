//! The files of a journal and the order they are read in.
//!
//! Events stand in `events-<day>.jsonl`, the risk journal in `risk.jsonl`. After a failed write or sync the file is left as
//! it is and the next *segment* is begun: `events-<day>.<n>.jsonl`, `risk.<n>.jsonl`. Its first line, the *header*,
//! `{"follows":"<file>","at":<byte>,…}`, says where the journal really continues from: what stands in that file from that
//! byte on was never confirmed to anybody, is written again in the new segment, and is not part of the journal.
//!
//! A risk journal that has grown goes on in a segment that carries the records that a start needs (`carry.rs`).
//! Its header has a `base`, the chain value that it follows, and the files before it are read no more.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::chain::{Chain, LineFault, Lines, OVERHEAD, split};
use super::error::{Damage, OpenError, What};
use super::folders::Folders;
use crate::base::day::Day;

/// How a header's text starts. No record may start so.
pub(crate) const HEADER: &str = "{\"follows\":\"";

/// One of the two journals in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Events,
    Risk,
}

/// The name of one file, ordered as the journal runs. The risk journal's files have no day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment {
    pub(crate) day: Option<Day>,
    pub(crate) n: u16,
}

impl Segment {
    pub(crate) fn stream(self) -> Stream {
        if self.day.is_some() { Stream::Events } else { Stream::Risk }
    }

    pub(crate) fn name(self) -> String {
        let stem = self.day.map_or_else(|| "risk".to_owned(), |day| format!("events-{day}"));
        if self.n == 0 { format!("{stem}.jsonl") } else { format!("{stem}.{}.jsonl", self.n) }
    }

    pub(crate) fn parse(name: &str) -> Option<Segment> {
        let stem = name.strip_suffix(".jsonl")?;
        let (stem, n) = stem.split_once('.').map_or(Some((stem, 0)), |(stem, n)| Some((stem, n.parse().ok()?)))?;
        let day = if stem == "risk" { None } else { Some(stem.strip_prefix("events-")?.parse().ok()?) };
        Some(Segment { day, n }).filter(|segment| segment.name() == name)
    }
}

/// A place between two lines and the chain value there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) segment: Segment,
    pub(crate) offset: u64,
    pub(crate) chain: Chain,
}

/// A file that is part of the journal, up to `end`.
#[derive(Clone, Debug)]
pub(crate) struct SegmentRef {
    pub(crate) segment: Segment,
    pub(crate) path: PathBuf,
    pub(crate) end: u64,
    /// Whether the first line is a header.
    pub(crate) headed: bool,
    /// The chain value that the file follows, where it carries all that the files before it are read for.
    pub(crate) base: Option<Chain>,
}

#[derive(Deserialize)]
struct Header {
    follows: String,
    at: u64,
    /// The chain value before it; see [`SegmentRef::base`].
    #[serde(default)]
    base: Option<String>,
}

/// The files of one journal, newest first, each opened only when asked for.
pub(crate) struct SegmentsNewestFirst<'a> {
    folders: &'a Folders,
    left: Vec<Segment>,
    /// The header of the file given last: it names the file before it, and the byte where that one ends.
    before: Option<(Header, PathBuf)>,
}

impl<'a> SegmentsNewestFirst<'a> {
    pub(crate) fn of(folders: &'a Folders, stream: Stream) -> Result<SegmentsNewestFirst<'a>, OpenError> {
        Ok(SegmentsNewestFirst { folders, left: list(folders, stream)?, before: None })
    }

    /// The next older file.
    pub(crate) fn older(&mut self) -> Result<Option<SegmentRef>, OpenError> {
        let before = self.before.take();
        let segment = match &before {
            None => self.left.pop(),
            Some((header, _)) if header.follows.is_empty() => return Ok(None),
            Some((header, path)) => {
                let named = Segment::parse(&header.follows);
                while self.left.last().is_some_and(|last| named.is_none_or(|named| *last > named)) {
                    self.left.pop();
                }
                let found = self.left.pop().filter(|found| Some(*found) == named);
                let what = What::Missing(header.follows.clone());
                Some(found.ok_or_else(|| Damage { file: path.clone(), line: 1, byte: 0, what })?)
            }
        };
        let Some(segment) = segment else { return Ok(None) };
        let Some((path, file)) = self.folders.open(&segment.name())? else { return Ok(None) };
        let length = file.metadata().map_err(OpenError::io(&path))?.len();
        let end = before.map_or(length, |(header, _)| header.at);
        if end > length {
            return Err(damage(&path, length, What::Short { reached: end, says: "the header of the next file" }).into());
        }
        let header =
            header(&file).map_err(|fault| Damage { file: path.clone(), line: 1, byte: 0, what: What::Line(fault) })?;
        let headed = header.is_some();
        let base = header.as_ref().and_then(|header| header.base.as_deref()).map(str::parse).transpose();
        let base = base.map_err(|fault| damage(&path, 0, What::Line(fault)))?;
        if base.is_some() {
            self.left.clear();
        } else {
            self.before = header.map(|header| (header, path.clone()));
        }
        Ok(Some(SegmentRef { segment, path, end, headed, base }))
    }

    /// All files, oldest first.
    pub(crate) fn all(mut self) -> Result<VecDeque<SegmentRef>, OpenError> {
        let mut all = VecDeque::new();
        while let Some(segment_ref) = self.older()? {
            all.push_front(segment_ref);
        }
        Ok(all)
    }
}

/// The files of one journal by name, in order; the same name in both folders is refused.
pub(crate) fn list(folders: &Folders, stream: Stream) -> Result<Vec<Segment>, OpenError> {
    let mut found = Vec::new();
    for folder in folders.all() {
        for name in folder.names()? {
            found.extend(Segment::parse(&name).filter(|segment| segment.stream() == stream));
        }
    }
    found.sort_unstable();
    if let Some(twice) = found.windows(2).find_map(|pair| pair.first().filter(|first| pair.last() == Some(first))) {
        let file = folders.main.join(&twice.name());
        return Err(Damage { file, line: 1, byte: 0, what: What::Twice }.into());
    }
    Ok(found)
}

/// Whether files older than `first` left a trace under their name with one more ending: `events-<day>.jsonl.gz`, or any other
/// that their owner chose.
pub(super) fn has_older(folders: &Folders, first: Option<Segment>) -> Result<bool, OpenError> {
    for folder in folders.all() {
        let names = folder.names()?;
        let mut moved = names.iter().filter_map(|name| Segment::parse(name.rsplit_once('.')?.0));
        if moved.any(|moved| moved.day.is_some() && Some(moved) < first) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The text of a header line; `None` is the journal's beginning.
pub(crate) fn header_text(follows: Option<&Position>) -> String {
    let (name, at) = follows.map_or((String::new(), 0), |position| (position.segment.name(), position.offset));
    format!("{HEADER}{name}\",\"at\":{at}}}")
}

/// The text of a header of a file that carries what the files before it are read for.
pub(crate) fn base_text(follows: &Position) -> String {
    let (name, at, base) = (follows.segment.name(), follows.offset, follows.chain);
    format!("{HEADER}{name}\",\"at\":{at},\"base\":\"{base}\"}}")
}

/// Whether a body is a header.
pub(crate) fn is_header(body: &[u8]) -> bool {
    body.starts_with(HEADER.as_bytes())
}

fn header(file: &File) -> Result<Option<Header>, LineFault> {
    let mut first = Vec::new();
    BufReader::new(file).take(512).read_until(b'\n', &mut first).map_err(LineFault::Io)?;
    if !is_header(&first) {
        return Ok(None);
    }
    serde_json::from_slice(&first).map(Some).map_err(|_| LineFault::NotJson)
}

/// A [`Damage`] with its line counted: reading the file up to there is only worth it now.
pub(crate) fn damage(path: &Path, byte: u64, what: What) -> Damage {
    let lines = || -> io::Result<u64> {
        let (mut reader, mut lines) = (BufReader::new(File::open(path)?.take(byte)), 0);
        loop {
            let block = reader.fill_buf()?;
            if block.is_empty() {
                return Ok(lines);
            }
            lines += block.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
            let length = block.len();
            reader.consume(length);
        }
    };
    Damage { file: path.to_owned(), line: lines().unwrap_or(0) + 1, byte, what }
}

/// The chain value after the line that ends at `offset`, as that line states it.
pub(crate) fn stated_chain(path: &Path, file: &File, offset: u64) -> Result<Chain, OpenError> {
    chain_at(file, offset).map_err(|fault| damage(path, offset.saturating_sub(1), What::Line(fault)).into())
}

/// The same, cheap also where there is none.
pub(crate) fn chain_at(file: &File, offset: u64) -> Result<Chain, LineFault> {
    let mut end = [0; OVERHEAD + 1];
    let at = u64::try_from(end.len()).ok().and_then(|size| offset.checked_sub(size)).ok_or(LineFault::NoChain)?;
    file.read_exact_at(&mut end, at).map_err(LineFault::Io)?;
    let line = end.strip_suffix(b"\n").ok_or(LineFault::NoChain)?;
    Ok(split(line)?.1)
}

/// Where the last `want` lines before byte `end` start, and how many they are: fewer when the file has fewer.
pub(crate) fn count_back(file: &File, end: u64, want: u64) -> io::Result<(u64, u64)> {
    const BLOCK: u64 = 65_536;
    let mut block = Vec::new();
    let (mut at, mut lines) = (end, 0);
    while at > 0 {
        let from = at.saturating_sub(BLOCK);
        block.resize(usize::try_from(at - from).unwrap_or(0), 0);
        file.read_exact_at(&mut block, from)?;
        for (position, byte) in (from..at).rev().zip(block.iter().rev()) {
            if *byte == b'\n' {
                if lines == want {
                    return Ok((position + 1, lines));
                }
                // The line feed at the very end closes the last line; each one before closes the line before.
                lines += 1;
            }
        }
        at = from;
    }
    Ok((0, lines))
}

/// Reads the lines of a journal in order from some place on, over all files, and checks each.
pub(crate) struct Scanner<'a> {
    folders: &'a Folders,
    left: VecDeque<SegmentRef>,
    open: Option<(SegmentRef, Lines<BufReader<Take<File>>>)>,
    from: u64,
    chain: Chain,
    /// Whether the files before the first were moved away by the journal's owner.
    is_cut: bool,
}

impl<'a> Scanner<'a> {
    /// `files` are to be read from `from` on, in the first of them; `None` is the journal's beginning.
    pub(crate) fn new(folders: &'a Folders, files: VecDeque<SegmentRef>, from: Option<Position>) -> Scanner<'a> {
        let (from, chain) = from.map_or((0, Chain::START), |position| (position.offset, position.chain));
        Scanner { folders, left: files, open: None, from, chain, is_cut: false }
    }

    /// The whole journal as far as it is there: its owner may have compressed or moved its oldest files.
    pub(crate) fn of_all(folders: &'a Folders, files: VecDeque<SegmentRef>) -> Result<Scanner<'a>, OpenError> {
        let first = files.front().map(|file| file.segment);
        let is_cut = first.is_some_and(|first| first.day.is_some()) && has_older(folders, first)?;
        Ok(Scanner { is_cut, ..Scanner::new(folders, files, None) })
    }

    /// Reads and checks the next record; false at the journal's end. Headers are checked and passed over.
    pub(crate) fn advance(&mut self) -> Result<bool, OpenError> {
        loop {
            if self.open.is_none() && !self.open_next()? {
                return Ok(false);
            }
            let Some((segment_ref, lines)) = &mut self.open else { return Ok(false) };
            match lines.advance() {
                Ok(true) if segment_ref.headed && lines.start() == 0 => {}
                Ok(true) => return Ok(true),
                Ok(false) => {
                    self.chain = lines.chain();
                    self.open = None;
                }
                Err(fault) => return Err(damage(&segment_ref.path, lines.start(), What::Line(fault)).into()),
            }
        }
    }

    fn open_next(&mut self) -> Result<bool, OpenError> {
        let Some(segment_ref) = self.left.pop_front() else { return Ok(false) };
        let Some((path, mut file)) = self.folders.open(&segment_ref.segment.name())? else {
            let error = io::Error::from(io::ErrorKind::NotFound);
            return Err(OpenError::Io { path: segment_ref.path, error });
        };
        let from = std::mem::take(&mut self.from);
        file.seek(SeekFrom::Start(from)).map_err(OpenError::io(&path))?;
        let reader = BufReader::with_capacity(65_536, file.take(segment_ref.end.saturating_sub(from)));
        if let Some(base) = segment_ref.base.filter(|_| from == 0) {
            self.chain = base;
        }
        let lines = Lines::new(reader, from, self.chain).taking_any(std::mem::take(&mut self.is_cut));
        self.open = Some((segment_ref, lines));
        Ok(true)
    }

    /// The record last read: its file, where it starts, and its text without the chain member.
    pub(crate) fn record(&self) -> Option<(Segment, u64, &[u8])> {
        self.open.as_ref().map(|(segment_ref, lines)| (segment_ref.segment, lines.start(), lines.body()))
    }

    /// The place after the record last read.
    pub(crate) fn position(&self) -> Option<Position> {
        let (segment_ref, lines) = self.open.as_ref()?;
        Some(Position { segment: segment_ref.segment, offset: lines.end(), chain: lines.chain() })
    }

    /// An error that names the record last read.
    pub(crate) fn refuse(&self, what: What) -> OpenError {
        match &self.open {
            Some((segment_ref, lines)) => damage(&segment_ref.path, lines.start(), what).into(),
            None => damage(self.folders.main.path(), 0, what).into(),
        }
    }
}
