//! Puts batches on disk: redo file, events, risk records, in this order, with what a failing disk asks for. One
//! thread's own; knows no queue.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::fcntl::Flock;

use super::backlog::{Backlog, Unwritten};
use super::batch::{Line, RiskLine, Worth, check, with_position};
use super::error::{JournalError, OpenError};
use super::folder::Folder;
use super::folders::Folders;
use super::health::{Condition, Health};
use super::index::Index;
use super::index::entry::{Entry, Location, entries};
use super::lookup::Lookup;
use super::redo::{Part, Redo};
use super::reserve::{Reserve, Shares};
use super::seen::with_seen;
use super::segment::Position;
use super::space::no_space;
use super::tail::{Encoded, Plan, Tail};
use super::witness::Witness;
use crate::base::day::{Day, day_of};
use crate::faults::Faults;
use claim::Claim;

mod claim;
mod places;
mod room;
pub(super) mod takeover;

/// New files begun for one batch in one folder after a failure.
const TRIES: u8 = 2;

/// One of the folders written to.
pub(super) struct Volume {
    folder: Folder,
    /// The folder itself, wherever it is moved to.
    held: File,
    redo: Redo,
    reserve: Reserve,
}

/// The result of one commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Lines that it put on disk.
    pub lines: usize,
    /// Their bytes.
    pub bytes: usize,
    /// How long its writes and syncs took.
    pub took: Duration,
    /// Whether all of it is on disk.
    pub is_whole: bool,
}

/// Called after every commit; it must not wait.
type OnCommit = Arc<dyn Fn(Commit) + Send + Sync>;

/// A journal open for writing; it is locked until this is dropped.
pub struct Store {
    folders: Folders,
    volumes: Vec<Volume>,
    active: usize,
    /// The home's disk hangs, and is not touched any more.
    main_hangs: bool,
    /// Says whose a turn is, where another one could go on in the fallback folder.
    claim: Option<Arc<Claim>>,
    clients: usize,
    events: Tail,
    risk: Tail,
    backlog: Backlog,
    day: Day,
    retried: Instant,
    looked: Instant,
    /// Whether a disk had no room, and none was made since.
    is_full: bool,
    shares: Shares,
    witness: Witness,
    /// What records were worth at least to be kept by the last commit.
    kept: Worth,
    /// The end of the risk journal, until an event says that it was seen.
    unseen: Option<Position>,
    /// Ends of files that are not under their names as they were left.
    left: Vec<Position>,
    /// What is not where it belongs, for the user.
    displaced: Option<String>,
    /// Another service that has taken the lock, by its process id where that is known.
    taken: Option<Option<u32>>,
    faults: Faults,
    health: Arc<Health>,
    index: Arc<Index>,
    /// The events on disk that the index is not told of yet, each with its end.
    unindexed: Vec<(Vec<Entry>, Position)>,
    on_commit: Option<OnCommit>,
    written: Commit,
    event_lines: Encoded,
    risk_lines: Encoded,
    lock: Option<Flock<File>>,
}

/// The parts of a verified journal that a store writes on.
pub(super) struct Parts {
    pub(super) folders: Folders,
    pub(super) events: Tail,
    pub(super) risk: Tail,
    pub(super) witness: Witness,
    pub(super) clients: usize,
    pub(super) faults: Faults,
    pub(super) index: Arc<Index>,
    pub(super) lock: Flock<File>,
}

