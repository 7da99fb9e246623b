//! When what is read: each on its interval, and sooner where something calls for it.
//!
//! Sooner costs more. A bot that sends without a pause calls for a read after every answer, and such reads would spend the
//! minute's weight that its own entries need. So they are held together and apart, and paid from a token bucket:
//! while it holds enough a read comes at once, else it comes later, and no later than its interval brings it.
//!
//! The last eighth of what the address has in a minute is for the prices and the account, whoever has spent the rest: they
//! come more seldom in it, and what weighs more waits.
//!
//! All times here are of the steady clock, which never steps.

use self::due::Due;
use super::intervals::{Audits, Intervals};
use super::read_task::{HEAVY_WEIGHT, Lane, Task};
use super::token_bucket::TokenBucket;
use super::venue_reads::ReadFor;
use crate::base::ip_share::IP_BUDGET;
use crate::guard::{Pace, Read};
use crate::venue::weight::Priority;

mod due;
mod for_feed;
mod held_back;

/// Reads of the same are this far apart at least.
const APART_MS: u64 = 250;
/// A read of the open orders that is in no hurry comes this many times as often as by itself, at most.
const ORDERS_HASTE: u64 = 3;
/// Where a position may be bare or must go, or a request waits, and the bucket is empty, reads come this many times as often as
/// by themselves.
const NOW_HASTE: u64 = 2;
/// After a failed read the same is not asked again sooner.
const RETRY_MS: u64 = 1_000;
/// The first reads of mode, markets and allowance overdraw the share this far apart, and so do those that a halt waits for,
/// but for two in a row: cash that moved may move again at once, and what is known of the first says nothing of the second.
const FIRST_AGAIN_MS: u64 = 10_000;
/// Reads for cover and flatten may take half as much of their weight as all others that come out of turn.
const URGENT_PART: u32 = 2;
/// What a live feed waits for may take so many times as much as all that comes out of turn: it saves more than that.
const FEED_PARTS: u32 = 2;
/// A read of the mode that failed so often in a row is asked again after pauses that have doubled so often, up to the longest:
/// who asked each second would spend the whole address on it.
const MODE_DOUBLINGS: u32 = 5;
const MODE_RETRY_MOST_MS: u64 = 30_000;
/// Weight of a read of the prices.
const PRICES_WEIGHT: u32 = 2;
/// A steady read whose room comes so soon waits for it. The minute of the budget is a second longer than a minute, and so
/// the first read of a full one waits for the last second of the one before.
const SHORT_WAIT_MS: u64 = 2_000;

/// The times of all reads.
#[derive(Debug)]
pub(super) struct Schedule {
    due: Vec<Due>,
    intervals: Intervals,
    /// What the share affords by itself.
    afforded: Intervals,
    /// How often is read what a live feed tells of, and what it tells.
    audits: Audits,
    pace: Pace,
    early_reads: TokenBucket,
    /// What reads for cover and flatten may take of their weight where `early_reads` is empty.
    urgent_reads: TokenBucket,
    /// Reads that the live feed waits for may take so much of the guard's own floor.
    feed_reads: TokenBucket,
    /// Weight of an account read: more where its equity is kept apart.
    pub(super) account_weight: u32,
    /// What the address has left of the minute's weight.
    pub(super) left: u32,
    /// The venue does not tell the account's mode: what is held is read without it.
    pub(super) is_mode_unread: bool,
    /// When account and orders were first seen.
    seen_steady_ms: Option<u64>,
}

impl Schedule {
    /// These tasks at once, in this order, with the weight kept for cover where the rest is spent; all others when they
    /// are wanted.
    pub(super) fn new(at_once: &[Task], on_demand: &[Task], intervals: Intervals, budget: u32) -> Self {
        let due = at_once.iter().map(|task| Due::new(*task, 0));
        let due = due.chain(on_demand.iter().map(|task| Due::new(*task, u64::MAX))).collect();
        let afforded = Intervals::for_budget(budget);
        let (early_reads, urgent_reads) = (TokenBucket::new(budget), TokenBucket::new(budget / URGENT_PART));
        let (account_weight, left) = (PRICES_WEIGHT, IP_BUDGET);
        let (audits, pace) = (Audits::for_budget(budget), Pace::default());
        Self {
            due,
            intervals,
            afforded,
            audits,
            pace,
            early_reads,
            urgent_reads,
            feed_reads: TokenBucket::new(budget.saturating_mul(FEED_PARTS)),
            account_weight,
            left,
            is_mode_unread: false,
            seen_steady_ms: None,
        }
    }

