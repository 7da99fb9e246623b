//! A sorted, immutable file of index entries over one stretch of the journal, searched where it lies.
//!
//! It is made of blocks of 1 KiB: a header, then 51 entries each, the last block filled up with bytes above every entry.
//! Each block ends in a checksum of its number and content, and nothing in a block is believed before that was checked. So
//! a run needs no sync: a block that a power failure or a failing disk spoiled is noticed when it is read, and the run is
//! dropped and made again from the journal.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

use serde::{Deserialize, Serialize};

use super::entry::{Entry, SIZE, Tag, tag_and_key};
use super::table::{FULL, MemTable};
use crate::base::keccak::keccak256_of;
use crate::faults::{Faults, Step};
use crate::journal::folder::{Folder, remove};
use crate::journal::segment::{Position, Segment};

/// Stands in every header; a run of another format is dropped and made again.
const FORMAT: u32 = 2;

const BLOCK: usize = 1024;
const BLOCK_U64: u64 = BLOCK as u64;
const CHECKSUM: usize = BLOCK % SIZE;
const ENTRIES: usize = BLOCK / SIZE;

/// Fills up the last block, and is above every entry: no tag has this byte.
const FILL: u8 = u8::MAX;

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    from: Option<Stored>,
    to: Stored,
    entries: usize,
    keys: Keys,
}

/// A position: file, offset, chain value.
type Stored = (String, u64, String);

/// First and last key of each tag; the first above the last where the run has none.
type Keys = [(u64, u64); Tag::ALL.len()];

/// A run on disk. Its file is opened by each search: a journal of many years must not hold a descriptor a day.
pub(crate) struct Run {
    pub(crate) from: Option<Position>,
    pub(crate) to: Position,
    entries: usize,
    keys: Keys,
}

impl Run {
    /// Writes a table as a run; `None` if the table covers nothing. A run that begins at the same position is replaced.
    pub(crate) fn write(folder: &Folder, table: &MemTable, faults: &Faults) -> io::Result<Option<Run>> {
        let Some(to) = table.to.filter(|to| table.from != Some(*to)) else { return Ok(None) };
        let mut keys = [(u64::MAX, 0); Tag::ALL.len()];
        for (tag, key) in table.entries.iter().map(tag_and_key) {
            if let Some((first, last)) = keys.get_mut(usize::from(tag)) {
                (*first, *last) = ((*first).min(key), (*last).max(key));
            }
        }
        let run = Run { from: table.from, to, entries: table.entries.len(), keys };
        let bytes = run.encode(table)?;
        let (path, fresh) = (folder.join(&run.name()), format!("{}.new", run.name()));
        remove(&folder.join(&fresh))?;
        let file = folder.create(&fresh, 0o644)?;
        let written = faults.write(Step::IndexWrite, &file, &bytes, 0);
        if let Err(error) = written.and_then(|()| fs::rename(folder.join(&fresh), path)) {
            remove(&folder.join(&fresh))?;
            return Err(error);
        }
        Ok(Some(run))
    }

    /// Reads the header of a run; `None` when the file is not a whole run under its own name.
    pub(crate) fn open(name: &str, file: &File) -> io::Result<Option<Run>> {
        let run = read_block(file, 0).ok().and_then(|block| parse(&block));
        let length = file.metadata()?.len();
        Ok(run.filter(|run| run.name() == name && (1 + run.blocks()) * BLOCK_U64 == length))
    }

    /// Named after the position that it follows, so that a run which grew in memory replaces the one it grew from.
    fn name(&self) -> String {
        let stem = |from: &Position| from.segment.name().trim_end_matches(".jsonl").to_owned();
        self.from.as_ref().map_or("first.run".to_owned(), |from| format!("after-{}-{}.run", stem(from), from.offset))
    }

    pub(crate) fn remove(&self, folder: &Folder) -> io::Result<()> {
        remove(&folder.join(&self.name()))
    }

    /// Whether the run may hold entries under a key. Reads nothing.
    pub(crate) fn may_hold(&self, tag: Tag, key: u64) -> bool {
        let held = self.keys.get(usize::from(tag.byte()));
        held.is_some_and(|(lowest, highest)| (*lowest..=*highest).contains(&key))
    }

