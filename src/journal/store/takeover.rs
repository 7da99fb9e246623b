//! A store in the fallback folder that goes on where one on a disk that hangs was given up. It touches nothing of the other disk.
//!
//! What the other one still puts there is of a turn that this one does again: the first line in the fallback folder says where
//! the journal goes on from, and that leaves it out, as after a write that failed.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::claim::Claim;
use super::{OnCommit, Store, Volume};
use crate::base::day::Day;
use crate::faults::Faults;
use crate::journal::backlog::Backlog;
use crate::journal::batch::{Records, Worth, check, size};
use crate::journal::error::{JournalError, OpenError};
use crate::journal::folder::Folder;
use crate::journal::folders::Folders;
use crate::journal::health::Health;
use crate::journal::index::Index;
use crate::journal::redo::Redo;
use crate::journal::reserve::{Reserve, Shares};
use crate::journal::segment::{Position, Stream};
use crate::journal::tail::{Encoded, Tail, TailEnd};
use crate::journal::witness::Witness;

/// Where a store stands between two turns.
#[derive(Clone, Copy)]
pub(in crate::journal) struct End {
    events: TailEnd,
    risk: TailEnd,
    unseen: Option<Position>,
    day: Day,
    /// Another service has taken the lock.
    is_taken: bool,
}

/// What a store in the fallback folder is made of.
pub(in crate::journal) struct Spare {
    folders: Folders,
    fallback: Folder,
    clients: usize,
    claim: Arc<Claim>,
    /// What everybody sees, and what the store sees while it may be given up.
    health: Arc<Health>,
    of_store: Arc<Health>,
    index: Arc<Index>,
    /// The file that says where the events end.
    witness: Option<PathBuf>,
    faults: Faults,
    on_commit: Option<OnCommit>,
}

impl Store {
    /// Puts the records of a group on disk; what became of each of its batches.
    pub(in crate::journal) fn write(&mut self, day: Day, group: Vec<Records>) -> Vec<Result<(), Arc<JournalError>>> {
        let (before, mut bytes) = (self.unwritten(), 0);
        let mut checked = Vec::with_capacity(group.len());
        for Records { events, risk, worth } in group {
            let worth = if risk.is_empty() || worth == Worth::Later { worth } else { Worth::Own };
            let length = size(&events, &risk);
            let result = check(&events, &risk).and_then(|()| self.admit(worth, length));
            if result.is_ok() {
                bytes += length;
                self.take(events, risk, worth);
            }
            checked.push((worth, result));
        }
        let written = if bytes > 0 { self.commit(day, before) } else { Ok(()) };
        let released = checked.into_iter().map(|(worth, result)| {
            // What the commit let go of for the sake of others is refused, whatever became of those.
            let result = result.and_then(|()| if bytes > 0 { self.let_go(worth) } else { Ok(()) });
            result.map_err(Arc::new).and_then(|()| written.clone())
        });
        released.collect()
    }

    /// The store and what takes its place where its disk hangs; the store alone where no fallback folder stands by.
    pub(in crate::journal) fn with_spare(mut self) -> Result<(Box<Store>, Spare), Box<Store>> {
        let Some(fallback) = self.folders.fallback.clone().filter(|_| self.active == 0) else {
            return Err(Box::new(self));
        };
        let claim = Arc::<Claim>::default();
        self.claim = Some(Arc::clone(&claim));
        let health = std::mem::take(&mut self.health);
        self.health.follow(&health);
        let spare = Spare {
            folders: self.folders.clone(),
            fallback,
            clients: self.clients,
            claim,
            health,
            of_store: Arc::clone(&self.health),
            index: Arc::clone(&self.index),
            witness: self.witness.path(),
            faults: self.faults.clone(),
            on_commit: self.on_commit.clone(),
        };
        Ok((Box::new(self), spare))
    }

    /// Where it stands.
    pub(in crate::journal) fn end(&self) -> End {
        let is_taken = self.taken.is_some();
        End { events: self.events.end(), risk: self.risk.end(), unseen: self.unseen, day: self.day, is_taken }
    }

    /// Whether another one goes on in its place.
    pub(in crate::journal) fn is_given_up(&self) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.is_given_up())
    }

    /// Its turn is done, and what it put on disk can be looked up; unless another one does that turn again.
    pub(in crate::journal) fn conclude(&mut self) {
        if self.claim.as_ref().is_some_and(|claim| claim.is_done()) {
            self.tell_index();
        }
    }

    /// Where nobody else could do the turn there is nothing to wait for.
    pub(super) fn index_at_once(&mut self) {
        if self.claim.is_none() {
            self.tell_index();
            self.write_index();
        }
    }

    /// Lets the index write what it has gathered: its disk may hang.
    pub(in crate::journal) fn write_index(&self) {
        self.index.write_full();
    }

    fn tell_index(&mut self) {
        for (entries, end) in self.unindexed.drain(..) {
            self.index.add(entries.into_iter(), end);
        }
    }

    /// Whether it may go on in the fallback folder; one of two may. A disk that failed may hang next: the index is not worth that.
    pub(super) fn claims_fallback(&self) -> bool {
        let may_move = self.claim.as_ref().is_none_or(|claim| claim.moves());
        if may_move {
            self.index.keep_off_disk();
        }
        may_move
    }
}

impl Spare {
    /// Shows everybody how the store stands.
    pub(in crate::journal) fn show(&self) {
        self.health.follow(&self.of_store);
    }

    /// The next turn of the store begins.
    pub(in crate::journal) fn begin(&self) {
        self.claim.begin();
    }

    /// Goes on from this end in the fallback folder, with a turn of this day. None where the store did so by itself or is done with
    /// its turn, where another service writes the journal, or where the folder cannot be used.
    pub(in crate::journal) fn take_over(&self, end: &End, day: Day) -> Option<Store> {
        if end.is_taken || !self.claim.is_at_work() {
            return None;
        }
        let volume = self.volume().ok()?;
        if !self.claim.gives_up() {
            return None;
        }
        self.index.keep_off_disk();
        Some(self.store(end, day.max(end.day), volume))
    }

    fn volume(&self) -> Result<Volume, OpenError> {
        let folder = self.fallback.clone();
        let held = File::open(folder.path()).map_err(OpenError::io(folder.path()))?;
        let mut volume = Volume { redo: Redo::open(&folder)?, folder, held, reserve: Reserve::none() };
        let _shown_by_the_health = volume.reserve.refill(&volume.folder, &self.faults);
        Ok(volume)
    }

    fn store(&self, end: &End, day: Day, volume: Volume) -> Store {
        let now = Instant::now();
        Store {
            folders: self.folders.clone(),
            volumes: vec![volume],
            active: 0,
            main_hangs: true,
            claim: None,
            clients: self.clients,
            events: Tail::beyond(Stream::Events, end.events, day),
            risk: Tail::beyond(Stream::Risk, end.risk, day),
            backlog: Backlog::default(),
            day,
            retried: now,
            looked: now,
            is_full: false,
            shares: Shares::new(self.clients),
            witness: Witness::beside(self.witness.clone()),
            kept: Worth::Told,
            unseen: end.unseen,
            left: Vec::new(),
            displaced: None,
            taken: None,
            faults: self.faults.clone(),
            health: Arc::clone(&self.health),
            index: Arc::clone(&self.index),
            unindexed: Vec::new(),
            on_commit: self.on_commit.clone(),
            written: super::Commit::default(),
            event_lines: Encoded::default(),
            risk_lines: Encoded::default(),
            // The other one holds it for as long as the service lives.
            lock: None,
        }
    }
}
