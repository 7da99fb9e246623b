//! One read's times, as the schedule keeps them.

use crate::service::venue_io::read_task::Task;

/// One task's times.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub(super) task: Task,
    pub(super) due_steady_ms: u64,
    /// A thread is at it.
    pub(super) is_busy: bool,
    /// Another one may begin then beside the thread that is at it.
    pub(super) beside_steady_ms: u64,
    /// When the newest read began that was answered.
    pub(super) answered_steady_ms: u64,
    /// It was answered once.
    pub(super) is_known: bool,
    /// A read does not overdraw the share again before this.
    pub(super) overdraft_from_ms: u64,
    /// From when on a steady read that overdraws it is one at its own pace, however many came out of turn meanwhile.
    pub(super) sight_from_ms: u64,
    /// How often it has failed in a row.
    pub(super) failures: u32,
    /// When the last read began.
    pub(super) begun_steady_ms: u64,
    /// From when on the next read is no early one: its interval after the last one that was answered.
    pub(super) steady_from_ms: u64,
    /// The next read does not begin before this.
    pub(super) not_before_steady_ms: u64,
    /// Its interval without a live feed.
    pub(super) every_ms: u64,
    /// The next one is for cover or a flatten.
    pub(super) is_urgent: bool,
    /// The next one is for a flatten, or a halt is made sure of by it: what is kept for that is its.
    pub(super) is_for_halt: bool,
    /// When it was wanted sooner last.
    pub(super) wanted_steady_ms: u64,
    /// The next one is for the live feed: it is paid from the floor of the steady reads, however soon it comes.
    pub(super) is_for_feed: bool,
    /// The last try began without room.
    pub(super) is_short: bool,
}

impl Due {
    /// When the next try may begin.
    pub(super) fn next_steady_ms(&self) -> u64 {
        if self.is_busy { self.beside_steady_ms } else { self.due_steady_ms }
    }

    pub(super) fn put_off(&mut self, until_steady_ms: u64) {
        if self.is_busy {
            self.beside_steady_ms = until_steady_ms;
        } else {
            self.due_steady_ms = until_steady_ms;
        }
    }
}
