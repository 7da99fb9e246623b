//! Who a turn at the disk belongs to: the store whose turn it is, until it is done with it; or who gave that store up meanwhile and
//! does the turn again in the fallback folder. One of the two, whatever the disk does and when.

use std::sync::atomic::{AtomicU8, Ordering};

const AT_WORK: u8 = 0;
const DONE: u8 = 1;
const MOVED: u8 = 2;
const GIVEN_UP: u8 = 3;

/// Shared by the store at the home's disk and by who waits for it.
#[derive(Debug, Default)]
pub(in crate::journal) struct Claim(AtomicU8);

impl Claim {
    fn change(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The next turn begins.
    pub(in crate::journal) fn begin(&self) {
        self.change(DONE, AT_WORK);
    }

    /// The store is done with its turn; false where that is somebody else's by now.
    pub(super) fn is_done(&self) -> bool {
        self.change(AT_WORK, DONE) || self.0.load(Ordering::Acquire) != GIVEN_UP
    }

    /// The store goes on in the fallback folder by itself, after an error.
    pub(super) fn moves(&self) -> bool {
        self.change(AT_WORK, MOVED)
    }

    /// Another one goes on there, for a turn that is not done.
    pub(super) fn gives_up(&self) -> bool {
        self.change(AT_WORK, GIVEN_UP)
    }

    /// Whether the turn may be given up as it stands now.
    pub(super) fn is_at_work(&self) -> bool {
        self.0.load(Ordering::Acquire) == AT_WORK
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.0.load(Ordering::Acquire) == GIVEN_UP
    }
}
