//! Files of real blocks that are given up when the disk is full, so that exits, cover and closes can still be journaled:
//! first one that clients' exits may use, each client a part of it, and last one for the guard's own alone, so that no client can use it up.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;

use super::batch::Worth;
use super::folder::{Folder, remove};
use crate::base::address::Address;
use crate::faults::{Faults, Step};

/// Bytes kept back in each part: thousands of events.
const SIZE: i64 = 1024 * 1024;

/// The least that each client may use of the part for exits: a few events.
const LEAST: u64 = 4 * 1024;

/// What clients have used of the part for exits while their disk is full. Half of it is theirs in equal parts; the rest is for what
/// becomes of what they sent.
pub(crate) struct Shares {
    each: u64,
    used: BTreeMap<Address, u64>,
}

impl Shares {
    /// For so many clients.
    pub(crate) fn new(clients: usize) -> Shares {
        let clients = u64::try_from(clients).unwrap_or(u64::MAX).max(1);
        let half = SIZE.unsigned_abs() / 2;
        Shares { each: half.checked_div(clients).unwrap_or_default().max(LEAST), used: BTreeMap::new() }
    }

    /// Takes so many bytes of a client's part, if that holds them.
    pub(crate) fn take(&mut self, client: Address, bytes: usize) -> bool {
        let used = self.used.entry(client).or_default();
        let after = used.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        let fits = after <= self.each;
        if fits {
            *used = after;
        }
        fits
    }

    /// The disk has room again.
    pub(crate) fn restore(&mut self) {
        self.used.clear();
    }
}

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
        Reserve([part("reserve", Worth::Exit(None)), part("reserve-own", Worth::Own)])
    }

    /// Whether all of the space is kept back now.
    pub(crate) fn held(&self) -> bool {
        self.0.iter().all(|part| part.held)
    }

    /// Allocates what is not held, the last part first. What stands there whole is held as it is: beside others who take every
    /// byte that comes free it would not be made again.
    pub(crate) fn refill(&mut self, folder: &Folder, faults: &Faults) -> io::Result<()> {
        self.0.iter_mut().rev().map(|part| part.refill(folder, faults)).fold(Ok(()), io::Result::and)
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
        self.held = self.held || is_whole(folder, self.name);
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

/// Whether a file of this name has all its blocks.
fn is_whole(folder: &Folder, name: &str) -> bool {
    let there = folder.open(name, false).ok().flatten().and_then(|file| file.metadata().ok());
    let size = SIZE.unsigned_abs();
    there.is_some_and(|there| there.len() == size && there.blocks().saturating_mul(512) >= size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_part_of_what_is_for_exits() {
        let (one, other) = (Address([1; 20]), Address([2; 20]));
        let part = 256 * 1024;
        let mut shares = Shares::new(2);
        assert!(shares.take(one, part) && !shares.take(one, 1));
        assert!(!shares.take(other, part + 1) && shares.take(other, part));
        shares.restore();
        assert!(shares.take(one, part));
        // However many they are, each can tell of an exit or two.
        let mut shares = Shares::new(256);
        assert!(shares.take(one, 4096) && !shares.take(one, 1));
        assert!(Shares::new(0).take(one, 2 * part));
    }
}
