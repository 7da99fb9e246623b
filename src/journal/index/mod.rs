//! Where in the journal events stand, by nonce, by client order id, and by the event that they serve.
//!
//! The journal alone is the truth: the index is never synced with it, is made again from it wherever it is missing or
//! spoiled, and the events that it names are read and compared before anyone sees them. New entries are kept in memory; each
//! 65,536 of them become one sorted [`run`] on disk, which never changes and is never merged: event numbers and most nonces
//! grow with time, so that a run's bounds tell whether it is worth opening. A stretch of the journal that is covered neither
//! in memory nor by a run is a *gap*: until it is filled, look-ups search the journal itself there (`unindexed.rs`).

pub(crate) mod entry;
mod run;
pub(crate) mod table;

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use entry::{Entry, Location, Tag, range};
use run::Run;
use table::MemTable;

use super::error::OpenError;
use super::folder::{Folder, remove};
use super::folders::Folders;
use super::segment::{Position, stated_chain};
use super::unindexed::Gap;
use crate::faults::Faults;

/// The index of one journal's events, shared by the writer, the thread that fills gaps, and all who look up.
pub(crate) struct Index {
    folder: Folder,
    faults: Faults,
    state: RwLock<State>,
    closed: AtomicBool,
    /// The disk hangs: nothing is written there by who must not wait.
    off_disk: AtomicBool,
    /// Holds a word while there may be a gap, or the index was closed.
    gaps: (Sender<()>, Receiver<()>),
}

#[derive(Default)]
struct State {
    /// In the journal's order.
    runs: Vec<Arc<Run>>,
    /// What is about to become a run, oldest first: the disk may take its time.
    full: Vec<Arc<MemTable>>,
    /// The growing end.
    live: MemTable,
}

impl State {
    /// The stretches of the journal before its live end that are not covered, in the journal's order.
    fn gaps(&self) -> impl Iterator<Item = Gap> {
        let tables = self.full.iter().map(Arc::as_ref).chain([&self.live]);
        let covered =
            self.runs.iter().map(|run| (run.from, Some(run.to))).chain(tables.map(|table| (table.from, table.to)));
        let gaps = covered.scan(None, |reached, (from, to)| {
            let before = std::mem::replace(reached, to);
            Some(from.filter(|_| from != before).map(|from| (before, from)))
        });
        gaps.flatten()
    }
}

impl Index {
    /// Takes up the runs on disk that belong to this journal, and removes all other files.
    pub(crate) fn open(folders: &Folders, faults: Faults) -> Result<Index, OpenError> {
        let folder = Folder::own(&folders.main.join("index"))?;
        let mut found = Vec::new();
        for name in folder.names()? {
            let path = folder.join(&name);
            let file = if name.ends_with(".run") { folder.open(&name, false)? } else { None };
            let run = file.map(|file| Run::open(&name, &file)).transpose().map_err(OpenError::io(&path))?.flatten();
            match run {
                Some(run) => found.push(run),
                None => remove(&path).map_err(OpenError::io(&path))?,
            }
        }
        found.sort_by_key(|run| run.from.as_ref().map(Location::from));
        // Each run names the chain value that it follows, so that the last one speaks for those before it.
        let is_ours = found.last().is_none_or(|last| belongs(folders, last));
        let mut runs = Vec::<Arc<Run>>::new();
        for run in found {
            let reached = runs.last().map(|last| Location::from(&last.to));
            if is_ours && run.from.as_ref().map(Location::from) >= reached {
                runs.push(Arc::new(run));
            } else {
                run.remove(&folder).map_err(OpenError::io(folder.path()))?;
            }
        }
        let state = RwLock::new(State { runs, ..State::default() });
        Ok(Index {
            folder,
            faults,
            state,
            closed: AtomicBool::new(false),
            off_disk: AtomicBool::new(false),
            gaps: bounded(1),
        })
    }

    /// From where on [`Index::add`] expects the events: `from`, or where the index ends if that is later. A last run that is
    /// not full goes on in memory, so that restarts leave no trail of small runs; if it ends before `from`, it is read again.
    pub(crate) fn begin(&self, from: Option<Position>) -> io::Result<Option<Position>> {
        let location = |position: Option<Position>| position.as_ref().map(Location::from);
        let mut state = self.write();
        if let Some(last) = state.runs.pop_if(|run| !run.is_full()) {
            match last.load(&self.folder) {
                Ok(table) if location(table.to) >= location(from) => state.live = table,
                _ => last.remove(&self.folder)?,
            }
        }
        if state.live.to.is_none() {
            let covered = state.runs.last().map(|run| run.to);
            state.live = MemTable::after(if location(covered) > location(from) { covered } else { from });
        }
        Ok(state.live.to)
    }

    /// Adds the entries of one event, which ends at `to`. In memory alone: [`Index::write_full`] goes to the disk.
    pub(crate) fn add(&self, entries: impl Iterator<Item = Entry>, to: Position) {
        let mut state = self.write();
        let Some(full) = state.live.add(entries, to) else { return };
        if self.off_disk.load(Ordering::Acquire) {
            return self.wake();
        }
        state.full.push(Arc::new(full));
    }

