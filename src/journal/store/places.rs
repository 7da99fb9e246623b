//! Looks whether the journal still stands where it is written to, and goes on beside what does not: as on a failing disk,
//! what closes is recorded and sent, and nothing is opened.

use super::Store;
use crate::journal::error::{JournalError, OpenError};
use crate::journal::health::Condition;
use crate::journal::in_place::is_in_place;
use crate::journal::lock::{LOCK, lock};
use crate::journal::segment::{Position, chain_at};

impl Store {
    /// Looks at the folder, the files being written, and the lock.
    pub(in crate::journal) fn look_at_places(&mut self) {
        if self.main_hangs {
            self.witness.tell_if_due(self.events.confirmed());
            return;
        }
        let was_taken = self.taken.is_some();
        let displaced = self.displaced();
        if !self.is_full {
            self.witness.tell_if_due(self.events.confirmed());
        }
        let is_taken = !was_taken && self.taken.is_some();
        let is_news = self.displaced != displaced && self.health.condition() != Condition::Failing;
        self.displaced = displaced;
        if is_taken || is_news {
            self.show_health();
        }
    }

    /// Refuses to write beside another service, which goes on from the same place.
    pub(super) fn check_lock(&self) -> Result<(), JournalError> {
        match &self.taken {
            Some(pid) => {
                let pid = pid.map_or_else(|| "unknown".to_owned(), |pid| pid.to_string());
                let error = format!("another running service has taken this lock (pid {pid}): stop one of the two");
                let path = self.folders.main.join(LOCK);
                Err(JournalError::Disk { path, error: std::io::Error::other(error) })
            }
            None => Ok(()),
        }
    }

    /// What is not where it belongs, and what to do about it.
    fn displaced(&mut self) -> Option<String> {
        // Before the folder: a file must not be left for a folder that is moved meanwhile.
        let active = self.active;
        let folder = self.volumes.get(active)?.folder.clone();
        let displaced = [&self.events, &self.risk].map(|tail| tail.displaced(&folder));
        let is_there = self.is_folder_there();
        self.hold_lock(is_there);
        if !is_there {
            let text = format!(
                "the journal's folder {} was moved, removed or replaced: put it back; what is recorded meanwhile is lost where \
                 it was removed",
                folder.path().display()
            );
            return Some(text);
        }
        if self.active != active {
            return None;
        }
        let volume = self.volumes.get_mut(active)?;
        volume.redo.keep_in_place(&volume.folder);
        for (tail, end) in [&mut self.events, &mut self.risk].into_iter().zip(displaced) {
            if let Some(end) = end {
                tail.fray();
                self.left.push(end);
            }
        }
        let folders = &self.folders;
        let is_back = |place: &Position| {
            let file = folders.open(&place.segment.name()).ok().flatten();
            file.is_some_and(|(_, file)| chain_at(&file, place.offset).is_ok_and(|chain| chain == place.chain))
        };
        self.left.retain(|place| !is_back(place));
        let place = self.left.first()?;
        Some(format!(
            "{} was moved, removed, replaced or cut: put it back with all its lines, up to byte {}; no start goes on without",
            self.folders.main.join(&place.segment.name()).display(),
            place.offset
        ))
    }

    /// Whether the folder that is written to is there, after going on in the fallback folder where there is one.
    fn is_folder_there(&mut self) -> bool {
        while let Some(volume) = self.volumes.get(self.active) {
            if is_in_place(volume.folder.path(), &volume.held) {
                return true;
            }
            if self.active + 1 >= self.volumes.len() || !self.claims_fallback() {
                return false;
            }
            self.active += 1;
            self.events.fray();
            self.risk.fray();
        }
        false
    }

    /// Takes the lock anew where its file was removed, or another folder came with one of its own. Once another service has it,
    /// that one writes.
    fn hold_lock(&mut self, is_folder_there: bool) {
        let path = self.folders.main.join(LOCK);
        let is_needed = is_folder_there || path.exists();
        if self.taken.is_some() || !is_needed || self.lock.as_ref().is_none_or(|lock| is_in_place(&path, lock)) {
            return;
        }
        match lock(&self.folders.main) {
            Ok(lock) => self.lock = Some(lock),
            Err(OpenError::Locked { pid, .. }) => self.taken = Some(pid),
            // Tried again with the next look.
            Err(_) => {}
        }
    }
}
