//! When the poller reads what: each on its interval, and sooner where something calls for it.
//!
//! Sooner costs more. A bot that sends without a pause calls for a read after every answer, and such reads would spend the
//! minute's weight that its own entries need. So they are held together and apart, and paid from a token bucket:
//! while it holds enough a read comes at once, else it comes later, and no later than its interval brings it.
//!
//! All times here are of the steady clock, which never steps.

use super::intervals::Intervals;
use super::token_bucket::TokenBucket;
use crate::guard::Read;

/// Reads of the same are this far apart at least.
const APART_MS: u64 = 250;
/// A read of the open orders that is in no hurry comes this many times as often as by itself, at most.
const ORDERS_HASTE: u64 = 3;
/// Where a position may be bare or must go and the bucket is empty, reads come this many times as often as by themselves.
const NOW_HASTE: u64 = 2;
/// After a failed read the same is not asked again sooner.
const RETRY_MS: u64 = 1_000;
/// Weight of a read of the open orders.
const ORDERS_WEIGHT: u32 = 20;

/// The reads, in the order of their importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Wallet,
    Role,
    Mode,
    Universe,
    Mids,
    Account,
    Orders,
    Ledger,
    Twaps,
    Limits,
    Approval,
}

/// One task's times.
#[derive(Debug, Clone, Copy)]
struct Due {
    task: Task,
    due_steady_ms: u64,
    /// When the last read began.
    begun_steady_ms: u64,
    /// From when on the next read is no early one: its interval after the last one that was answered.
    steady_from_ms: u64,
    /// The next read does not begin before this.
    not_before_steady_ms: u64,
    /// The next one is for cover or a flatten.
    is_urgent: bool,
}

/// The times of all reads.
#[derive(Debug)]
pub(super) struct Schedule {
    due: Vec<Due>,
    intervals: Intervals,
    early_reads: TokenBucket,
    /// Weight of an account read: more where its equity is kept apart.
    pub(super) account_weight: u32,
}

impl Schedule {
    /// These tasks at once, in this order, with the weight kept for cover where the rest is spent; all others when they
    /// are wanted.
    pub(super) fn new(at_once: &[Task], on_demand: &[Task], intervals: Intervals, budget: u32) -> Self {
        let entry = |task: &Task, due_steady_ms| Due {
            task: *task,
            due_steady_ms,
            begun_steady_ms: 0,
            steady_from_ms: 0,
            not_before_steady_ms: 0,
            is_urgent: due_steady_ms == 0,
        };
        let due = at_once.iter().map(|task| entry(task, 0));
        let due = due.chain(on_demand.iter().map(|task| entry(task, u64::MAX))).collect();
        Self { due, intervals, early_reads: TokenBucket::new(budget), account_weight: 2 }
    }

    /// The reads that are due now.
    pub(super) fn due(&self, steady_ms: u64) -> Vec<Task> {
        self.due.iter().filter(|due| due.due_steady_ms <= steady_ms).map(|due| due.task).collect()
    }

    /// When the next read is due.
    pub(super) fn next_steady_ms(&self) -> u64 {
        self.due.iter().map(|due| due.due_steady_ms).min().unwrap_or(u64::MAX)
    }

    /// Whether the next read is for cover or a flatten.
    pub(super) fn is_urgent(&self, task: Task) -> bool {
        self.due.iter().any(|due| due.task == task && due.is_urgent)
    }

    /// What a read out of turn weighs.
    pub(super) fn weight_of(&self, task: Task) -> u32 {
        if task == Task::Account { self.account_weight } else { ORDERS_WEIGHT }
    }

    /// The same, said once: the read begins now.
    pub(super) fn take_urgency(&mut self, task: Task) -> bool {
        self.due.iter_mut().find(|due| due.task == task).is_some_and(|due| std::mem::take(&mut due.is_urgent))
    }

    /// Whether a read that begins now comes sooner than its interval brings it.
    pub(super) fn is_early(&self, task: Task, steady_ms: u64) -> bool {
        self.due.iter().any(|due| due.task == task && steady_ms < due.steady_from_ms)
    }