    /// Whether the journal goes on in another run.
    pub(crate) fn is_full(&self) -> bool {
        self.entries >= FULL
    }

    /// At most `limit` entries from `first` to `last`.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] when a block is not as it was written.
    pub(crate) fn search(&self, folder: &Folder, first: &Entry, last: &Entry, limit: usize) -> io::Result<Vec<Entry>> {
        let file = folder.open(&self.name(), false).map_err(io::Error::other)?.ok_or(io::ErrorKind::NotFound)?;
        // The first entry of the range is in the last block that begins below it, or else in the first block.
        let (mut low, mut high) = (1, self.blocks());
        while low < high {
            let middle = high - (high - low) / 2;
            let begins_below = entries(&read_block(&file, middle)?).first().is_some_and(|begin| begin < first);
            if begins_below { low = middle } else { high = middle - 1 }
        }
        let mut found = Vec::new();
        for number in low..=self.blocks() {
            for entry in entries(&read_block(&file, number)?).iter().filter(|entry| *entry >= first) {
                if entry > last || found.len() >= limit {
                    return Ok(found);
                }
                found.push(*entry);
            }
        }
        Ok(found)
    }

    /// The whole run, to be continued in memory.
    pub(crate) fn load(&self, folder: &Folder) -> io::Result<MemTable> {
        let all = self.search(folder, &[0; SIZE], &[FILL - 1; SIZE], usize::MAX)?;
        Ok(MemTable { from: self.from, to: Some(self.to), entries: all.into_iter().collect() })
    }

    /// Blocks of entries; they come after the header.
    fn blocks(&self) -> u64 {
        u64::try_from(self.entries.div_ceil(ENTRIES)).unwrap_or(u64::MAX / BLOCK_U64)
    }

    fn encode(&self, table: &MemTable) -> io::Result<Vec<u8>> {
        let (from, to) = (self.from.as_ref().map(stored), stored(&self.to));
        let header = Header { format: FORMAT, from, to, entries: self.entries, keys: self.keys };
        let mut header = serde_json::to_vec(&header)?;
        header.resize(BLOCK - CHECKSUM, b' ');
        let entries: Vec<Entry> = table.entries.iter().copied().collect();
        let blocks = std::iter::once(header).chain(entries.chunks(ENTRIES).map(<[Entry]>::concat));
        let mut bytes = Vec::with_capacity((2 + self.entries / ENTRIES) * BLOCK);
        for (number, mut block) in (0..).zip(blocks) {
            block.resize(BLOCK - CHECKSUM, FILL);
            bytes.extend_from_slice(&block);
            bytes.extend_from_slice(&checksum(number, &block));
        }
        Ok(bytes)
    }
}

fn parse(block: &[u8; BLOCK]) -> Option<Run> {
    let (text, _checked) = block.split_last_chunk::<CHECKSUM>()?;
    let header: Header = serde_json::from_slice(text).ok().filter(|header: &Header| header.format == FORMAT)?;
    let from = match &header.from {
        Some(from) => Some(position(from)?),
        None => None,
    };
    Some(Run { from, to: position(&header.to)?, entries: header.entries, keys: header.keys })
}

fn stored(position: &Position) -> Stored {
    (position.segment.name(), position.offset, position.chain.to_string())
}

fn position((file, offset, chain): &Stored) -> Option<Position> {
    Some(Position { segment: Segment::parse(file)?, offset: *offset, chain: chain.parse().ok()? })
}

fn read_block(file: &File, number: u64) -> io::Result<[u8; BLOCK]> {
    let mut block = [0; BLOCK];
    file.read_exact_at(&mut block, number.saturating_mul(BLOCK_U64))?;
    let checked = block.split_last_chunk().is_some_and(|(content, sum)| *sum == checksum(number, content));
    if checked { Ok(block) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// The number is part of it: a whole block at a wrong place is as wrong as a spoiled one.
fn checksum(number: u64, content: &[u8]) -> [u8; CHECKSUM] {
    keccak256_of(&[&number.to_be_bytes(), content]).first_chunk().copied().unwrap_or_default()
}

/// The entries of a block; what is left over is the checksum.
fn entries(block: &[u8; BLOCK]) -> &[Entry] {
    block.as_chunks::<SIZE>().0
}
