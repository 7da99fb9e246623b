//! A store in the fallback folder that goes on where one on a disk that hangs was given up. It touches nothing of the other disk.
//!
//! What the other one still puts there is of a turn that this one does again: the first line in the fallback folder says where
//! the journal goes on from, and that leaves it out, as after a write that failed.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{OnCommit, Store, Volume};
use crate::base::day::{Day, day_of};
use crate::faults::Faults;
use crate::journal::backlog::Backlog;
use crate::journal::batch::{Records, Worth, check, size};
use crate::journal::error::{JournalError, OpenError};
use crate::journal::folder::{Folder, Folders};
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
}

/// What a store in the fallback folder is made of.
pub(in crate::journal) struct Spare {
    folders: Folders,
    fallback: Folder,
    clients: usize,
    /// Whether the fallback folder was taken over: by the store itself after an error, or by another one after a hang.
    claim: Arc<AtomicBool>,
    /// What everybody sees, and what the store sees while it may be given up.
    health: Arc<Health>,
    of_store: Arc<Health>,
    index: Arc<Index>,
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
        let claim = Arc::<AtomicBool>::default();
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
            faults: self.faults.clone(),
            on_commit: self.on_commit.clone(),
        };
        Ok((Box::new(self), spare))
    }

    /// Where it stands.
    pub(in crate::journal) fn end(&self) -> End {
        End { events: self.events.end(), risk: self.risk.end(), unseen: self.unseen, day: self.day }
    }

    /// Whether another one goes on in its place.
    pub(in crate::journal) fn is_given_up(&self) -> bool {
        self.active == 0 && self.claim.as_ref().is_some_and(|claim| claim.load(Ordering::Acquire))
    }

    /// Whether it may go on in the fallback folder; one of two may.
    pub(super) fn claims_fallback(&self) -> bool {
        self.claim.as_ref().is_none_or(|claim| !claim.swap(true, Ordering::AcqRel))
    }
}

impl Spare {
    /// Shows everybody how the store stands.
    pub(in crate::journal) fn show(&self) {
        self.health.follow(&self.of_store);
    }

    /// Goes on from this end in the fallback folder. None where the store did so by itself, or the folder cannot be used.
    pub(in crate::journal) fn take_over(&self, end: &End) -> Option<Store> {
        let store = self.store(end).ok()?;
        let is_first = !self.claim.swap(true, Ordering::AcqRel);
        if is_first {
            self.index.keep_off_disk();
        }
        is_first.then_some(store)
    }

    fn store(&self, end: &End) -> Result<Store, OpenError> {
        let folder = self.fallback.clone();
        let held = File::open(folder.path()).map_err(OpenError::io(folder.path()))?;
        let mut volume = Volume { redo: Redo::open(&folder)?, folder, held, reserve: Reserve::none() };
        let _shown_by_the_health = volume.reserve.refill(&volume.folder, &self.faults);
        let now = Instant::now();
        Ok(Store {
            folders: self.folders.clone(),
            volumes: vec![volume],
            active: 0,
            main_hangs: true,
            claim: None,
            clients: self.clients,
            events: Tail::beyond(Stream::Events, end.events, end.day),
            risk: Tail::beyond(Stream::Risk, end.risk, end.day),
            backlog: Backlog::default(),
            day: end.day.max(day_of(0)),
            retried: now,
            looked: now,
            is_full: false,
            shares: Shares::new(self.clients),
            witness: Witness::new(None, None),
            kept: Worth::Told,
            unseen: end.unseen,
            left: Vec::new(),
            displaced: None,
            taken: None,
            faults: self.faults.clone(),
            health: Arc::clone(&self.health),
            index: Arc::clone(&self.index),
            on_commit: self.on_commit.clone(),
            written: super::Commit::default(),
            event_lines: Encoded::default(),
            risk_lines: Encoded::default(),
            // The other one holds it for as long as the service lives.
            lock: None,
        })
    }
}