    /// Leaves an early read to its interval.
    pub(super) fn put_off(&mut self, task: Task) {
        self.due.iter_mut().filter(|due| due.task == task).for_each(|due| due.due_steady_ms = due.steady_from_ms);
    }

    /// Takes note of a read that began at `begun_steady_ms`; the next one comes after `every_ms`, or sooner where it failed.
    pub(super) fn done(&mut self, task: Task, begun_steady_ms: u64, every_ms: u64, is_ok: bool) {
        let Some(due) = self.due.iter_mut().find(|due| due.task == task) else { return };
        if is_ok {
            due.steady_from_ms = begun_steady_ms.saturating_add(every_ms);
        }
        let (pause_ms, apart_ms) = if is_ok { (every_ms, APART_MS) } else { (every_ms.min(RETRY_MS), RETRY_MS) };
        due.due_steady_ms = begun_steady_ms.saturating_add(pause_ms);
        due.begun_steady_ms = begun_steady_ms;
        due.not_before_steady_ms = begun_steady_ms.saturating_add(apart_ms);
    }

    /// Has something read soon.
    pub(super) fn want(&mut self, read: &Read, steady_ms: u64) {
        let (account_ms, orders_ms) = (self.intervals.account_ms, self.intervals.orders_ms);
        match read {
            Read::Account => self.hasten(Task::Account, APART_MS, account_ms, steady_ms),
            Read::AccountNow => {
                self.hasten(Task::Account, APART_MS, account_ms / NOW_HASTE, steady_ms);
                self.mark_urgent(Task::Account);
            }
            Read::Orders => self.hasten(Task::Orders, orders_ms / ORDERS_HASTE, orders_ms, steady_ms),
            Read::OrdersNow => {
                self.hasten(Task::Orders, APART_MS, orders_ms / NOW_HASTE, steady_ms);
                self.mark_urgent(Task::Orders);
            }
            Read::Ledger { .. } => self.at_once(Task::Ledger, steady_ms),
            Read::Mode => self.at_once(Task::Mode, steady_ms),
            Read::Twaps => self.at_once(Task::Twaps, steady_ms),
            Read::Universe => self.at_once(Task::Universe, steady_ms),
            // Answered on the spot.
            Read::Leverage { .. } | Read::OrderStatus { .. } => {}
        }
    }

    fn at_once(&mut self, task: Task, steady_ms: u64) {
        if let Some(due) = self.due.iter_mut().find(|due| due.task == task) {
            due.due_steady_ms = due.due_steady_ms.min(steady_ms.max(due.not_before_steady_ms));
        }
    }

    fn mark_urgent(&mut self, task: Task) {
        self.due.iter_mut().filter(|due| due.task == task).for_each(|due| due.is_urgent = true);
    }

