//! Look-ups in stretches of the journal that its index does not cover: lines are searched for the text that an event found
//! by a key must hold, and only those that have it are read. Made again, an index of a million events takes many seconds;
//! to look through their text takes one at most.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use super::chain::{MAX_LINE, split};
use super::error::OpenError;
use super::folders::Folders;
use super::index::entry::{Location, Tag, entries, fold, range};
use super::segment::{Position, SegmentsNewestFirst, Stream};
use super::stored::keys_of;
use crate::base::address::Cloid;

/// A stretch that is not covered: after the one position (the journal's beginning), up to the other.
pub(crate) type Gap = (Option<Position>, Position);

/// What is looked for.
pub(crate) struct Sought {
    pub(crate) tag: Tag,
    pub(crate) key: u64,
    /// A line that is found by the key holds one of these, whatever the case of its letters.
    texts: Vec<String>,
}

impl Sought {
    /// Decisions on a client's nonce.
    pub(crate) fn nonce(nonce: u64) -> Sought {
        Sought { tag: Tag::Nonce, key: nonce, texts: vec![format!("\"nonce\":{nonce}")] }
    }

    /// Decisions that name a client order id.
    pub(crate) fn cloid(cloid: Cloid) -> Sought {
        Sought { tag: Tag::Cloid, key: fold(cloid), texts: vec![cloid.to_string().to_ascii_lowercase()] }
    }

    /// Events that serve another.
    pub(crate) fn serving(seq: u64) -> Sought {
        let texts = ["decision", "of", "intent"].map(|name| format!("\"{name}\":{seq}"));
        Sought { tag: Tag::Serves, key: seq, texts: texts.into() }
    }

    /// Whether the event in a line is found by the key.
    fn is_met(&self, line: &[u8], lowered: &mut String) -> bool {
        // Lines are ASCII but for what people and the venue wrote.
        lowered.clear();
        lowered.push_str(&String::from_utf8_lossy(line));
        if self.tag == Tag::Cloid {
            lowered.make_ascii_lowercase();
        }
        if !self.texts.iter().any(|text| lowered.contains(text.as_str())) {
            return false;
        }
        let Ok((inner, _)) = split(line) else { return false };
        let (first, last) = range(self.tag, self.key);
        let nowhere = Location::from_bytes([0; 11]);
        keys_of(&[inner, b"}"].concat())
            .is_ok_and(|keys| entries(&keys, nowhere).any(|entry| (first..=last).contains(&entry)))
    }
}

/// At most `limit` places in a gap, the oldest, not before `after`, in the journal's order.
pub(crate) fn search(
    folders: &Folders,
    gap: &Gap,
    sought: &Sought,
    after: Option<Location>,
    limit: usize,
) -> Result<Vec<Location>, OpenError> {
    let (from, to) = (gap.0.as_ref().map(Location::from).max(after), Location::from(&gap.1));
    let mut found = Vec::new();
    for file in SegmentsNewestFirst::of(folders, Stream::Events)?.all()? {
        let is_outside = from.is_some_and(|from| file.segment < from.segment) || file.segment > to.segment;
        let Some((path, opened)) = folders.open(&file.segment.name())?.filter(|_| !is_outside) else { continue };
        let begin = from.filter(|from| from.segment == file.segment).map_or(0, |from| from.offset);
        let end = if file.segment == to.segment { file.end.min(to.offset) } else { file.end };
        each_line(opened, begin, end, |offset, line, lowered| {
            if sought.is_met(line, lowered) {
                found.push(Location { segment: file.segment, offset });
            }
            found.len() < limit
        })
        .map_err(OpenError::io(&path))?;
    }
    Ok(found)
}

/// Gives each whole line between two bytes of a file, with where it begins, until one was enough.
fn each_line(
    mut file: File,
    begin: u64,
    end: u64,
    mut take: impl FnMut(u64, &[u8], &mut String) -> bool,
) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(begin))?;
    let mut reader = BufReader::with_capacity(65_536, file.take(end.saturating_sub(begin)));
    let (mut at, mut line, mut lowered) = (begin, Vec::new(), String::new());
    let longest = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
    loop {
        line.clear();
        let length = reader.by_ref().take(longest).read_until(b'\n', &mut line)?;
        let Some(text) = line.strip_suffix(b"\n") else { return Ok(()) };
        if !take(at, text, &mut lowered) {
            return Ok(());
        }
        at = at.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
    }
}
