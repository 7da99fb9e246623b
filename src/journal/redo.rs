//! `tail.redo`: the batch being written, so that a process killed in the middle of a write leaves no cut line behind.
//!
//! First line: `{"parts":[{"file","offset","length","from"},…],"chain"}`, chained from the start value. Then the bytes of each
//! part, which are journal lines that follow the chain value `from`: so their own chain shows whether they are whole.
//! The file is overwritten in place and never synced: it stands against the death of the process, not of the machine.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::chain::{Chain, Lines, seal};
use super::error::{OpenError, What};
use super::folder::{Folder, REDO, remove};
use super::folders::Folders;
use super::in_place::is_in_place;
use super::segment::{Segment, Stream, damage, list};
use super::space::no_space;
use crate::faults::{Faults, Step};

pub(super) const NAME: &str = REDO;

/// More than the largest batch the writer writes (bytes).
const LIMIT: u64 = 64 * 1024 * 1024;

/// Bytes for one file, about to be written.
pub(crate) struct Part<'a> {
    pub(crate) segment: Segment,
    pub(crate) offset: u64,
    pub(crate) from: Chain,
    pub(crate) bytes: &'a [u8],
}

#[derive(Serialize, Deserialize)]
struct Head {
    parts: Vec<HeadPart>,
}

#[derive(Serialize, Deserialize)]
struct HeadPart {
    file: String,
    offset: u64,
    length: u64,
    from: String,
}

/// The redo file of one folder, open to be overwritten.
pub(crate) struct Redo {
    file: File,
    buffer: Vec<u8>,
}

impl Redo {
    pub(crate) fn open(folder: &Folder) -> Result<Redo, OpenError> {
        let file = folder.open_or_create(NAME, 0o644)?;
        let redo = Redo { file, buffer: Vec::new() };
        if redo.file.metadata().map_err(OpenError::io(&folder.join(NAME)))?.len() == 0 {
            // From now on an empty one, or none, was made so by somebody. A disk without any room is no reason not to start.
            let made = redo.forget().and_then(|()| redo.file.sync_all()).and_then(|()| folder.sync());
            let _told_by_the_health = made;
        }
        Ok(redo)
    }

    /// Begins it anew where it is not under its name any more.
    pub(crate) fn keep_in_place(&mut self, folder: &Folder) {
        if !is_in_place(&folder.join(NAME), &self.file)
            && let Ok(anew) = Redo::open(folder)
        {
            *self = anew;
        }
    }

