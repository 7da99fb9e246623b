//! Puts batches on disk: redo file, events, risk records, in this order, with what a failing disk asks for. One
//! thread's own; knows no queue.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::fcntl::Flock;
use nix::libc::{EDQUOT, ENOSPC};

use super::batch::{Line, RiskLine, check, size, with_position};
use super::error::{JournalError, OpenError};
use super::folder::{Folder, Folders};
use super::health::{Condition, Health};
use super::index::entry::Location;
use super::index::{Index, Keeper};
use super::lookup::Lookup;
use super::redo::{Part, Redo};
use super::reserve::Reserve;
use super::segment::Position;
use super::tail::{Encoded, Plan, Tail};
use crate::base::day::{Day, day_of};
use crate::faults::Faults;

/// What was refused by the disk is kept up to this (bytes of text) and written ahead of what comes later.
const MAX_UNWRITTEN: usize = 4 * 1024 * 1024;

/// New files begun for one batch in one folder after a failure.
const TRIES: u8 = 2;

/// How often a reserve given up, or a batch kept, is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// One of the folders written to.
pub(super) struct Volume {
    folder: Folder,
    redo: Redo,
    reserve: Reserve,
}

/// What one commit came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Lines that it put on disk.
    pub lines: usize,
    /// Their bytes.
    pub bytes: usize,
    /// What it took, writes and syncs.
    pub took: Duration,
    /// Whether all of it is on disk.
    pub is_whole: bool,
}

/// Told of every commit; it must not wait.
type OnCommit = Box<dyn FnMut(Commit) + Send>;

/// A journal open for writing; it is locked until this is dropped.
pub struct Store {
    folders: Folders,
    volumes: Vec<Volume>,
    active: usize,
    events: Tail,
    risk: Tail,
    pending: Pending,
    day: Day,
    retried: Instant,
    faults: Faults,
    health: Arc<Health>,
    index: Arc<Index>,
    keeper: Option<Keeper>,
    on_commit: Option<OnCommit>,
    written: Commit,
    event_lines: Encoded,
    risk_lines: Encoded,
    _lock: Flock<File>,
}

/// What is to be written next, in order.
#[derive(Default)]
struct Pending {
    events: Vec<Line>,
    risk: Vec<Record>,
    size: usize,
}

struct Record {
    text: String,
    /// For a checkpoint whose place is still open: how many of the pending events come before it.
    after: Option<usize>,
}

/// What a start leaves to write on.
pub(super) struct Parts {
    pub(super) folders: Folders,
    pub(super) events: Tail,
    pub(super) risk: Tail,
    pub(super) faults: Faults,
    pub(super) index: Arc<Index>,
    pub(super) lock: Flock<File>,
}

impl Store {
    pub(super) fn new(parts: Parts) -> Result<Store, OpenError> {
        let Parts { folders, events, risk, faults, index, lock } = parts;
        let mut volumes = Vec::new();
        for folder in folders.all() {
            let mut volume = Volume { folder: folder.clone(), redo: Redo::open(folder)?, reserve: Reserve::none() };
            // A disk too full for the reserve is shown by the health; it does not keep exits from being journaled.
            let _shown_below = volume.reserve.refill(folder, &faults);
            volumes.push(volume);
        }
        let store = Store {
            folders,
            volumes,
            active: 0,
            events,
            risk,
            pending: Pending::default(),
            day: day_of(0),
            retried: Instant::now(),
            faults,
            health: Arc::default(),
            index,
            keeper: None,
            on_commit: None,
            written: Commit::default(),
            event_lines: Encoded::default(),
            risk_lines: Encoded::default(),
            _lock: lock,
        };
        store.show_health();
        Ok(store)
    }

    /// How the journal stands, to be shared.
    pub fn health(&self) -> Arc<Health> {
        Arc::clone(&self.health)
    }

    /// Looks up decisions.
    pub fn lookup(&self) -> Lookup {
        Lookup::new(self.folders.clone(), Arc::clone(&self.index))
    }

    /// Has every commit told to `tell`, which must not wait.
    pub fn on_commit(&mut self, tell: impl FnMut(Commit) + Send + 'static) {
        self.on_commit = Some(Box::new(tell));
    }

    pub(super) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Starts the thread that keeps the index on disk.
    pub(super) fn keep_index(&mut self) -> io::Result<()> {
        self.keeper = Some(Keeper::start(Arc::clone(&self.index), self.folders.clone())?);
        Ok(())
    }

    /// Writes records and waits until they are on disk. `at_ms`: the time now (epoch milliseconds).
    pub fn append(&mut self, at_ms: u64, events: Vec<Line>, risk: Vec<RiskLine>) -> Result<(), Arc<JournalError>> {
        check(&events, &risk)?;
        let before = self.unwritten();
        self.take(events, risk);
        self.commit(day_of(at_ms), before)
    }