impl Store {
    pub(super) fn new(parts: Parts) -> Result<Store, OpenError> {
        let Parts { folders, events, risk, witness, clients, faults, index, lock } = parts;
        let (mut volumes, mut is_full) = (Vec::new(), false);
        for folder in folders.all() {
            let held = File::open(folder.path()).map_err(OpenError::io(folder.path()))?;
            let (redo, reserve) = (Redo::open(folder)?, Reserve::none());
            let mut volume = Volume { folder: folder.clone(), held, redo, reserve };
            // A disk too full for the reserve is shown by the health; it does not keep exits from being journaled.
            let held = volume.reserve.refill(folder, &faults);
            is_full = is_full || volumes.is_empty() && held.is_err_and(|error| no_space(&error));
            volumes.push(volume);
        }
        let unseen = risk.confirmed();
        let mut store = Store {
            folders,
            volumes,
            active: 0,
            main_hangs: false,
            claim: None,
            clients,
            events,
            risk,
            backlog: Backlog::default(),
            day: day_of(0),
            retried: Instant::now(),
            looked: Instant::now(),
            is_full,
            shares: Shares::new(clients),
            witness,
            kept: Worth::Told,
            unseen,
            left: Vec::new(),
            displaced: None,
            taken: None,
            faults,
            health: Arc::default(),
            index,
            unindexed: Vec::new(),
            on_commit: None,
            written: Commit::default(),
            event_lines: Encoded::default(),
            risk_lines: Encoded::default(),
            lock: Some(lock),
        };
        store.look();
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

    /// Calls `tell` after every commit; it must not wait.
    pub fn on_commit(&mut self, tell: impl Fn(Commit) + Send + Sync + 'static) {
        self.on_commit = Some(Arc::new(tell));
    }

    pub(super) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Writes records and waits until they are on disk. `at_ms`: the time now (epoch milliseconds).
    pub fn append(&mut self, at_ms: u64, events: Vec<Line>, risk: Vec<RiskLine>) -> Result<(), Arc<JournalError>> {
        check(&events, &risk)?;
        let before = self.unwritten();
        self.take(events, risk, Worth::Own);
        self.commit(day_of(at_ms), before)
    }

    /// The records waiting already, before a group is taken.
    pub(super) fn unwritten(&self) -> Unwritten {
        self.backlog.unwritten()
    }

    /// Takes records that were checked, to be written by the next commit.
    pub(super) fn take(&mut self, events: Vec<Line>, risk: Vec<RiskLine>, worth: Worth) {
        self.backlog.take(events, risk, worth);
    }

    /// Writes all that was taken. On failure it is kept for the next commit, unless it is too much: then what was
    /// taken since `before` is dropped.
    pub(super) fn commit(&mut self, day: Day, before: Unwritten) -> Result<(), Arc<JournalError>> {
        let begun = Instant::now();
        let done = self.try_commit(day, before);
        let commit = Commit { took: begun.elapsed(), is_whole: done.is_ok(), ..std::mem::take(&mut self.written) };
        if let Some(tell) = &self.on_commit {
            tell(commit);
        }
        self.index_at_once();
        done
    }

    fn try_commit(&mut self, day: Day, before: Unwritten) -> Result<(), Arc<JournalError>> {
        self.day = self.day.max(day);
        self.kept = Worth::Told;
        self.look_at_places();
        if let Err(error) = self.check_lock() {
            self.backlog.refused(before);
            return Err(Arc::new(error));
        }
        let mut tries = TRIES;
        while let Err(failure) = self.attempt() {
            if self.remedy(&failure.error, &mut tries) {
                continue;
            }
            if self.is_full && self.backlog.worth() <= Worth::Told {
                // Nothing depends on these, and the reserve is whole.
                self.keep(Worth::Exit(None));
                if self.backlog.is_empty() {
                    self.show_health();
                    return Err(Arc::new(self.no_room()));
                }
            }
            self.backlog.refused(before);
            let error = JournalError::Disk { path: failure.path, error: failure.error };
            self.health.set(Condition::Failing, Some(error.to_string()));
            return Err(Arc::new(error));
        }
        self.backlog.written();
        self.show_health();
        Ok(())
    }

    /// Whether another try makes sense, after doing what makes sense of it.
    fn remedy(&mut self, error: &io::Error, tries: &mut u8) -> bool {
        let last = self.active + 1 >= self.volumes.len();
        let full = no_space(error);
        let Some(volume) = self.volumes.get_mut(self.active) else { return false };
        if full {
            self.is_full = last;
            self.health.set_full(last);
            if let Some(least) = volume.reserve.give_up(&volume.folder, self.backlog.worth()) {
                self.keep(least);
                return true;
            }
        }
        if !full && *tries > 0 {
            *tries -= 1;
            return true;
        }
        if last || !self.claims_fallback() {
            return false;
        }
        let Some(volume) = self.volumes.get_mut(self.active) else { return false };
        // The batch that this redo file names is written again in the other folder. If the file cannot be overwritten, the
        // next start completes the batch here, and the header of the file in the other folder leaves it out.
        let _overruled = volume.redo.forget();
        self.active += 1;
        self.events.leave_file();
        self.risk.leave_file();
        *tries = TRIES;
        true
    }

    /// Lets go of all that is worth less.
    fn keep(&mut self, least: Worth) {
        self.kept = self.kept.max(least);
        self.backlog.drop_below(least);
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
            self.unseen = self.risk.confirmed();
            self.backlog.risk.clear();
        }
        Ok(())
    }

    fn plan_events(&mut self) -> Result<Option<Plan>, Failure> {
        if self.backlog.events.is_empty() {
            return Ok(None);
        }
        let plan = self.events.plan(self.day).map_err(|error| self.failure(error))?;
        let mut texts = self.backlog.events.iter().map(|line| line.text.as_str());
        let seen = self.unseen.as_ref().and_then(|risk| Some(with_seen(texts.next()?, risk)));
        let encoded = plan.encode(seen.as_deref().into_iter().chain(texts), &mut self.event_lines);
        encoded.map_err(|fault| self.failure(io::Error::other(fault)))?;
        Ok(Some(plan))
    }

    /// Risk records get the places that the events will have when they are written as planned.
    fn plan_risk(&mut self, events: Option<&Plan>) -> Result<Option<Plan>, Failure> {
        if self.backlog.risk.is_empty() {
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
            .backlog
            .risk
            .iter()
            .map(|record| with_position(&record.text, record.after.and_then(position_after).as_ref()))
            .collect();
        let plan = self.risk.plan(self.day).map_err(|error| self.failure(error))?;
        let encoded = plan.encode(texts.iter().map(String::as_str), &mut self.risk_lines);
        encoded.map_err(|fault| self.failure(io::Error::other(fault)))?;
        Ok(Some(plan))
    }

    /// Takes note of the events now on disk.
    fn events_written(&mut self, plan: &Plan, before: Option<&Position>) {
        let segment = plan.segment;
        let mut positions = Vec::with_capacity(self.event_lines.records.len());
        for (line, (start, end, chain)) in self.backlog.events.iter().zip(&self.event_lines.records) {
            let position = Position { segment, offset: *end, chain: *chain };
            self.unindexed.push((entries(&line.keys, Location { segment, offset: *start }).collect(), position));
            positions.push(position);
        }
        self.unseen = None;
        self.backlog.events_written(&positions, before);
    }

    fn failure(&self, error: io::Error) -> Failure {
        Failure { path: self.folders.main.path().to_owned(), error }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.witness.tell(self.events.confirmed());
        self.index.close();
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