    /// Names and holds what is written next.
    pub(crate) fn write(&mut self, parts: &[Part<'_>], faults: &Faults) -> io::Result<()> {
        let named = parts.iter().map(|part| HeadPart {
            file: part.segment.name(),
            offset: part.offset,
            length: u64::try_from(part.bytes.len()).unwrap_or(u64::MAX),
            from: part.from.to_string(),
        });
        let head = serde_json::to_string(&Head { parts: named.collect() })?;
        self.buffer.clear();
        seal(Chain::START, &head, &mut self.buffer).map_err(io::Error::other)?;
        parts.iter().for_each(|part| self.buffer.extend_from_slice(part.bytes));
        let written = faults.write(Step::RedoWrite, &self.file, &self.buffer, 0);
        self.buffer.shrink_to(1 << 20);
        written
    }

    /// Makes the file name nothing any more.
    pub(crate) fn forget(&self) -> io::Result<()> {
        self.file.write_all_at(b"\n", 0)
    }
}

/// Completes the batch that `tail.redo` names, where its file's end is cut or missing. Nothing else is touched: a redo
/// file that is itself cut, or that names an older file, says nothing. Where the disk has no room for it, what is missing is
/// taken back: it is of a batch that nobody was told of, and who starts on a full disk needs a guard most.
pub(crate) fn complete(folders: &Folders, faults: &Faults) -> Result<(), OpenError> {
    for folder in folders.all() {
        let Some(file) = folder.open(NAME, false)? else { continue };
        let Some(parts) = read(file).map_err(OpenError::io(&folder.join(NAME)))? else { continue };
        for (segment, offset, bytes) in parts {
            let is_last = list(folders, segment.stream())?.last().is_none_or(|last| *last <= segment);
            if is_last && !finish(folders, folder, segment, offset, &bytes, faults)? {
                // The next part says where in this one it stands.
                break;
            }
        }
    }
    Ok(())
}

/// Whether each folder that holds a part of the journal has a redo file that was once written to.
pub(crate) fn is_there(folders: &Folders) -> Result<bool, OpenError> {
    for folder in folders.all() {
        let holds_a_part = folder.names()?.iter().any(|name| Segment::parse(name).is_some());
        let written = match folder.open(NAME, false)? {
            Some(file) => file.metadata().map_err(OpenError::io(&folder.join(NAME)))?.len() > 0,
            None => false,
        };
        if holds_a_part && !written {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How far a journal's events were written, as its redo file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reached {
    /// The last event before the batch that it holds: that was on disk before the batch was begun.
    pub before: u64,
    /// The last event of the batch: that is in its file too, where the process was not killed just then.
    pub last: u64,
}

/// How far the events of the journal in `dir` were written; `None` where no redo file says so. Reads beside the writer: what is
/// read of the files after this is no older.
///
/// # Errors
/// [`OpenError`].
pub fn reached(dir: &Path) -> Result<Option<Reached>, OpenError> {
    let folders = Folders::of(dir)?;
    let mut furthest: Option<Reached> = None;
    for folder in folders.all() {
        let Some(file) = folder.open(NAME, false)? else { continue };
        let parts = read(file).map_err(OpenError::io(&folder.join(NAME)))?.unwrap_or_default();
        let told = reached_by(&parts);
        if furthest.is_none_or(|other| told.is_some_and(|told| told.last > other.last)) {
            furthest = told;
        }
    }
    Ok(furthest)
}

fn reached_by(parts: &[Held]) -> Option<Reached> {
    #[derive(Deserialize)]
    struct Numbered {
        kind: String,
        seq: u64,
    }
    let lines = |stream: Stream| {
        let parts = parts.iter().filter(move |(segment, ..)| segment.stream() == stream);
        let lines = parts.flat_map(|(.., bytes)| bytes.split(|byte| *byte == b'\n'));
        lines.filter_map(|line| serde_json::from_slice::<Numbered>(line).ok())
    };
    // A checkpoint has all events up to its number, which are on disk before it.
    let checkpoint = lines(Stream::Risk).filter(|record| record.kind == "checkpoint").map(|record| record.seq).max();
    let events: Vec<u64> = lines(Stream::Events).map(|event| event.seq).collect();
    match (events.first(), events.last()) {
        (Some(first), Some(last)) => Some(Reached { before: first.saturating_sub(1), last: *last }),
        _ => checkpoint.map(|seq| Reached { before: seq, last: seq }),
    }
}

type Held = (Segment, u64, Vec<u8>);

/// The parts of a whole redo file.
fn read(file: File) -> io::Result<Option<Vec<Held>>> {
    let mut reader = BufReader::new(file.take(LIMIT));
    let mut head = Lines::new(&mut reader, 0, Chain::START);
    if !matches!(head.advance(), Ok(true)) {
        return Ok(None);
    }
    let Ok(head) = serde_json::from_slice::<Head>(head.body()) else { return Ok(None) };
    let mut parts = Vec::new();
    for part in head.parts {
        let (Some(segment), Ok(from)) = (Segment::parse(&part.file), part.from.parse()) else { return Ok(None) };
        let mut bytes = Vec::new();
        (&mut reader).take(part.length).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).ok() != Some(part.length) || !whole(bytes.as_slice(), from) {
            return Ok(None);
        }
        parts.push((segment, part.offset, bytes));
    }
    Ok(Some(parts))
}

fn whole(bytes: impl BufRead, from: Chain) -> bool {
    let mut lines = Lines::new(bytes, 0, from);
    loop {
        match lines.advance() {
            Ok(true) => {}
            Ok(false) => return true,
            Err(_) => return false,
        }
    }
}

/// Whether the part stands there whole now, or was taken back.
fn finish(
    folders: &Folders,
    other: &Folder,
    segment: Segment,
    offset: u64,
    bytes: &[u8],
    faults: &Faults,
) -> Result<bool, OpenError> {
    let name = segment.name();
    let folder = folders.all().find(|folder| matches!(folder.open(&name, false), Ok(Some(_)))).unwrap_or(other);
    let path = folder.join(&name);
    let failed = OpenError::io(&path);
    let file = match folder.open(&name, true)? {
        Some(file) => file,
        None if offset == 0 => match folder.create(&name, 0o644) {
            Err(error) if no_space(&error) => return Ok(false),
            made => made.map_err(&failed)?,
        },
        None => return Err(damage(&path, 0, What::Short { reached: offset, says: "tail.redo" }).into()),
    };
    let length = file.metadata().map_err(&failed)?.len();
    let Some(there) = length.checked_sub(offset) else {
        return Err(damage(&path, length, What::Short { reached: offset, says: "tail.redo" }).into());
    };
    let Some((done, missing)) = usize::try_from(there).ok().and_then(|there| bytes.split_at_checked(there)) else {
        return Ok(true);
    };
    let mut found = vec![0; done.len()];
    file.read_exact_at(&mut found, offset).map_err(&failed)?;
    if found != done {
        return Err(damage(&path, offset, What::NotTheBatch).into());
    }
    let step = if segment.day.is_some() { Step::EventsWrite } else { Step::RiskWrite };
    let is_whole = missing.is_empty();
    let written = if is_whole { Ok(()) } else { faults.write(step, &file, missing, length) };
    let written = written.and_then(|()| file.sync_data()).and_then(|()| folder.sync());
    match written {
        Err(error) if no_space(&error) && !is_whole => {
            // A new file of its own would stand there empty.
            let taken_back =
                if offset == 0 { remove(&path) } else { file.set_len(offset).and_then(|()| file.sync_data()) };
            taken_back.map(|()| false).map_err(&failed)
        }
        written => written.map(|()| true).map_err(&failed),
    }
}
