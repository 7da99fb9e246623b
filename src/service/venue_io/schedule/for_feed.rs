//! The reads that the live feed waits for, which ends most of the others: they are paid from the guard's own floor where nothing
//! else is left, as often as a bucket allows, and the open orders leave them the room at their own pace.

use super::due::Due;
use super::{NOW_HASTE, Schedule};
use crate::guard::Pace;
use crate::service::venue_io::read_task::{HEAVY_WEIGHT, Task};
use crate::venue::weight::Priority;

/// The open orders and the fills.
const FOR_FEED: u32 = 2;
const MINUTE_MS: u64 = 60_000;

impl Schedule {
    /// How often a task is read with this live feed, which is `every_ms` without one, after a read that began then.
    pub(super) fn paced(&self, task: Task, every_ms: u64, begun_steady_ms: u64) -> u64 {
        let Pace { steady, beside, .. } = self.pace;
        let every_ms = if task == Task::Orders && self.gives_turn(every_ms, begun_steady_ms) {
            every_ms.saturating_mul(2)
        } else {
            every_ms
        };
        let audit_ms = match task {
            Task::Mids if steady => self.audits.prices_ms,
            Task::Account if steady => self.audits.account_ms,
            Task::Orders if steady => self.audits.orders_ms,
            Task::Universe | Task::Limits if beside => self.audits.seldom_ms,
            Task::Mode | Task::Ledger if beside => self.audits.rarely_ms,
            _ => return every_ms,
        };
        every_ms.max(audit_ms)
    }

    /// How many times as often as by themselves the open orders come where no bucket pays: a live feed tells of them as well.
    pub(super) fn orders_haste(&self) -> u64 {
        if self.pace.steady { 1 } else { NOW_HASTE }
    }

    /// What a read of the open orders leaves for those that a live feed waits for, or will once its socket is cut. One out of turn leaves
    /// a minute's turns as well: a bot that trades on would have the orders read at first, and not at all for the rest of the minute.
    pub(super) fn kept_for_feed(&self, due: &Due, steady_ms: u64) -> u32 {
        let is_asked_for = |fills: &Due| fills.is_known || fills.due_steady_ms < u64::MAX;
        let has_feed = self.due.iter().any(|due| due.task == Task::Fills && is_asked_for(due));
        if due.task != Task::Orders || due.is_for_feed || !has_feed || self.pace.pressing {
            return 0;
        }
        let turns = MINUTE_MS.checked_div(self.intervals.orders_ms).filter(|_| steady_ms < due.steady_from_ms);
        let turns = turns.and_then(|turns| u32::try_from(turns).ok()).unwrap_or_default();
        HEAVY_WEIGHT.saturating_mul(turns.saturating_add(FOR_FEED))
    }

    /// Whether a read out of turn takes no weight beyond its own, and waits for its turn without: the fills have found no room, and what
    /// such reads overdraw is theirs.
    pub(super) fn yields_to_fills(&self, due: &Due) -> bool {
        let is_short = self.due.iter().any(|fills| fills.task == Task::Fills && fills.is_short);
        due.task == Task::Orders && !due.is_for_feed && is_short && !self.pace.pressing
    }

    /// Whether the fills take the next turn of the open orders, which weigh as much: they have just begun, or find no room. Who
    /// reads on at full pace meanwhile spends what would end the reading. What a venue that fails is asked again takes none.
    fn gives_turn(&self, every_ms: u64, begun_steady_ms: u64) -> bool {
        self.due.iter().filter(|due| due.task == Task::Fills && due.begun_steady_ms > 0).any(|fills| {
            fills.is_short || fills.failures == 0 && begun_steady_ms < fills.begun_steady_ms.saturating_add(every_ms)
        })
    }

    /// Has all read that a new socket waits for. Account and open orders were wanted just before, in their turn: where the
    /// bucket pays for the orders both come at once, but for one that has begun since: the account weighs next to nothing.
    pub(super) fn want_for_feed(&mut self, steady_ms: u64) {
        self.hurry(Task::Fills, steady_ms);
        if !self.feed_reads.take(HEAVY_WEIGHT, steady_ms) {
            return;
        }
        let waits = self.due.iter_mut().filter(|due| matches!(due.task, Task::Account | Task::Orders));
        for due in waits.filter(|due| due.begun_steady_ms < due.wanted_steady_ms) {
            due.is_for_feed = true;
            due.due_steady_ms = due.due_steady_ms.min(steady_ms.max(due.not_before_steady_ms));
        }
    }

    /// Whether the fills that are begun now have to find room beside all that is kept for others: where there is none, the bucket
    /// pays for it from what is kept for the steady reads.
    pub(super) fn is_fills_early(&mut self, steady_ms: u64, wait_ms: impl Fn(Priority, u32) -> u64) -> bool {
        let is_free = wait_ms(Priority::EarlyRead, HEAVY_WEIGHT) == 0;
        let is_paid =
            !is_free && wait_ms(Priority::Read, HEAVY_WEIGHT) == 0 && self.feed_reads.take(HEAVY_WEIGHT, steady_ms);
        self.due
            .iter_mut()
            .filter(|due| due.task == Task::Fills)
            .for_each(|fills| fills.is_short = !is_free && !is_paid);
        !is_paid
    }
}