    /// Makes runs of what is full. Where one cannot be written, its stretch becomes a gap. Nobody waits for the disk but who calls.
    pub(crate) fn write_full(&self) {
        loop {
            if self.off_disk.load(Ordering::Acquire) {
                return;
            }
            let Some(table) = self.read().full.first().cloned() else { return };
            let written = Run::write(&self.folder, &table, &self.faults);
            let mut state = self.write();
            state.full.retain(|full| !Arc::ptr_eq(full, &table));
            match written {
                Ok(run) => state.runs.extend(run.map(Arc::new)),
                Err(_) => self.wake(),
            }
        }
    }

    /// At most `limit` locations under a key, the oldest, not before `after`, in the journal's order; and the gaps, in which
    /// there may be more. `None` where a run turned out to be spoiled: to be asked again.
    pub(crate) fn search(
        &self,
        tag: Tag,
        key: u64,
        after: Option<Location>,
        limit: usize,
    ) -> io::Result<Option<(Vec<Location>, Vec<Gap>)>> {
        let (mut first, last) = range(tag, key);
        if let Some(after) = after {
            first = entry::entry(tag, key, after);
        }
        let (runs, recent, gaps) = {
            let state = self.read();
            let is_before = |run: &Run| after.is_some_and(|after| Location::from(&run.to) <= after);
            let runs = state.runs.iter().filter(|run| run.may_hold(tag, key) && !is_before(run));
            let tables = state.full.iter().map(Arc::as_ref).chain([&state.live]);
            let recent = tables.flat_map(|table| table.entries.range(first..=last)).take(limit);
            let gaps: Vec<Gap> =
                state.gaps().filter(|(_, to)| after.is_none_or(|after| Location::from(to) > after)).collect();
            (runs.cloned().collect::<Vec<_>>(), recent.copied().collect::<Vec<_>>(), gaps)
        };
        if !gaps.is_empty() {
            self.wake();
        }
        let mut found = Vec::new();
        for run in runs {
            match run.search(&self.folder, &first, &last, limit - found.len()) {
                Ok(entries) => found.extend(entries),
                Err(error) if is_spoiled(&error) => {
                    self.forget(&run);
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Some((found.iter().chain(&recent).take(limit).map(entry::location).collect(), gaps)))
    }

    /// Takes a run out that is not as it was written; its stretch becomes a gap.
    fn forget(&self, spoiled: &Arc<Run>) {
        let mut state = self.write();
        let before = state.runs.len();
        state.runs.retain(|run| !Arc::ptr_eq(run, spoiled));
        if state.runs.len() < before {
            // A file that stays is found spoiled again, or replaced by the run made anew.
            let _stays = spoiled.remove(&self.folder);
        }
        self.wake();
    }

    /// The first gap; see [`Index::insert`].
    pub(crate) fn gap(&self) -> Option<Gap> {
        self.read().gaps().next()
    }

    /// Puts entries read from the journal where they were missing: in front of the live ones in memory, or as a run.
    pub(crate) fn insert(&self, table: MemTable) -> io::Result<()> {
        let Some(table) = self.write().live.prepend(table) else { return Ok(()) };
        let Some(run) = Run::write(&self.folder, &table, &self.faults)? else { return Ok(()) };
        let mut state = self.write();
        let from = |run: &Run| run.from.as_ref().map(Location::from);
        let at = state.runs.partition_point(|other| from(other) < from(&run));
        state.runs.insert(at, Arc::new(run));
        Ok(())
    }

    /// Writes the live table, for the next start to go on from, and ends the filling of gaps.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.wake();
        if self.off_disk.load(Ordering::Acquire) {
            return;
        }
        self.write_full();
        // Unwritten, it is a gap to the next start.
        let _gap = Run::write(&self.folder, &self.read().live, &self.faults);
    }

    /// Has the writer keep what it adds in memory, or leave it out: the folder's disk hangs.
    pub(crate) fn keep_off_disk(&self) {
        self.off_disk.store(true, Ordering::Release);
    }

    /// Whether the journal was closed: whoever reads it for the index may leave off.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Waits until there may be a gap to fill, or for so long; false once the journal is closed.
    pub(crate) fn wait(&self, at_most: Option<Duration>) -> bool {
        let is_said = || match at_most {
            Some(at_most) => self.gaps.1.recv_timeout(at_most) != Err(RecvTimeoutError::Disconnected),
            None => self.gaps.1.recv().is_ok(),
        };
        !self.is_closed() && is_said() && !self.is_closed()
    }

    /// Whether [`Index::wait`] would not wait.
    pub(crate) fn is_woken(&self) -> bool {
        !self.gaps.1.is_empty()
    }

    fn wake(&self) {
        // A word that is there already says as much.
        let _said = self.gaps.0.try_send(());
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the journal has a line that ends where the run does, with the same chain value.
fn belongs(folders: &Folders, run: &Run) -> bool {
    let Ok(Some((path, file))) = folders.open(&run.to.segment.name()) else { return false };
    stated_chain(&path, &file, run.to.offset).is_ok_and(|chain| chain == run.to.chain)
}

/// Whether a run's file is cut, gone or fails its checksum. Other errors may pass.
fn is_spoiled(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof | ErrorKind::NotFound)
}
