//! Where in the journal a nonce, a client order id or what serves an event is found.
//!
//! The journal alone is the truth: the index is never synced with it, is made again from it wherever it is missing, and what
//! it names is read and compared before anyone sees it. New entries are kept in memory; each 16,384 of them become a
//! sorted *run* on disk, eight runs of a level become one of the next. So memory stays bounded and a search touches few
//! files, however long the journal is. The runs join without a gap; what they do not cover yet is read from the journal.

pub(crate) mod entry;
mod keeper;
mod run;

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use entry::{Entry, Location, Tag, range};
pub(crate) use keeper::Keeper;
use run::Run;

use super::error::OpenError;
use super::folder::{Folder, Folders, remove};
use super::segment::{Position, stated_chain};
use crate::faults::Faults;

/// Entries in memory before they become a run.
const SPILL: usize = 16_384;

/// Runs' worth of entries that may wait in memory for the disk. Past it they are dropped, and read from the journal later.
const WAITING: usize = 8;

/// The index of one journal's events, shared by the writer, the keeper and all who look up.
pub(crate) struct Index {
    folder: Folder,
    faults: Faults,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    /// On disk, from the journal's beginning on, each following the one before.
    runs: Vec<Arc<Run>>,
    /// Complete in memory, to be written.
    waiting: Vec<Arc<Stretch>>,
    /// Growing.
    fresh: Stretch,
}

/// The entries of a stretch of the journal. A position of `None` is the journal's beginning.
#[derive(Default)]
struct Stretch {
    from: Option<Position>,
    to: Option<Position>,
    entries: BTreeSet<Entry>,
}

impl State {
    /// How far the runs reach.
    fn covered(&self) -> Option<Position> {
        self.runs.last().map(|run| run.span.to)
    }

    /// Where the entries in memory begin.
    fn in_memory(&self) -> Option<Position> {
        self.waiting.first().map_or(self.fresh.from, |first| first.from)
    }
}

/// What a search found.
pub(crate) struct Hits {
    /// In the journal's order.
    pub(crate) locations: Vec<Location>,
    /// False while a part of the journal is not covered: there may be more.
    pub(crate) complete: bool,
}

impl Index {
    /// Takes up the runs on disk that belong to this journal and removes the others.
    pub(crate) fn open(folders: &Folders, faults: Faults) -> Result<Index, OpenError> {
        let folder = Folder::own(&folders.main.join("index"))?;
        let mut found = Vec::new();
        for name in folder.names()? {
            let path = folder.join(&name);
            let file = if name.ends_with(".run") { folder.open(&name, false)? } else { None };
            let run = file.map(|file| Run::open(&path, file)).transpose().map_err(OpenError::io(&path))?.flatten();
            match run {
                Some(run) => found.push(run),
                None => remove(&path).map_err(OpenError::io(&path))?,
            }
        }
        let runs = joined(found, |last| belongs(folders, last)).map_err(OpenError::io(folder.path()))?;
        let state = State { runs: runs.into_iter().map(Arc::new).collect(), ..State::default() };
        Ok(Index { folder, faults, state: RwLock::new(state) })
    }

    /// From where on [`Index::add`] will be told of the events: `from`, or where the runs end if that is later.
    pub(crate) fn begin(&self, from: Option<Position>) -> Option<Position> {
        let mut state = self.write();
        let location = |position: &Option<Position>| position.as_ref().map(Location::from);
        let begin = if location(&state.covered()) > location(&from) { state.covered() } else { from };
        state.fresh = Stretch { from: begin, to: begin, entries: BTreeSet::new() };
        begin
    }

    /// Adds the entries of events up to `to`. True when there is work for the keeper.
    pub(crate) fn add(&self, entries: impl Iterator<Item = Entry>, to: Position) -> bool {
        let mut state = self.write();
        state.fresh.entries.extend(entries);
        state.fresh.to = Some(to);
        state.fresh.entries.len() >= SPILL && {
            Self::set_aside(&mut state);
            true
        }
    }

    /// Lets the fresh entries wait for the disk.
    fn set_aside(state: &mut State) {
        let next = Stretch { from: state.fresh.to, to: state.fresh.to, entries: BTreeSet::new() };
        let full = std::mem::replace(&mut state.fresh, next);
        if state.waiting.len() < WAITING {
            state.waiting.push(Arc::new(full));
        } else {
            state.waiting.clear();
        }
    }

    /// At most `limit` places under a key, the oldest, not before `after`.
    pub(crate) fn search(&self, tag: Tag, key: u64, after: Option<Location>, limit: usize) -> io::Result<Hits> {
        let (mut first, last) = range(tag, key);
        if let Some(after) = after {
            first = entry::entry(tag, key, after);
        }
        let (runs, recent, complete) = {
            let state = self.read();
            let memory = state.waiting.iter().map(|stretch| &stretch.entries).chain([&state.fresh.entries]);
            let recent: Vec<Entry> =
                memory.flat_map(|entries| entries.range(first..=last)).take(limit).copied().collect();
            (state.runs.clone(), recent, state.covered() == state.in_memory())
        };
        let mut locations = Vec::new();
        for run in runs.iter().filter(|run| after.is_none_or(|after| Location::from(&run.span.to) > after)) {
            run.search(tag, key, &first, &last, &mut |found| {
                locations.push(entry::location(&found));
                locations.len() < limit
            })?;
            if locations.len() >= limit {
                break;
            }
        }
        locations.extend(recent.iter().map(entry::location));
        locations.truncate(limit);
        Ok(Hits { locations, complete })
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
    let to = run.span.to;
    let Ok(Some((path, file))) = folders.open(&to.segment.name()) else { return false };
    stated_chain(&path, &file, to.offset).is_ok_and(|chain| chain == to.chain)
}

/// Of all runs, those that join from the journal's beginning on, the longest first; the others are removed: they
/// were merged, or stand behind a gap. None, if the last does not belong to the journal.
fn joined(mut found: Vec<Run>, belongs: impl Fn(&Run) -> bool) -> io::Result<Vec<Run>> {
    found.sort_by_key(|run| (run.span.from, std::cmp::Reverse(Location::from(&run.span.to))));
    let (mut runs, mut useless) = (Vec::<Run>::new(), Vec::new());
    for run in found {
        let reached = runs.last().map_or(keeper::BEGINNING, |last| Location::from(&last.span.to));
        if run.span.from == reached { runs.push(run) } else { useless.push(run) }
    }
    if !runs.last().is_none_or(belongs) {
        useless.append(&mut runs);
    }
    useless.iter().try_for_each(Run::remove)?;
    Ok(runs)
}
