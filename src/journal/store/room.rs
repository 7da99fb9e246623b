//! The room that a disk has left, and what it is kept for: who is refused, what is tried again, and how it is told.

use std::time::{Duration, Instant};

use super::Store;
use crate::journal::batch::Worth;
use crate::journal::error::JournalError;
use crate::journal::health::Condition;
use crate::journal::space::Space;

/// How often a reserve that was given up, or the backlog, is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// How often the disk's free space is looked at.
const LOOK: Duration = Duration::from_secs(5);

impl Store {
    /// Refuses records of this size that what is left of a full disk is not for.
    pub(in crate::journal) fn admit(&mut self, worth: Worth, bytes: usize) -> Result<(), JournalError> {
        let least = self.volumes.get(self.active).map_or(Worth::Told, |volume| volume.reserve.least());
        let is_admitted = match worth {
            // It waits, and takes nothing.
            _ if !self.is_full || worth == Worth::Later => true,
            Worth::Exit(Some(client)) if worth >= least => self.shares.take(client, bytes),
            _ => worth >= least.max(Worth::Exit(None)),
        };
        if is_admitted { Ok(()) } else { Err(self.no_room()) }
    }

    /// Whether the last commit kept records that are worth this.
    pub(in crate::journal) fn let_go(&self, worth: Worth) -> Result<(), JournalError> {
        if worth != Worth::Later && worth < self.kept { Err(self.no_room()) } else { Ok(()) }
    }

    pub(super) fn no_room(&self) -> JournalError {
        let folder = self.volumes.get(self.active).map_or(self.folders.main.path(), |volume| volume.folder.path());
        JournalError::NoRoom(folder.to_owned())
    }

    /// Whether the backlog or the reserve is to be tried again although nothing new arrives.
    pub(in crate::journal) fn needs_retry(&self) -> bool {
        self.health.condition() != Condition::Good
    }

    /// Once a second while something is wrong: writes the backlog and allocates the reserve again.
    pub(in crate::journal) fn retry_backlog(&mut self) {
        if !self.needs_retry() || self.retried.elapsed() < RETRY {
            return;
        }
        self.retried = Instant::now();
        self.look_at_places();
        if !self.backlog.is_empty() {
            let before = self.unwritten();
            // Its failure is in the health; nobody waits for these records any more.
            let _shown = self.commit(self.day, before);
        }
        if let Some(volume) = self.volumes.get_mut(self.active) {
            let _shown_below = volume.reserve.refill(&volume.folder, &self.faults);
            let room = Space::of(volume.folder.path()).is_none_or(|space| !space.is_full());
            self.is_full = self.is_full && !(room && volume.reserve.held());
        }
        if !self.is_full {
            self.shares.restore();
        }
        if self.backlog.is_empty() {
            self.show_health();
        }
    }

    /// Looks at the disk's free space every few seconds.
    pub(in crate::journal) fn look_at_space(&mut self) {
        if self.looked.elapsed() >= LOOK {
            self.look();
        }
    }

    pub(super) fn look(&mut self) {
        self.looked = Instant::now();
        let folder = self.volumes.get(self.active).map(|volume| volume.folder.path());
        let low = folder.and_then(|folder| Space::of(folder)?.warning(folder));
        self.health.set_low_space(low);
    }

    /// Shows how things stand after a success.
    pub(super) fn show_health(&self) {
        self.health.set_full(self.is_full);
        if let Err(error) = self.check_lock() {
            return self.health.set(Condition::Failing, Some(error.to_string()));
        }
        let volume = self.volumes.get(self.active);
        match volume {
            _ if self.displaced.is_some() => self.health.set(Condition::Degraded, self.displaced.clone()),
            Some(volume) if self.active > 0 || self.main_hangs => self.health.set(
                Condition::Degraded,
                Some(format!(
                    "{}the journal is written to its fallback folder {}: put {} back, or repair its disk, and restart the service",
                    if self.main_hangs { "the journal's disk does not answer: " } else { "" },
                    volume.folder.path().display(),
                    self.folders.main.path().display()
                )),
            ),
            Some(volume) if self.is_full || !volume.reserve.held() => self.health.set(
                Condition::Degraded,
                Some(format!(
                    "the disk of {} is full: what is left is kept for closing; make space",
                    volume.folder.path().display()
                )),
            ),
            _ => self.health.set(Condition::Good, None),
        }
    }
}
