//! A word on where the events end, kept outside the journal's folder: by it a start knows an older copy of all of the journal. It is
//! never ahead of what is on disk. One that is missing, torn or of long ago says nothing, or less, and does no harm.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::chain::Chain;
use super::error::OpenError;
use super::folders::Folders;
use super::segment::{Position, Segment, Stream, chain_at, list};
use crate::base::files::{read_trusted, temporary_beside};

/// How often it is written at most.
const EVERY: Duration = Duration::from_secs(1);

/// A file name, a number and a chain value.
const MAX_BYTES: u64 = 256;

/// The file, where there is to be one.
pub(super) struct Witness {
    path: Option<PathBuf>,
    told: Option<Position>,
    told_at: Instant,
}

impl Witness {
    pub(super) fn new(path: Option<PathBuf>, end: Option<Position>) -> Witness {
        let mut witness = Witness { path, told: None, told_at: Instant::now() };
        if end.is_none() {
            // What it says is of a journal that was set aside.
            _ = witness.path.as_ref().map(fs::remove_file);
        }
        witness.tell(end);
        witness
    }

    /// Says where the events end, if that is news.
    pub(super) fn tell(&mut self, end: Option<Position>) {
        let (Some(path), Some(end)) = (&self.path, end.filter(|end| self.told != Some(*end))) else { return };
        (self.told, self.told_at) = (Some(end), Instant::now());
        let text = format!("{} {} {}\n", end.segment.name(), end.offset, end.chain);
        // Not synced: it stands against what people do, not against power failures.
        let Ok(temporary) = temporary_beside(path) else { return };
        if fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path)).is_err() {
            _ = fs::remove_file(&temporary);
        }
    }

    /// The same, now and then.
    pub(super) fn tell_if_due(&mut self, end: Option<Position>) {
        if self.told_at.elapsed() >= EVERY {
            self.tell(end);
        }
    }
}

/// Refuses a journal whose events do not reach what the witness saw of them.
pub(super) fn check(path: &Path, folders: &Folders) -> Result<(), OpenError> {
    let Some(seen) = read(path) else { return Ok(()) };
    let first = list(folders, Stream::Events)?.first().copied();
    let reaches = match folders.open(&seen.segment.name())? {
        Some((_, file)) => chain_at(&file, seen.offset).is_ok_and(|chain| chain == seen.chain),
        // A day that was moved away is older than those that are there. A new journal, which has none yet, has no witness either.
        None => first.is_some_and(|first| first > seen.segment),
    };
    if reaches {
        return Ok(());
    }
    Err(OpenError::OlderCopy {
        witness: path.to_owned(),
        file: folders.main.join(&seen.segment.name()),
        reached: seen.offset,
    })
}

fn read(path: &Path) -> Option<Position> {
    let text = read_trusted(path, &[nix::unistd::geteuid().as_raw()], MAX_BYTES).ok()?;
    let mut parts = text.strip_suffix('\n')?.split(' ');
    let segment = Segment::parse(parts.next()?).filter(|segment| segment.stream() == Stream::Events)?;
    let (offset, chain): (u64, Chain) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(Position { segment, offset, chain })
}
