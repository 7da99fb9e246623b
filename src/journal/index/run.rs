//! A sorted, immutable file of index entries over one stretch of the journal, searched where it lies.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::entry::{Entry, Location, SIZE, Tag};
use crate::faults::{Faults, Step};
use crate::journal::chain::Chain;
use crate::journal::folder::{Folder, remove};
use crate::journal::segment::Position;

const MAGIC: &[u8; 8] = b"sg-idx-1";

/// Magic 8, level 1, from 11, to 11, chain at `to` 8, entries 8, and for each tag its first and last key.
const HEAD: usize = 8 + 1 + 11 + 11 + 8 + 8 + 16 * Tag::ALL.len();
const HEAD_U64: u64 = HEAD as u64;
const SIZE_U64: u64 = SIZE as u64;

/// The stretch a run covers and how often it was merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Where the first event covered may start.
    pub(crate) from: Location,
    /// After the last event covered.
    pub(crate) to: Position,
    /// 0 as spilled, one more than its parts when merged.
    pub(crate) level: u8,
}

impl Span {
    /// The file's name: unique, and telling which stretch it covers.
    pub(crate) fn name(&self) -> String {
        let hex = |location: Location| location.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("{}-{}.run", hex(self.from), hex(Location::from(&self.to)))
    }
}

/// An open run.
pub(crate) struct Run {
    pub(crate) span: Span,
    path: PathBuf,
    file: File,
    count: u64,
    /// First and last key of each tag; the first above the last where it has none.
    keys: [(u64, u64); Tag::ALL.len()],
}

impl Run {
    /// Writes and syncs a run of sorted entries; `None` when `stop` said so before the end.
    pub(crate) fn write(
        folder: &Folder,
        span: Span,
        entries: impl Iterator<Item = io::Result<Entry>>,
        stop: impl Fn() -> bool,
        faults: &Faults,
    ) -> io::Result<Option<Run>> {
        let path = folder.join(&span.name());
        let fresh = format!("{}.new", span.name());
        remove(&folder.join(&fresh))?;
        faults.pass(Step::IndexWrite)?;
        let mut file = BufWriter::with_capacity(65_536, folder.create(&fresh, 0o644)?);
        file.write_all(&[0; HEAD])?;
        let (mut count, mut keys) = (0_u64, [(u64::MAX, 0); Tag::ALL.len()]);
        for entry in entries {
            let entry = entry?;
            if count % 4096 == 0 && stop() {
                remove(&folder.join(&fresh))?;
                return Ok(None);
            }
            let (tag, key) = tag_and_key(&entry);
            if let Some((first, last)) = keys.get_mut(usize::from(tag)) {
                (*first, *last) = ((*first).min(key), (*last).max(key));
            }
            file.write_all(&entry)?;
            count += 1;
        }
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.write_all_at(&head(&span, count, &keys), 0)?;
        file.sync_all()?;
        std::fs::rename(folder.join(&fresh), &path)?;
        folder.sync()?;
        Ok(Some(Run { span, path, file, count, keys }))
    }

    /// Opens a run; `None` when the file is not one.
    pub(crate) fn open(path: &Path, file: File) -> io::Result<Option<Run>> {
        let mut bytes = [0; HEAD];
        if file.metadata()?.len() < HEAD_U64 {
            return Ok(None);
        }
        file.read_exact_at(&mut bytes, 0)?;
        let Some((span, count, keys)) = parse(&bytes) else { return Ok(None) };
        let length = count.checked_mul(SIZE_U64).and_then(|length| length.checked_add(HEAD_U64));
        let whole = length == Some(file.metadata()?.len());
        Ok(whole.then(|| Run { span, path: path.to_owned(), file, count, keys }))
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        remove(&self.path)
    }

    /// Gives `found` the places under a key, in the journal's order, until it returns false.
    pub(crate) fn search(
        &self,
        tag: Tag,
        key: u64,
        first: &Entry,
        last: &Entry,
        found: &mut dyn FnMut(Entry) -> bool,
    ) -> io::Result<()> {
        let held = self.keys.get(usize::from(tag.byte()));
        if held.is_none_or(|(lowest, highest)| key < *lowest || key > *highest) {
            return Ok(());
        }
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entry(middle)? < *first { low = middle + 1 } else { high = middle }
        }
        while low < self.count {
            let entry = self.entry(low)?;
            if entry > *last || !found(entry) {
                break;
            }
            low += 1;
        }
        Ok(())
    }

    fn entry(&self, number: u64) -> io::Result<Entry> {
        let mut entry = [0; SIZE];
        self.file.read_exact_at(&mut entry, HEAD_U64 + number * SIZE_U64)?;
        Ok(entry)
    }

    /// All entries in order, read in blocks.
    pub(crate) fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<Entry>> + use<>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(HEAD_U64))?;
        let mut reader = BufReader::with_capacity(65_536, file);
        Ok((0..self.count).map(move |_| {
            let mut entry = [0; SIZE];
            reader.read_exact(&mut entry).map(|()| entry)
        }))
    }
}

fn tag_and_key(entry: &Entry) -> (u8, u64) {
    let [tag, a, b, c, d, e, f, g, h, ..] = *entry;
    (tag, u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

fn head(span: &Span, count: u64, keys: &[(u64, u64)]) -> Vec<u8> {
    let mut head = Vec::with_capacity(HEAD);
    head.extend_from_slice(MAGIC);
    head.push(span.level);
    head.extend_from_slice(&span.from.to_bytes());
    head.extend_from_slice(&Location::from(&span.to).to_bytes());
    head.extend_from_slice(&span.to.chain.to_bytes());
    head.extend_from_slice(&count.to_be_bytes());
    for (first, last) in keys {
        head.extend_from_slice(&first.to_be_bytes());
        head.extend_from_slice(&last.to_be_bytes());
    }
    head
}

type Head = (Span, u64, [(u64, u64); Tag::ALL.len()]);

fn parse(bytes: &[u8]) -> Option<Head> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (level, rest) = rest.split_first()?;
    let (from, rest) = rest.split_first_chunk::<11>()?;
    let (to, rest) = rest.split_first_chunk::<11>()?;
    let (chain, rest) = rest.split_first_chunk::<8>()?;
    let (count, mut rest) = rest.split_first_chunk::<8>()?;
    let mut keys = [(0, 0); Tag::ALL.len()];
    for pair in &mut keys {
        let (first, after) = rest.split_first_chunk::<8>()?;
        let (last, after) = after.split_first_chunk::<8>()?;
        *pair = (u64::from_be_bytes(*first), u64::from_be_bytes(*last));
        rest = after;
    }
    let to = Location::from_bytes(*to);
    let to = Position { segment: to.segment, offset: to.offset, chain: Chain::from_bytes(*chain) };
    Some((Span { from: Location::from_bytes(*from), to, level: *level }, u64::from_be_bytes(*count), keys))
}
