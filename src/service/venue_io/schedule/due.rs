//! One read's times, as the schedule keeps them, and its tries.

use crate::service::venue_io::read_task::{Lane, TRIES, TURN_MS, Task};

/// One task's times.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub(super) task: Task,
    pub(super) due_steady_ms: u64,
    /// A thread is at it.
    pub(super) is_busy: bool,
    /// Another one may begin then beside the thread that is at it.
    pub(super) beside_steady_ms: u64,
    /// As many tries are under way, those that count no more among them.
    pub(super) under_way: usize,
    /// As many have begun since one of them began with none beside it.
    pub(super) tries: usize,
    /// The tries that began since then are all for the same: the answer to any of them will do.
    pub(super) same_from_ms: u64,
    /// What the next try is for has come up since the last one began: no answer to what was asked before will do.
    pub(super) is_new: bool,
    /// The last try was for a halt or a flatten, or may be soon, and so is another one beside it.
    pub(super) was_urgent: bool,
    pub(super) was_for_halt: bool,
    /// A try that began before this counts no more: one that began later was answered, or one that was for the same.
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
    /// None is under way.
    pub(super) fn new(task: Task, due_steady_ms: u64) -> Self {
        Self {
            task,
            due_steady_ms,
            is_busy: false,
            beside_steady_ms: u64::MAX,
            under_way: 0,
            tries: 0,
            same_from_ms: 0,
            is_new: true,
            was_urgent: false,
            was_for_halt: false,
            answered_steady_ms: 0,
            is_known: false,
            overdraft_from_ms: 0,
            sight_from_ms: 0,
            failures: 0,
            begun_steady_ms: 0,
            wanted_steady_ms: 0,
            is_for_feed: false,
            is_short: false,
            steady_from_ms: 0,
            not_before_steady_ms: 0,
            every_ms: u64::MAX,
            is_urgent: due_steady_ms == 0,
            is_for_halt: false,
        }
    }

    /// When the next try may begin.
    pub(super) fn next_steady_ms(&self) -> u64 {
        match self.is_busy {
            _ if self.under_way >= TRIES => u64::MAX,
            true => self.beside_steady_ms,
            false => self.due_steady_ms,
        }
    }

    /// The read as its next try is: one beside another is for what that is for as well.
    pub(super) fn as_next(&self) -> Self {
        let is_again = self.is_again();
        Self {
            is_urgent: self.is_urgent || is_again && self.was_urgent,
            is_for_halt: self.is_for_halt || is_again && self.was_for_halt,
            ..*self
        }
    }

    /// Whether the next try begins beside one that is late, because something waits for it.
    pub(super) fn is_again(&self) -> bool {
        self.is_busy && self.task.lane() == Lane::Basis
    }

    /// Takes note that a try begins. From here on it is wanted anew: what is being asked may be older than what calls for it.
    /// A steady read has another one beside it whenever it is late. Of the others so has one that something waits for, and
    /// only a few together: a venue that answers none of them is left alone for a while.
    pub(super) fn begin(&mut self, steady_ms: u64, is_urgent: bool, is_for_halt: bool) {
        self.tries = if self.is_busy { self.tries.saturating_add(1) } else { 1 };
        self.under_way = self.under_way.saturating_add(1);
        if self.is_new {
            (self.is_new, self.same_from_ms) = (false, steady_ms);
        }
        (self.is_busy, self.due_steady_ms, self.begun_steady_ms) = (true, u64::MAX, steady_ms);
        (self.is_urgent, self.is_for_halt, self.is_for_feed) = (false, false, false);
        (self.was_urgent, self.was_for_halt) = (is_urgent, is_for_halt);
        self.beside_steady_ms = u64::MAX;
        if self.task.lane().is_steady() || !self.is_known || is_urgent {
            self.await_another(steady_ms);
        }
    }

    /// Something waits for what is being read: where that is late another try begins beside it.
    pub(super) fn await_another(&mut self, steady_ms: u64) {
        let lane = self.task.lane();
        if self.is_busy && (lane.is_steady() || lane == Lane::Basis && self.tries < TRIES) {
            let late_steady_ms = self.begun_steady_ms.saturating_add(TURN_MS);
            self.beside_steady_ms = self.beside_steady_ms.min(steady_ms.max(late_steady_ms));
        }
    }

    /// Whether this answer will do for all that is being asked: nothing has come up since that it may be too old for.
    pub(super) fn is_enough(&self, begun_steady_ms: u64) -> bool {
        self.task.lane() == Lane::Basis && !self.is_new && begun_steady_ms >= self.same_from_ms
    }

    /// Such an answer has come: the other tries count no more, and what the next one is for is yet to come up.
    pub(super) fn overtake_all(&mut self) {
        self.answered_steady_ms = self.begun_steady_ms.saturating_add(1);
        (self.is_new, self.due_steady_ms) = (true, u64::MAX);
    }

    pub(super) fn put_off(&mut self, until_steady_ms: u64) {
        if self.is_busy {
            self.beside_steady_ms = until_steady_ms;
        } else {
            self.due_steady_ms = until_steady_ms;
        }
    }
}