    /// What is already waiting, before a group is taken.
    pub(super) fn unwritten(&self) -> Unwritten {
        Unwritten { events: self.pending.events.len(), risk: self.pending.risk.len(), size: self.pending.size }
    }

    /// Takes records that were checked, to be written by the next commit.
    pub(super) fn take(&mut self, events: Vec<Line>, risk: Vec<RiskLine>) {
        let pending = &mut self.pending;
        pending.size += size(&events, &risk);
        pending.events.extend(events);
        let after = pending.events.len();
        pending
            .risk
            .extend(risk.into_iter().map(|line| Record { text: line.text, after: line.checkpoint.then_some(after) }));
    }

    /// Writes all that was taken. On failure it is kept for the next commit, unless it is too much: then what was
    /// taken since `unwritten` is dropped.
    pub(super) fn commit(&mut self, day: Day, unwritten: Unwritten) -> Result<(), Arc<JournalError>> {
        let begun = Instant::now();
        let done = self.try_commit(day, unwritten);
        let commit = Commit { took: begun.elapsed(), is_whole: done.is_ok(), ..std::mem::take(&mut self.written) };
        if let Some(tell) = &mut self.on_commit {
            tell(commit);
        }
        done
    }

    fn try_commit(&mut self, day: Day, unwritten: Unwritten) -> Result<(), Arc<JournalError>> {
        self.day = self.day.max(day);
        let mut tries = TRIES;
        while let Err(failure) = self.attempt() {
            if self.remedy(&failure.error, &mut tries) {
                continue;
            }
            if self.pending.size > MAX_UNWRITTEN {
                self.pending.events.truncate(unwritten.events);
                self.pending.risk.truncate(unwritten.risk);
                self.pending.size = unwritten.size;
            }
            let error = JournalError::Disk { path: failure.path, error: failure.error };
            self.health.set(Condition::Failing, Some(error.to_string()));
            return Err(Arc::new(error));
        }
        self.pending.size = 0;
        self.show_health();
        Ok(())
    }

    /// Whether another try makes sense, after doing what makes sense of it.
    fn remedy(&mut self, error: &io::Error, tries: &mut u8) -> bool {
        let last = self.active + 1 >= self.volumes.len();
        let full = matches!(error.raw_os_error(), Some(ENOSPC | EDQUOT));
        let Some(volume) = self.volumes.get_mut(self.active) else { return false };
        if full && volume.reserve.give_up(&volume.folder) {
            return true;
        }
        if !full && *tries > 0 {
            *tries -= 1;
            return true;
        }
        if last {
            return false;
        }
        // What this redo file names is written again in the other folder. If it cannot be said here, it is a tail that
        // the next start completes, and the header in the other folder overrules.
        let _overruled = volume.redo.forget();
        self.active += 1;
        self.events.leave_file();
        self.risk.leave_file();
        *tries = TRIES;
        true
    }

    fn attempt(&mut self) -> Result<(), Failure> {
        let events = self.plan_events()?;
        let risk = self.plan_risk(events.as_ref())?;
        let Some(volume) = self.volumes.get_mut(self.active) else { return Ok(()) };
        let mut parts = Vec::with_capacity(2);
        for (plan, lines) in [(&events, &self.event_lines), (&risk, &self.risk_lines)] {
            parts.extend(plan.as_ref().map(|plan| Part {
                segment: plan.segment,
                offset: plan.offset,
                from: plan.from,
                bytes: &lines.bytes,
            }));
        }
        if parts.is_empty() {
            return Ok(());
        }
        volume
            .redo
            .write(&parts, &self.faults)
            .map_err(|error| Failure { path: volume.folder.join("tail.redo"), error })?;
        if let Some(plan) = events {
            let failed = |error| Failure { path: volume.folder.join(&plan.segment.name()), error };
            let before = self.events.confirmed();
            self.events.append(&plan, &self.event_lines, &volume.folder, &self.faults).map_err(failed)?;
            self.written.count(&self.event_lines);
            self.events_written(&plan, before.as_ref());
        }
        let Some(volume) = self.volumes.get_mut(self.active) else { return Ok(()) };
        if let Some(plan) = risk {
            let failed = |error| Failure { path: volume.folder.join(&plan.segment.name()), error };
            self.risk.append(&plan, &self.risk_lines, &volume.folder, &self.faults).map_err(failed)?;
            self.written.count(&self.risk_lines);
            self.pending.risk.clear();
        }
        Ok(())
    }

