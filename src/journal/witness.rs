//! A word on where the events end, kept outside the journal's folder: by it a start knows an older copy of all of the journal. It is
//! never ahead of what is on disk. One that is missing, torn or of long ago says nothing, or less, and does no harm. Where the disk that
//! it is kept on hangs a thread of its own waits for that, and the journal does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::chain::Chain;
use super::error::OpenError;
use super::folders::Folders;
use super::segment::{Position, Segment, Stream, chain_at, list};
use crate::base::files::{read_trusted, temporary_beside};
use crate::base::sync::lock;

/// How often it is written at most.
const EVERY: Duration = Duration::from_secs(1);

/// A file name, a number and a chain value.
const MAX_BYTES: u64 = 256;

/// The file, where there is to be one.
pub(super) struct Witness {
    path: Option<PathBuf>,
    told: Option<Position>,
    told_at: Instant,
    beside: Option<Arc<Beside>>,
}

/// What a thread beside the journal is to write.
#[derive(Default)]
struct Beside {
    state: Mutex<News>,
    changed: Condvar,
}

#[derive(Default)]
struct News {
    end: Option<Position>,
    is_over: bool,
}

impl Witness {
    pub(super) fn new(path: Option<PathBuf>, end: Option<Position>) -> Witness {
        let mut witness = Witness { path, told: None, told_at: Instant::now(), beside: None };
        if end.is_none() {
            // What it says is of a journal that was set aside.
            _ = witness.path.as_ref().map(fs::remove_file);
        }
        witness.tell(end);
        witness
    }

    /// The same for a journal that goes on where this file's disk hangs. Without a thread it stays as it is.
    pub(super) fn beside(path: Option<PathBuf>) -> Witness {
        let shared = Arc::<Beside>::default();
        let (of_thread, file) = (Arc::clone(&shared), path.clone());
        let begin =
            |file: PathBuf| thread::Builder::new().name("journal-end".to_owned()).spawn(move || of_thread.serve(&file));
        let beside = file.map(begin).and_then(Result::ok).map(|_| shared);
        Witness { path: path.filter(|_| beside.is_some()), told: None, told_at: Instant::now(), beside }
    }

    /// The file.
    pub(super) fn path(&self) -> Option<PathBuf> {
        self.path.clone()
    }

    /// Says where the events end, if that is news.
    pub(super) fn tell(&mut self, end: Option<Position>) {
        let (Some(path), Some(end)) = (&self.path, end.filter(|end| self.told != Some(*end))) else { return };
        (self.told, self.told_at) = (Some(end), Instant::now());
        match &self.beside {
            None => write(path, end),
            Some(beside) => beside.change(|news| news.end = Some(end)),
        }
    }

    /// The same, now and then.
    pub(super) fn tell_if_due(&mut self, end: Option<Position>) {
        if self.told_at.elapsed() >= EVERY {
            self.tell(end);
        }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.beside.iter().for_each(|beside| beside.change(|news| news.is_over = true));
    }
}

impl Beside {
    fn change(&self, change: impl FnOnce(&mut News)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }

    /// Writes the newest place, however long each takes, until the journal is closed.
    fn serve(&self, path: &Path) {
        loop {
            let is_idle = |news: &mut News| news.end.is_none() && !news.is_over;
            let waited = self.changed.wait_while(lock(&self.state), is_idle);
            let Some(end) = waited.unwrap_or_else(PoisonError::into_inner).end.take() else { return };
            write(path, end);
        }
    }
}

fn write(path: &Path, end: Position) {
    let text = format!("{} {} {}\n", end.segment.name(), end.offset, end.chain);
    // Not synced: it stands against what people do, not against power failures.
    let Ok(temporary) = temporary_beside(path) else { return };
    if fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path)).is_err() {
        _ = fs::remove_file(&temporary);
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
