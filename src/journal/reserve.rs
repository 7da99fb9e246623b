//! A file of real blocks that is given up when the disk is full, so that exits, cover and closes can still be journaled.

use std::io;

use super::folder::{Folder, remove};
use crate::faults::{Faults, Step};

const NAME: &str = "reserve";

/// Bytes kept back: thousands of events.
const SIZE: i64 = 1024 * 1024;

/// The reserve of one folder.
pub(crate) struct Reserve {
    held: bool,
}

impl Reserve {
    /// Not held; see [`Reserve::refill`].
    pub(crate) fn none() -> Reserve {
        Reserve { held: false }
    }

    /// Whether the space is kept back now.
    pub(crate) fn held(&self) -> bool {
        self.held
    }

    /// Allocates the reserve if it is not held.
    pub(crate) fn refill(&mut self, folder: &Folder, faults: &Faults) -> io::Result<()> {
        if self.held {
            return Ok(());
        }
        remove(&folder.join(NAME))?;
        let filled = faults.pass(Step::ReserveCreate).and_then(|()| {
            let file = folder.create(NAME, 0o644)?;
            nix::fcntl::posix_fallocate(&file, 0, SIZE)?;
            file.sync_all()
        });
        match filled {
            Ok(()) => self.held = true,
            // Half a reserve is no reserve, and it would take the space that it is there to give.
            Err(_) => remove(&folder.join(NAME))?,
        }
        filled
    }

    /// Gives the space up. False when there was none to give.
    pub(crate) fn give_up(&mut self, folder: &Folder) -> bool {
        std::mem::take(&mut self.held) && remove(&folder.join(NAME)).is_ok()
    }
}