    /// Brings a read forward to `apart_ms` after the last one while the bucket pays for it, else to `later_ms` after it.
    fn hasten(&mut self, task: Task, apart_ms: u64, later_ms: u64, steady_ms: u64) {
        let weight = self.weight_of(task);
        let Some(due) = self.due.iter_mut().find(|due| due.task == task) else { return };
        let at_steady_ms =
            |pause_ms: u64| steady_ms.max(due.not_before_steady_ms).max(due.begun_steady_ms.saturating_add(pause_ms));
        let (soon_steady_ms, later_steady_ms) = (at_steady_ms(apart_ms), at_steady_ms(later_ms));
        if soon_steady_ms < due.due_steady_ms {
            let is_paid = self.early_reads.take(weight, steady_ms);
            due.due_steady_ms = due.due_steady_ms.min(if is_paid { soon_steady_ms } else { later_steady_ms });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ip_share::{IP_BUDGET, SMALLEST_BUDGET};
    use crate::venue::weight::Priority;
    use crate::venue::weight_ledger::Ledger;

    const T0: u64 = 1_700_000_000_000;

    fn schedule(budget: u32) -> Schedule {
        let all = [Task::Mids, Task::Account, Task::Orders];
        Schedule::new(&all, &[], Intervals::for_budget(budget), budget)
    }

    /// The weight spent in a minute in which these reads are wanted after every millisecond, and how often each was.
    fn a_minute_of(budget: u32, wanted: &[Read]) -> (u32, [u32; 3]) {
        let mut schedule = schedule(budget);
        let every = |task: Task| match task {
            Task::Orders => Intervals::for_budget(budget).orders_ms,
            _ => Intervals::for_budget(budget).account_ms,
        };
        // The bucket is spent before the minute begins.
        let (mut spent, mut counts) = (0, [0; 3]);
        for now_ms in T0..T0 + 180_000 {
            for task in schedule.due(now_ms) {
                schedule.done(task, now_ms, every(task), true);
                if now_ms >= T0 + 120_000 {
                    spent += if task == Task::Orders { ORDERS_WEIGHT } else { 2 };
                    counts[task as usize - Task::Mids as usize] += 1;
                }
            }
            wanted.iter().for_each(|read| schedule.want(read, now_ms));
        }
        (spent, counts)
    }

    #[test]
    fn a_bot_without_pause_leaves_weight_for_its_own_entries() {
        for budget in [SMALLEST_BUDGET, 300, 600, IP_BUDGET] {
            let (spent, _) = a_minute_of(budget, &[Read::Account, Read::Orders]);
            let mut ledger = Ledger::new(budget, []);
            ledger.try_spend(Priority::Read, None, spent, T0).unwrap();
            // An eighth of the address's budget is kept to the last weight; every larger one has more.
            let entries =
                (0..budget).take_while(|_| ledger.try_spend(Priority::ClientEntry, None, 1, T0).is_ok()).count();
            let wanted = if budget == SMALLEST_BUDGET { 4 } else { usize::try_from(budget / 4).unwrap() };
            assert!(entries >= wanted, "{entries} entries beside {spent} of {budget}");
        }
    }

    #[test]
    fn a_position_that_may_be_bare_is_read_within_what_is_left_over() {
        let (spent, [_, accounts, orders]) = a_minute_of(IP_BUDGET, &[Read::AccountNow, Read::OrdersNow]);
        assert!(accounts >= 118 && orders >= 23, "{accounts} and {orders}");
        let mut ledger = Ledger::new(IP_BUDGET, []);
        assert_eq!(ledger.try_spend(Priority::Read, None, spent, T0), Ok(()));
    }

    #[test]
    fn one_send_has_its_reads_at_once() {
        let mut schedule = schedule(IP_BUDGET);
        [Task::Mids, Task::Account].iter().for_each(|task| schedule.done(*task, T0, 1_000, true));
        schedule.done(Task::Orders, T0, 5_000, true);
        schedule.want(&Read::Account, T0 + 400);
        assert_eq!(schedule.due(T0 + 400), [Task::Account]);
        schedule.want(&Read::Orders, T0 + 400);
        assert_eq!((schedule.due(T0 + 1_665), schedule.due(T0 + 1_666).len()), (vec![Task::Mids, Task::Account], 3));
        schedule.want(&Read::OrdersNow, T0 + 400);
        assert_eq!(schedule.due(T0 + 400), [Task::Account, Task::Orders]);
        assert!(schedule.take_urgency(Task::Orders) && !schedule.take_urgency(Task::Orders));
    }

    #[test]
    fn wanted_twice_is_paid_once() {
        let mut schedule = schedule(SMALLEST_BUDGET);
        schedule.done(Task::Orders, T0, 30_000, true);
        (0..100).for_each(|_| schedule.want(&Read::OrdersNow, T0 + 300));
        schedule.done(Task::Orders, T0 + 300, 30_000, true);
        schedule.want(&Read::OrdersNow, T0 + 600);
        assert_eq!(schedule.due(T0 + 600), [Task::Mids, Task::Account, Task::Orders]);
    }

    #[test]
    fn a_read_that_failed_is_let_be_for_a_second() {
        let mut schedule = schedule(IP_BUDGET);
        schedule.done(Task::Account, T0, 1_000, false);
        schedule.done(Task::Orders, T0, 5_000, false);
        schedule.done(Task::Mids, T0, 1_000, true);
        schedule.want(&Read::AccountNow, T0 + 10);
        schedule.want(&Read::OrdersNow, T0 + 10);
        assert!(schedule.due(T0 + 999).is_empty());
        assert_eq!(schedule.due(T0 + 1_000).len(), 3);
    }
}