    /// Reads as often as the live feed leaves it to be from here on.
    pub(super) fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
        let every: Vec<u64> =
            self.due.iter().map(|due| self.paced(due.task, due.every_ms, due.begun_steady_ms)).collect();
        for (due, every_ms) in self.due.iter_mut().zip(every) {
            if due.is_known && !due.is_busy {
                due.due_steady_ms = due.due_steady_ms.min(due.begun_steady_ms.saturating_add(every_ms));
            }
        }
    }

    /// Has a task wait for its first read until then.
    pub(super) fn put_off(&mut self, task: Task, due_steady_ms: u64) {
        self.due.iter_mut().filter(|due| due.task == task).for_each(|due| due.due_steady_ms = due_steady_ms);
    }

    /// Begins the most important read of a lane that is due, and says what it may spend. `wait_ms` says after how long there
    /// is room for so much weight. A steady read without room waits for that or overdraws the share; one that comes sooner
    /// than its interval, for nothing that is urgent, is left to its interval. What begins beside one that is late waits as well.
    pub(super) fn begin(
        &mut self,
        lane: Lane,
        steady_ms: u64,
        wait_ms: impl Fn(Priority, u32) -> u64,
    ) -> Option<(Task, ReadFor)> {
        let first = self.ready(lane).find(|due| due.next_steady_ms() <= steady_ms)?.as_next();
        let Due { task, is_urgent, is_for_halt, is_for_feed, steady_from_ms, is_known, .. } = first;
        let Due { overdraft_from_ms, sight_from_ms, .. } = first;
        if let Some(until_steady_ms) = self.held_back_until(&first, steady_ms) {
            self.due.iter_mut().find(|due| due.task == task)?.put_off(until_steady_ms);
            return None;
        }
        let every_ms = self.overdraft_apart_ms(task);
        let is_soon = steady_ms < steady_from_ms;
        let is_urgent = is_urgent && !(is_soon && self.yields_to_fills(&first));
        // Nothing else has the ledger read sooner without any hurry.
        let is_for_the_book = task.is_for_the_book() || task == Task::Ledger && is_soon && !is_urgent;
        let is_out_of_turn = is_soon && matches!(task, Task::Account | Task::Orders) || is_for_the_book;
        let is_early = is_out_of_turn && !is_for_feed;
        let (is_steady, is_again) = (lane.is_steady(), first.is_again());
        let is_first = !is_known && (is_steady || matches!(task, Task::Mode | Task::Universe | Task::Limits));
        let weight = self.weight_of(task);
        let room_ms = wait_ms(if is_early { Priority::EarlyRead } else { Priority::Read }, weight);
        let in_a_row = is_for_halt || is_again && is_first;
        let again_from_ms = overdraft_from_ms.saturating_sub(if in_a_row { every_ms } else { 0 });
        let may_overdraw = (!is_out_of_turn || is_urgent)
            && room_ms > SHORT_WAIT_MS
            && (is_steady && is_urgent || (is_steady || is_first || is_urgent) && steady_ms >= again_from_ms);
        let keeps_sight = is_first || is_steady && steady_ms >= sight_from_ms;
        let has_room = room_ms == 0 || is_urgent && wait_ms(Priority::Flatten, weight) == 0;
        let due = self.due.iter_mut().find(|due| due.task == task)?;
        if is_for_the_book && !is_urgent && !has_room {
            let latest_steady_ms = if task == Task::Ledger { steady_from_ms } else { u64::MAX };
            due.put_off(steady_ms.saturating_add(room_ms.max(RETRY_MS)).min(latest_steady_ms));
            return None;
        }
        if (is_steady || is_urgent || is_again) && !has_room && !may_overdraw {
            let again_ms = if room_ms > SHORT_WAIT_MS { again_from_ms } else { u64::MAX };
            let room_steady_ms = steady_ms.saturating_add(room_ms.clamp(1, RETRY_MS));
            let again_ms = again_ms.min(steady_ms.saturating_add(room_ms)).max(room_steady_ms);
            // What the book alone wants has no interval that brings it.
            due.put_off(if is_out_of_turn && !is_for_the_book {
                steady_from_ms.min(if is_urgent || is_for_feed { again_ms } else { u64::MAX })
            } else {
                again_ms
            });
            return None;
        }
        if may_overdraw {
            let from_ms = if in_a_row { steady_ms.max(overdraft_from_ms) } else { steady_ms };
            due.overdraft_from_ms = from_ms.saturating_add(every_ms);
            if keeps_sight {
                due.sight_from_ms = steady_ms.saturating_add(every_ms);
            }
        }
        let is_early = is_early || task == Task::Fills && self.is_fills_early(steady_ms, &wait_ms);
        self.due.iter_mut().find(|due| due.task == task)?.begin(steady_ms, is_urgent, is_for_halt);
        Some((task, ReadFor { is_early, is_urgent, is_for_halt, may_overdraw, keeps_sight }))
    }

    /// When the next read of a lane is due.
    pub(super) fn next_steady_ms(&self, lane: Lane) -> u64 {
        self.ready(lane).map(Due::next_steady_ms).min().unwrap_or(u64::MAX)
    }

    /// The reads of a lane that nothing has to come before.
    fn ready(&self, lane: Lane) -> impl Iterator<Item = &Due> {
        // Without markets no answer can be understood, and without the mode no equity is found: but what is held can be told.
        let can_see = self.is_known(Task::Universe) && (self.is_known(Task::Mode) || self.is_mode_unread);
        let has_seen = self.has_seen();
        self.due.iter().filter(move |due| {
            let waits = if due.task.is_for_later() { !has_seen } else { lane.is_steady() && !can_see };
            due.task.lane() == lane && !waits
        })
    }

    fn has_seen(&self) -> bool {
        let is_seen = |task: Task| self.due.iter().any(|due| due.task == task && due.is_known);
        is_seen(Task::Account) && is_seen(Task::Orders)
    }

    /// How far apart two reads overdraw the share.
    fn overdraft_apart_ms(&self, task: Task) -> u64 {
        match task {
            Task::Mids => self.afforded.prices_ms,
            Task::Account => self.afforded.account_ms,
            Task::Orders => self.afforded.orders_ms,
            _ => FIRST_AGAIN_MS,
        }
    }

    /// What a read weighs.
    fn weight_of(&self, task: Task) -> u32 {
        match task {
            Task::Mids => PRICES_WEIGHT,
            Task::Account => self.account_weight,
            _ => HEAVY_WEIGHT,
        }
    }

    /// Whether a read was answered, or is none of this start's.
    pub(super) fn is_known(&self, task: Task) -> bool {
        self.due.iter().all(|due| due.task != task || due.is_known)
    }

    /// Whether a read has never been answered and a try of it is late: another one was begun beside it.
    pub(super) fn is_tried_in_vain(&self, task: Task) -> bool {
        self.due.iter().any(|due| due.task == task && !due.is_known && due.under_way > 1)
    }

    /// Whether this try counts no more: a later one was answered, or one that was for the same.
    pub(super) fn is_overtaken(&self, task: Task, begun_steady_ms: u64) -> bool {
        self.due.iter().any(|due| due.task == task && due.answered_steady_ms > begun_steady_ms)
    }

    /// Whether this try, which is answered, counts: none that began earlier does from here on.
    pub(super) fn overtakes(&mut self, task: Task, begun_steady_ms: u64) -> bool {
        let is_it = !self.is_overtaken(task, begun_steady_ms);
        for due in self.due.iter_mut().filter(|due| is_it && due.task == task) {
            due.answered_steady_ms = due.answered_steady_ms.max(begun_steady_ms);
        }
        is_it
    }

    /// Whether this try is over and counts no more.
    pub(super) fn ends_overtaken(&mut self, task: Task, begun_steady_ms: u64) -> bool {
        let is_it = self.is_overtaken(task, begun_steady_ms);
        for due in self.due.iter_mut().filter(|due| is_it && due.task == task) {
            due.under_way = due.under_way.saturating_sub(1);
        }
        is_it
    }

    /// Takes note of a read that began at `begun_steady_ms`; the next one comes after `every_ms`, or sooner where it failed.
    /// Where another one has begun beside it, that one says when, unless this answer will do for both.
    pub(super) fn done(&mut self, task: Task, begun_steady_ms: u64, every_ms: u64, is_ok: bool) {
        let paced_ms = self.paced(task, every_ms, begun_steady_ms);
        let Some(due) = self.due.iter_mut().find(|due| due.task == task) else { return };
        due.under_way = due.under_way.saturating_sub(1);
        if is_ok && !due.is_known {
            // A start's overdraft keeps none from what a halt asks for right after it.
            due.overdraft_from_ms = 0;
        }
        due.is_known |= is_ok;
        if is_ok {
            due.steady_from_ms = due.steady_from_ms.max(begun_steady_ms.saturating_add(every_ms));
            due.answered_steady_ms = due.answered_steady_ms.max(begun_steady_ms);
        }
        due.every_ms = every_ms;
        if self.seen_steady_ms.is_none() && self.has_seen() {
            self.seen_steady_ms = Some(begun_steady_ms);
        }
        let Some(due) = self.due.iter_mut().find(|due| due.task == task) else { return };
        let is_enough = is_ok && due.is_enough(begun_steady_ms);
        if begun_steady_ms < due.begun_steady_ms && !is_enough {
            return;
        }
        if is_enough {
            due.overtake_all();
        }
        due.is_busy = false;
        due.failures = if is_ok { 0 } else { due.failures.saturating_add(1) };
        let doublings = if task == Task::Mode || task.is_for_the_book() {
            due.failures.saturating_sub(1).min(MODE_DOUBLINGS)
        } else {
            0
        };
        let retry_ms = RETRY_MS.saturating_mul(2_u64.saturating_pow(doublings)).min(MODE_RETRY_MOST_MS);
        let (pause_ms, apart_ms) = if is_ok { (paced_ms, APART_MS) } else { (every_ms.min(retry_ms), retry_ms) };
        due.begun_steady_ms = due.begun_steady_ms.max(begun_steady_ms);
        due.not_before_steady_ms = due.begun_steady_ms.saturating_add(apart_ms);
        let next_steady_ms = due.begun_steady_ms.saturating_add(pause_ms);
        // Where it was wanted meanwhile it comes sooner.
        due.due_steady_ms = next_steady_ms.min(due.due_steady_ms.max(due.not_before_steady_ms));
    }

    /// Has something read soon.
    pub(super) fn want(&mut self, read: &Read, steady_ms: u64) {
        let (account_ms, orders_ms) = (self.intervals.account_ms, self.intervals.orders_ms);
        let now_ms = orders_ms / self.orders_haste();
        match read {
            Read::Account => self.hasten(Task::Account, (APART_MS, account_ms), false, steady_ms),
            Read::AccountNow => self.hasten(Task::Account, (APART_MS, account_ms / NOW_HASTE), true, steady_ms),
            Read::Orders => self.hasten(Task::Orders, (orders_ms / ORDERS_HASTE, orders_ms), false, steady_ms),
            Read::OrdersSoon => self.hasten(Task::Orders, (APART_MS, now_ms), false, steady_ms),
            Read::OrdersNow => self.hasten(Task::Orders, (APART_MS, now_ms), true, steady_ms),
            Read::Ledger { is_for_halt, .. } => self.at_once(Task::Ledger, *is_for_halt, steady_ms),
            Read::LedgerSoon { .. } => self.hurry(Task::Ledger, steady_ms),
            Read::Fills { .. } => self.want_for_feed(steady_ms),
            Read::BookFills { is_for_cover: true, .. } => self.at_once(Task::BookFills, false, steady_ms),
            Read::BookFills { .. } => self.hurry(Task::BookFills, steady_ms),
            Read::Fundings { .. } => self.hurry(Task::Fundings, steady_ms),
            Read::Mode { is_for_halt } => self.at_once(Task::Mode, *is_for_halt, steady_ms),
            Read::Twaps => self.at_once(Task::Twaps, true, steady_ms),
            Read::Universe => self.hurry(Task::Universe, steady_ms),
            // Questions, not reads: the board keeps them.
            Read::Leverage { .. } | Read::OrderStatus { .. } => {}
        }
    }

    /// What a halt or a flatten waits for, or may soon.
    fn at_once(&mut self, task: Task, is_for_halt: bool, steady_ms: u64) {
        self.hurry(task, steady_ms);
        for due in self.due.iter_mut().filter(|due| due.task == task) {
            (due.is_urgent, due.is_for_halt) = (true, due.is_for_halt || is_for_halt);
            due.await_another(steady_ms);
        }
    }

    fn hurry(&mut self, task: Task, steady_ms: u64) {
        if let Some(due) = self.due.iter_mut().find(|due| due.task == task) {
            due.due_steady_ms = due.due_steady_ms.min(steady_ms.max(due.not_before_steady_ms));
            due.is_new = true;
        }
    }

    /// Brings a read forward to `apart_ms` after the last one while a bucket pays for it, else to `later_ms` after it.
    fn hasten(&mut self, task: Task, (apart_ms, later_ms): (u64, u64), is_urgent: bool, steady_ms: u64) {
        let weight = self.weight_of(task);
        let Some(due) = self.due.iter_mut().find(|due| due.task == task) else { return };
        due.is_urgent |= is_urgent;
        due.wanted_steady_ms = steady_ms;
        let at_steady_ms =
            |pause_ms: u64| steady_ms.max(due.not_before_steady_ms).max(due.begun_steady_ms.saturating_add(pause_ms));
        let (soon_steady_ms, later_steady_ms) = (at_steady_ms(apart_ms), at_steady_ms(later_ms));
        if soon_steady_ms < due.due_steady_ms {
            let is_paid =
                self.early_reads.take(weight, steady_ms) || is_urgent && self.urgent_reads.take(weight, steady_ms);
            due.due_steady_ms = due.due_steady_ms.min(if is_paid { soon_steady_ms } else { later_steady_ms });
        }
    }
}

#[cfg(test)]
mod tests;
