//! The thread that keeps the index on disk: fills gaps from the journal, writes runs, merges them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use super::entry::{Entry, Keys, Location};
use super::run::{Run, Span};
use super::{Index, SPILL, Stretch};
use crate::journal::chain::LineFault;
use crate::journal::error::{OpenError, What};
use crate::journal::folder::Folders;
use crate::journal::segment::{Position, Scanner, Segment, SegmentsNewestFirst, Stream};

/// Before every event.
pub(crate) const BEGINNING: Location = Location { segment: Segment { day: None, n: 0 }, offset: 0 };

/// Runs of one level that become one run of the next.
const MERGE: usize = 8;

/// The running thread.
pub(crate) struct Keeper {
    wake: Option<Sender<()>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts the thread; its first work is whatever the runs do not cover.
    pub(crate) fn start(index: Arc<Index>, folders: Folders) -> io::Result<Keeper> {
        let (wake, woken) = bounded(1);
        let stop = Arc::new(AtomicBool::new(false));
        let work = Work { index, folders, stop: Arc::clone(&stop) };
        let thread = std::thread::Builder::new().name("journal-index".to_owned()).spawn(move || work.run(&woken))?;
        Ok(Keeper { wake: Some(wake), stop, thread: Some(thread) })
    }

    /// Tells the thread that there is work. Never waits; false when the thread is gone.
    pub(crate) fn wake(&self) -> bool {
        self.wake.as_ref().is_some_and(|wake| !matches!(wake.try_send(()), Err(TrySendError::Disconnected(()))))
    }
}

impl Drop for Keeper {
    /// Leaves long work undone (the next start takes it up), writes what is in memory, and waits for the thread.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported where it happened, and costs a rebuild only.
            let _panicked = thread.join();
        }
    }
}

struct Work {
    index: Arc<Index>,
    folders: Folders,
    stop: Arc<AtomicBool>,
}

impl Work {
    /// What fails is tried again when the next entries come: until then look-ups say that the index is behind.
    fn run(&self, woken: &Receiver<()>) {
        loop {
            let _failed = self.fill().and_then(|()| self.spill()).and_then(|()| self.merge());
            if woken.recv().is_err() {
                let mut state = self.index.write();
                if state.fresh.from != state.fresh.to {
                    Index::set_aside(&mut state);
                }
                drop(state);
                let _failed = self.spill();
                return;
            }
        }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn failed(&self, error: io::Error) -> OpenError {
        OpenError::Io { path: self.index.folder.path().to_owned(), error }
    }

    fn gap(&self) -> Option<(Option<Position>, Position)> {
        let state = self.index.read();
        let (covered, begins) = (state.covered(), state.in_memory());
        begins.filter(|_| covered != begins).map(|begins| (covered, begins))
    }

    /// Makes runs of what lies between the runs and the entries in memory, from the journal.
    fn fill(&self) -> Result<(), OpenError> {
        while let Some((covered, until)) = self.gap() {
            let mut files = SegmentsNewestFirst::of(&self.folders, Stream::Events)?.all()?;
            if let Some(covered) = covered {
                files.retain(|file| file.segment >= covered.segment);
            }
            let mut scanner = Scanner::new(&self.folders, files, covered);
            let mut stretch = Stretch { from: covered, to: covered, entries: BTreeSet::new() };
            while stretch.to != Some(until) {
                if self.stopped() || !scanner.advance()? {
                    return Ok(());
                }
                let (Some((segment, offset, body)), Some(to)) = (scanner.record(), scanner.position()) else {
                    return Ok(());
                };
                if (Location { segment, offset }) >= Location::from(&until) {
                    break;
                }
                let event = serde_json::from_slice(body).map_err(|_| scanner.refuse(What::Line(LineFault::NotJson)))?;
                stretch.entries.extend(Keys::of(&event).entries(Location { segment, offset }));
                stretch.to = Some(to);
                if stretch.entries.len() >= SPILL && stretch.to != Some(until) {
                    let from = stretch.to;
                    let full = std::mem::replace(&mut stretch, Stretch { from, to: from, entries: BTreeSet::new() });
                    self.publish(&full, false)?;
                }
            }
            stretch.to = Some(until);
            self.publish(&stretch, false)?;
            self.merge()?;
        }
        Ok(())
    }

    /// Writes the entries that wait, as far as they join the runs.
    fn spill(&self) -> Result<(), OpenError> {
        loop {
            let next = {
                let state = self.index.read();
                state.waiting.first().filter(|next| next.from == state.covered()).cloned()
            };
            let Some(next) = next else { return Ok(()) };
            self.publish(&next, true)?;
        }
    }

    /// Makes a stretch the next run, and takes it out of memory if it waited there.
    fn publish(&self, stretch: &Stretch, waited: bool) -> Result<(), OpenError> {
        let Some(to) = stretch.to else { return Ok(()) };
        let span = Span { from: stretch.from.as_ref().map_or(BEGINNING, Location::from), to, level: 0 };
        let entries = stretch.entries.iter().map(|entry| Ok(*entry));
        let run = Run::write(&self.index.folder, span, entries, || false, &self.index.faults)
            .map_err(|error| self.failed(error))?;
        let mut state = self.index.write();
        if state.covered() == stretch.from {
            state.runs.extend(run.map(Arc::new));
            if waited && state.waiting.first().is_some_and(|first| first.from == stretch.from) {
                state.waiting.remove(0);
            }
        }
        Ok(())
    }

    /// Merges neighbours of one level until there are not enough of them.
    fn merge(&self) -> Result<(), OpenError> {
        while !self.stopped() {
            let parts = {
                let state = self.index.read();
                let level = |run: &Arc<Run>| run.span.level;
                let same = |runs: &&[Arc<Run>]| runs.iter().all(|run| Some(level(run)) == runs.first().map(level));
                state.runs.windows(MERGE).find(same).map(<[Arc<Run>]>::to_vec)
            };
            let Some(parts) = parts else { return Ok(()) };
            let Some(merged) = self.merge_parts(&parts).map_err(|error| self.failed(error))? else { return Ok(()) };
            {
                let mut state = self.index.write();
                let at = state.runs.iter().position(|run| run.span.from == merged.span.from).unwrap_or(0);
                state.runs.splice(at..at + parts.len(), [Arc::new(merged)]);
            }
            parts.iter().try_for_each(|part| part.remove()).map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    fn merge_parts(&self, parts: &[Arc<Run>]) -> io::Result<Option<Run>> {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Ok(None) };
        let span = Span { from: first.span.from, to: last.span.to, level: first.span.level + 1 };
        let mut sources = parts.iter().map(|part| part.entries()).collect::<io::Result<Vec<_>>>()?;
        let mut heads = BinaryHeap::new();
        for (number, source) in sources.iter_mut().enumerate() {
            heads.extend(source.next().transpose()?.map(|entry| Reverse((entry, number))));
        }
        let mut next = || -> io::Result<Option<Entry>> {
            let Some(Reverse((entry, number))) = heads.pop() else { return Ok(None) };
            let following = sources.get_mut(number).and_then(Iterator::next).transpose()?;
            heads.extend(following.map(|entry| Reverse((entry, number))));
            Ok(Some(entry))
        };
        let entries = std::iter::from_fn(|| next().transpose());
        Run::write(&self.index.folder, span, entries, || self.stopped(), &self.index.faults)
    }
}