    fn plan_events(&mut self) -> Result<Option<Plan>, Failure> {
        if self.pending.events.is_empty() {
            return Ok(None);
        }
        let plan = self.events.plan(self.day).map_err(|error| self.failure(error))?;
        let texts = self.pending.events.iter().map(|line| line.text.as_str());
        let encoded = plan.encode(texts, &mut self.event_lines);
        encoded.map_err(|fault| self.failure(io::Error::other(fault)))?;
        Ok(Some(plan))
    }

    /// Checkpoints get the places that the events will have when they are written as planned.
    fn plan_risk(&mut self, events: Option<&Plan>) -> Result<Option<Plan>, Failure> {
        if self.pending.risk.is_empty() {
            return Ok(None);
        }
        let position_after = |after: usize| {
            let last = after.checked_sub(1).and_then(|last| self.event_lines.records.get(last));
            match (events, last) {
                (Some(plan), Some((_, offset, chain))) => {
                    Some(Position { segment: plan.segment, offset: *offset, chain: *chain })
                }
                _ => self.events.confirmed(),
            }
        };
        let texts: Vec<String> = self
            .pending
            .risk
            .iter()
            .map(|record| with_position(&record.text, record.after.and_then(position_after).as_ref()))
            .collect();
        let plan = self.risk.plan(self.day).map_err(|error| self.failure(error))?;
        let encoded = plan.encode(texts.iter().map(String::as_str), &mut self.risk_lines);
        encoded.map_err(|fault| self.failure(io::Error::other(fault)))?;
        Ok(Some(plan))
    }

    /// Indexes the events now on disk, and settles the places of checkpoints should their own write fail.
    fn events_written(&mut self, plan: &Plan, before: Option<&Position>) {
        let positions = self.event_lines.records.iter();
        let positions: Vec<Position> = positions
            .map(|(_, offset, chain)| Position { segment: plan.segment, offset: *offset, chain: *chain })
            .collect();
        for record in &mut self.pending.risk {
            if let Some(after) = record.after.take() {
                let position = after.checked_sub(1).map_or(before, |last| positions.get(last));
                record.text = with_position(&record.text, position);
            }
        }
        let starts =
            self.event_lines.records.iter().map(|(start, ..)| Location { segment: plan.segment, offset: *start });
        let entries = self.pending.events.iter().zip(starts).flat_map(|(line, start)| line.keys.entries(start));
        let full = positions.last().is_some_and(|last| self.index.add(entries, *last));
        if let Some(keeper) = self.keeper.as_ref().filter(|_| full) {
            keeper.wake();
        }
        self.pending.events.clear();
    }

    fn failure(&self, error: io::Error) -> Failure {
        Failure { path: self.folders.main.path().to_owned(), error }
    }

    /// Whether there is something to come back to although nothing new arrives.
    pub(super) fn needs_retry(&self) -> bool {
        self.health.condition() != Condition::Good
    }

    /// Once a second while something is wrong: writes what was kept and allocates the reserve again.
    pub(super) fn retry_backlog(&mut self) {
        if !self.needs_retry() || self.retried.elapsed() < RETRY {
            return;
        }
        self.retried = Instant::now();
        if self.pending.size > 0 {
            let unwritten = self.unwritten();
            // Its failure is in the health; nobody waits for these records any more.
            let _shown = self.commit(self.day, unwritten);
        }
        if let Some(volume) = self.volumes.get_mut(self.active) {
            let _shown_below = volume.reserve.refill(&volume.folder, &self.faults);
        }
        if self.pending.size == 0 {
            self.show_health();
        }
    }

    /// Shows how things stand after a success.
    fn show_health(&self) {
        let volume = self.volumes.get(self.active);
        match volume {
            Some(volume) if self.active > 0 => self.health.set(
                Condition::Degraded,
                Some(format!(
                    "the journal is written to its fallback folder {}: repair the disk of {} and restart the service",
                    volume.folder.path().display(),
                    self.folders.main.path().display()
                )),
            ),
            Some(volume) if !volume.reserve.held() => self.health.set(
                Condition::Degraded,
                Some(format!(
                    "the disk of {} is full: the reserve is in use; make space",
                    volume.folder.path().display()
                )),
            ),
            _ => self.health.set(Condition::Good, None),
        }
    }
}

impl Commit {
    fn count(&mut self, written: &Encoded) {
        self.lines += written.records.len();
        self.bytes += written.bytes.len();
    }
}

struct Failure {
    path: PathBuf,
    error: io::Error,
}

/// What was waiting at some moment.
#[derive(Clone, Copy)]
pub(super) struct Unwritten {
    events: usize,
    risk: usize,
    size: usize,
}
