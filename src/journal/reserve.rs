//! Files of real blocks that are given up when the disk is full, so that exits, cover and closes can still be journaled:
//! first one that clients' exits may use, and last one for the guard's own alone, so that no client can use it up.

use std::io;

use super::batch::Worth;
use super::folder::{Folder, remove};
use crate::faults::{Faults, Step};

/// Bytes kept back in each part: thousands of events.
const SIZE: i64 = 1024 * 1024;

/// The reserve of one folder.
pub(crate) struct Reserve([Part; 2]);

struct Part {
    name: &'static str,
    /// What records must be worth to use it.
    least: Worth,
    held: bool,
}

impl Reserve {
    /// Not held; see [`Reserve::refill`].
    pub(crate) fn none() -> Reserve {
        let part = |name, least| Part { name, least, held: false };
        Reserve([part("reserve", Worth::Exit), part("reserve-own", Worth::Own)])
    }

    /// Whether all of the space is kept back now.
    pub(crate) fn held(&self) -> bool {
        self.0.iter().all(|part| part.held)
    }

    /// Allocates what is not held, the last part first.
    pub(crate) fn refill(&mut self, folder: &Folder, faults: &Faults) -> io::Result<()> {
        self.0.iter_mut().rev().try_for_each(|part| part.refill(folder, faults))
    }

    /// Gives up the next part, if `worth` is enough for it: what records must be worth to use it. None when there was none
    /// to give.
    pub(crate) fn give_up(&mut self, folder: &Folder, worth: Worth) -> Option<Worth> {
        let next = self.0.iter_mut().find(|part| part.held).filter(|part| worth >= part.least)?;
        next.held = false;
        remove(&folder.join(next.name)).ok().map(|()| next.least)
    }

    /// What records must be worth to be written now.
    pub(crate) fn least(&self) -> Worth {
        let used = self.0.iter().rev().find(|part| !part.held);
        used.map_or(Worth::Told, |part| part.least)
    }
}

impl Part {
    fn refill(&mut self, folder: &Folder, faults: &Faults) -> io::Result<()> {
        if self.held {
            return Ok(());
        }
        remove(&folder.join(self.name))?;
        let filled = faults.pass(Step::ReserveCreate).and_then(|()| {
            let file = folder.create(self.name, 0o644)?;
            nix::fcntl::posix_fallocate(&file, 0, SIZE)?;
            file.sync_all()
        });
        match filled {
            Ok(()) => self.held = true,
            // Half a reserve is no reserve, and it would take the space that it is there to give.
            Err(_) => remove(&folder.join(self.name))?,
        }
        filled
    }
}
