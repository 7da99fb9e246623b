//! When what is read: each on its interval, and sooner where something calls for it.
//!
//! Sooner costs more. A bot that sends without a pause calls for a read after every answer, and such reads would spend the
//! minute's weight that its own entries need. So they are held together and apart, and paid from a token bucket:
//! while it holds enough a read comes at once, else it comes later, and no later than its interval brings it.
//!
//! All times here are of the steady clock, which never steps.

use super::intervals::Intervals;
use super::read_task::{Lane, Task};
use super::token_bucket::TokenBucket;
use super::venue_reads::ReadFor;
use crate::guard::Read;
use crate::venue::weight::Priority;

/// Reads of the same are this far apart at least.
const APART_MS: u64 = 250;
/// A read of the open orders that is in no hurry comes this many times as often as by itself, at most.
const ORDERS_HASTE: u64 = 3;
/// Where a position may be bare or must go and the bucket is empty, reads come this many times as often as by themselves.
const NOW_HASTE: u64 = 2;
/// After a failed read the same is not asked again sooner.
const RETRY_MS: u64 = 1_000;
/// The first reads of mode and markets overdraw the share this far apart.
const FIRST_AGAIN_MS: u64 = 10_000;
/// Reads for cover and flatten may take half as much of their weight as all others that come out of turn.
const URGENT_PART: u32 = 2;
/// Weight of a read of the prices, and of the open orders.
const PRICES_WEIGHT: u32 = 2;
const ORDERS_WEIGHT: u32 = 20;
/// A steady read whose room comes so soon waits for it. The minute of the budget is a second longer than a minute, and so
/// the first read of a full one waits for the last second of the one before.
const SHORT_WAIT_MS: u64 = 2_000;

/// One task's times.
#[derive(Debug, Clone, Copy)]
struct Due {
    task: Task,
    due_steady_ms: u64,
    /// A thread is at it.
    is_busy: bool,
    /// It was answered once.
    is_known: bool,
    /// A read does not overdraw the share again before this.
    overdraft_from_ms: u64,
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
    /// What the share affords by itself.
    afforded: Intervals,
    early_reads: TokenBucket,
    /// What reads for cover and flatten may take of their weight where `early_reads` is empty.
    urgent_reads: TokenBucket,
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
            is_busy: false,
            is_known: false,
            overdraft_from_ms: 0,
            begun_steady_ms: 0,
            steady_from_ms: 0,
            not_before_steady_ms: 0,
            is_urgent: due_steady_ms == 0,
        };
        let due = at_once.iter().map(|task| entry(task, 0));
        let due = due.chain(on_demand.iter().map(|task| entry(task, u64::MAX))).collect();
        let afforded = Intervals::for_budget(budget);
        let (early_reads, urgent_reads) = (TokenBucket::new(budget), TokenBucket::new(budget / URGENT_PART));
        Self { due, intervals, afforded, early_reads, urgent_reads, account_weight: 2 }
    }

    /// Begins the most important read of a lane that is due, and says what it may spend. `wait_ms` says after how long there
    /// is room for so much weight. A steady read without room waits for that or overdraws the share; one that comes sooner
    /// than its interval, for nothing that is urgent, is left to its interval.
    pub(super) fn begin(
        &mut self,
        lane: Lane,
        steady_ms: u64,
        wait_ms: impl Fn(Priority, u32) -> u64,
    ) -> Option<(Task, ReadFor)> {
        let Due { task, is_urgent, steady_from_ms, is_known, overdraft_from_ms, .. } =
            *self.ready(lane).find(|due| due.due_steady_ms <= steady_ms)?;
        let every_ms = match task {
            Task::Mids => self.afforded.prices_ms,
            Task::Account => self.afforded.account_ms,
            Task::Orders => self.afforded.orders_ms,
            _ => FIRST_AGAIN_MS,
        };
        let is_early = steady_ms < steady_from_ms && matches!(task, Task::Account | Task::Orders);
        let is_steady = lane != Lane::Beside;
        let is_first = !is_known && (is_steady || matches!(task, Task::Mode | Task::Universe));
        let weight = self.weight_of(task);
        let room_ms = wait_ms(if is_early { Priority::EarlyRead } else { Priority::Read }, weight);
        let may_overdraw = (is_steady || is_first)
            && (!is_early || is_urgent)
            && room_ms > SHORT_WAIT_MS
            && steady_ms >= overdraft_from_ms;
        let has_room = room_ms == 0 || is_urgent && wait_ms(Priority::Flatten, weight) == 0;
        let due = self.due.iter_mut().find(|due| due.task == task)?;
        if is_steady && !has_room && !may_overdraw {
            let again_ms = if room_ms > SHORT_WAIT_MS { overdraft_from_ms } else { u64::MAX };
            let room_steady_ms = steady_ms.saturating_add(room_ms.clamp(1, RETRY_MS));
            let again_ms = again_ms.min(steady_ms.saturating_add(room_ms)).max(room_steady_ms);
            due.due_steady_ms =
                if is_early { steady_from_ms.min(if is_urgent { again_ms } else { u64::MAX }) } else { again_ms };
            return None;
        }
        if may_overdraw {
            due.overdraft_from_ms = steady_ms.saturating_add(every_ms);
        }
        // From here on it is wanted anew: what is being asked may be older than what calls for it.
        (due.is_busy, due.is_urgent, due.due_steady_ms, due.begun_steady_ms) = (true, false, u64::MAX, steady_ms);
        Some((task, ReadFor { is_early, is_urgent, may_overdraw, is_first }))
    }

    /// When the next read of a lane is due.
    pub(super) fn next_steady_ms(&self, lane: Lane) -> u64 {
        self.ready(lane).map(|due| due.due_steady_ms).min().unwrap_or(u64::MAX)
    }

    /// The reads of a lane that nobody is at, and that nothing has to come before.
    fn ready(&self, lane: Lane) -> impl Iterator<Item = &Due> {
        let is_known = |task: Task| self.due.iter().all(|due| due.task != task || due.is_known);
        // Without markets no answer can be understood, and without the mode no equity is found.
        let can_see = is_known(Task::Universe) && is_known(Task::Mode);
        let has_seen = is_known(Task::Account) && is_known(Task::Orders);
        self.due.iter().filter(move |due| {
            let waits = if due.task.is_for_later() { !has_seen } else { lane != Lane::Beside && !can_see };
            due.task.lane() == lane && !due.is_busy && !waits
        })
    }

    /// What a read weighs.
    fn weight_of(&self, task: Task) -> u32 {
        match task {
            Task::Mids => PRICES_WEIGHT,
            Task::Account => self.account_weight,
            _ => ORDERS_WEIGHT,
        }
    }

    /// Takes note of a read that began at `begun_steady_ms`; the next one comes after `every_ms`, or sooner where it failed.
    pub(super) fn done(&mut self, task: Task, begun_steady_ms: u64, every_ms: u64, is_ok: bool) {
        let Some(due) = self.due.iter_mut().find(|due| due.task == task) else { return };
        (due.is_busy, due.is_known) = (false, due.is_known || is_ok);
        if is_ok {
            due.steady_from_ms = begun_steady_ms.saturating_add(every_ms);
        }
        let (pause_ms, apart_ms) = if is_ok { (every_ms, APART_MS) } else { (every_ms.min(RETRY_MS), RETRY_MS) };
        let next_steady_ms = begun_steady_ms.saturating_add(pause_ms);
        // Where it was wanted meanwhile it comes sooner.
        due.due_steady_ms = next_steady_ms.min(due.due_steady_ms.max(begun_steady_ms.saturating_add(apart_ms)));
        due.begun_steady_ms = begun_steady_ms;
        due.not_before_steady_ms = begun_steady_ms.saturating_add(apart_ms);
    }

    /// Has something read soon.
    pub(super) fn want(&mut self, read: &Read, steady_ms: u64) {
        let (account_ms, orders_ms) = (self.intervals.account_ms, self.intervals.orders_ms);
        match read {
            Read::Account => self.hasten(Task::Account, (APART_MS, account_ms), false, steady_ms),
            Read::AccountNow => self.hasten(Task::Account, (APART_MS, account_ms / NOW_HASTE), true, steady_ms),
            Read::Orders => self.hasten(Task::Orders, (orders_ms / ORDERS_HASTE, orders_ms), false, steady_ms),
            Read::OrdersNow => self.hasten(Task::Orders, (APART_MS, orders_ms / NOW_HASTE), true, steady_ms),
            Read::Ledger { .. } => self.at_once(Task::Ledger, steady_ms),
            Read::Mode => self.at_once(Task::Mode, steady_ms),
            Read::Twaps => self.at_once(Task::Twaps, steady_ms),
            Read::Universe => self.at_once(Task::Universe, steady_ms),
            // Questions, not reads: the board keeps them.
            Read::Leverage { .. } | Read::OrderStatus { .. } => {}
        }
    }

    fn at_once(&mut self, task: Task, steady_ms: u64) {
        if let Some(due) = self.due.iter_mut().find(|due| due.task == task) {
            due.due_steady_ms = due.due_steady_ms.min(steady_ms.max(due.not_before_steady_ms));
        }
    }

    /// Brings a read forward to `apart_ms` after the last one while a bucket pays for it, else to `later_ms` after it.
    fn hasten(&mut self, task: Task, (apart_ms, later_ms): (u64, u64), is_urgent: bool, steady_ms: u64) {
        let weight = self.weight_of(task);
        let Some(due) = self.due.iter_mut().find(|due| due.task == task) else { return };
        due.is_urgent |= is_urgent;
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
mod tests {
    use super::*;
    use crate::base::ip_share::{IP_BUDGET, SMALLEST_BUDGET};
    use crate::venue::weight_ledger::Ledger;

    const T0: u64 = 1_700_000_000_000;

    fn schedule(budget: u32) -> Schedule {
        let all = [Task::Mids, Task::Account, Task::Orders];
        Schedule::new(&all, &[], Intervals::for_budget(budget), budget)
    }

    const LANES: [Lane; 3] = [Lane::Prices, Lane::Account, Lane::Orders];

    /// Begins all that is due.
    fn begin(schedule: &mut Schedule, now_ms: u64) -> Vec<(Task, ReadFor)> {
        LANES.into_iter().filter_map(|lane| schedule.begin(lane, now_ms, |_, _| 0)).collect()
    }

    fn tasks(schedule: &mut Schedule, now_ms: u64) -> Vec<Task> {
        begin(schedule, now_ms).into_iter().map(|(task, _)| task).collect()
    }

    /// Has everything read once, at `T0`.
    fn read_once(schedule: &mut Schedule, every: [(Task, u64); 3], is_ok: bool) {
        assert_eq!(begin(schedule, T0).len(), 3);
        every.into_iter().for_each(|(task, every_ms)| schedule.done(task, T0, every_ms, is_ok));
    }

    /// The weight spent in a minute in which these reads are wanted after every millisecond, and how often each was.
    fn a_minute_of(budget: u32, wanted: &[Read]) -> (u32, [u32; 3]) {
        let mut schedule = schedule(budget);
        let every = |task: Task| match task {
            Task::Orders => Intervals::for_budget(budget).orders_ms,
            _ => Intervals::for_budget(budget).account_ms,
        };
        // The buckets are spent before the minute begins.
        let (mut spent, mut counts) = (0, [0; 3]);
        for now_ms in T0..T0 + 180_000 {
            for task in tasks(&mut schedule, now_ms) {
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
        read_once(&mut schedule, [(Task::Mids, 1_000), (Task::Account, 1_000), (Task::Orders, 5_000)], true);
        schedule.want(&Read::Account, T0 + 400);
        schedule.want(&Read::Orders, T0 + 400);
        assert_eq!(tasks(&mut schedule, T0 + 400), [Task::Account]);
        schedule.done(Task::Account, T0 + 400, 1_000, true);
        assert_eq!(tasks(&mut schedule, T0 + 1_399), [Task::Mids]);
        assert_eq!(tasks(&mut schedule, T0 + 1_666), [Task::Account, Task::Orders]);
        schedule.done(Task::Orders, T0 + 1_666, 5_000, true);
        schedule.want(&Read::OrdersNow, T0 + 2_000);
        let begun = begin(&mut schedule, T0 + 2_000);
        assert!(matches!(begun[..], [(Task::Orders, ReadFor { is_early: true, is_urgent: true, .. })]), "{begun:?}");
    }

    #[test]
    fn wanted_twice_is_paid_once() {
        let mut schedule = schedule(SMALLEST_BUDGET);
        read_once(&mut schedule, [(Task::Mids, 10_000), (Task::Account, 10_000), (Task::Orders, 30_000)], true);
        (0..100).for_each(|_| schedule.want(&Read::OrdersNow, T0 + 300));
        assert_eq!(tasks(&mut schedule, T0 + 300), [Task::Orders]);
        schedule.done(Task::Orders, T0 + 300, 30_000, true);
        schedule.want(&Read::OrdersNow, T0 + 600);
        assert_eq!(tasks(&mut schedule, T0 + 600), [Task::Orders]);
    }

    #[test]
    fn a_read_that_failed_is_let_be_for_a_second() {
        let mut schedule = schedule(IP_BUDGET);
        read_once(&mut schedule, [(Task::Mids, 1_000), (Task::Account, 1_000), (Task::Orders, 5_000)], false);
        schedule.want(&Read::AccountNow, T0 + 10);
        schedule.want(&Read::OrdersNow, T0 + 10);
        assert!(begin(&mut schedule, T0 + 999).is_empty());
        assert_eq!(begin(&mut schedule, T0 + 1_000).len(), 3);
    }

    /// One that hangs is not begun twice, holds up no other lane, and what was wanted meanwhile is read after it.
    #[test]
    fn a_read_that_hangs_holds_up_itself_alone() {
        let mut schedule = schedule(IP_BUDGET);
        assert_eq!(tasks(&mut schedule, T0).len(), 3);
        [Task::Mids, Task::Account].iter().for_each(|task| schedule.done(*task, T0, 1_000, true));
        schedule.want(&Read::OrdersNow, T0 + 2_000);
        assert_eq!(tasks(&mut schedule, T0 + 3_000), [Task::Mids, Task::Account]);
        schedule.done(Task::Orders, T0, 5_000, true);
        assert_eq!(tasks(&mut schedule, T0 + 3_001), [Task::Orders]);
    }

    /// What is due by itself overdraws a share that others spent, once an interval; what comes out of turn does not wait
    /// for it, and does without.
    #[test]
    fn a_steady_read_overdraws_once_an_interval_that_the_share_affords() {
        let mut schedule = schedule(SMALLEST_BUDGET);
        let may_overdraw = |schedule: &mut Schedule, now_ms: u64| {
            let (_, read_for) = schedule.begin(Lane::Account, now_ms, |_, _| 43_000)?;
            schedule.done(Task::Account, now_ms, 1_000, false);
            Some(read_for.may_overdraw)
        };
        // What has no room is not tried: there is no failure to tell of.
        let seen = [T0, T0 + 1_000, T0 + 9_999, T0 + 10_000].map(|now_ms| may_overdraw(&mut schedule, now_ms));
        assert_eq!(seen, [Some(true), None, None, Some(true)]);
    }

    /// A budget whose minute is nearly over is not overdrawn.
    #[test]
    fn a_steady_read_waits_for_room_that_comes_soon() {
        let mut schedule = schedule(SMALLEST_BUDGET);
        let begin = |schedule: &mut Schedule, now_ms: u64, room_ms: u64| {
            schedule.begin(Lane::Account, now_ms, |_, _| room_ms).map(|(_, read_for)| read_for.may_overdraw)
        };
        assert_eq!(begin(&mut schedule, T0, 900), None);
        assert_eq!(begin(&mut schedule, T0 + 899, 0), None);
        assert_eq!(begin(&mut schedule, T0 + 900, 0), Some(false));
        assert_eq!(schedule.next_steady_ms(Lane::Account), u64::MAX);
    }

    #[test]
    fn at_a_start_mode_markets_and_the_account_come_before_all_that_can_wait() {
        let at_once = [Task::Mode, Task::Universe, Task::Mids, Task::Account, Task::Orders, Task::Limits];
        let mut schedule = Schedule::new(&at_once, &[], Intervals::for_budget(SMALLEST_BUDGET), SMALLEST_BUDGET);
        let all = [Lane::Beside, Lane::Beside, Lane::Beside, Lane::Prices, Lane::Account, Lane::Orders];
        let begun = |schedule: &mut Schedule| -> Vec<Task> {
            all.into_iter().filter_map(|lane| Some(schedule.begin(lane, T0, |_, _| 0)?.0)).collect()
        };
        assert_eq!(begun(&mut schedule), [Task::Mode, Task::Universe]);
        schedule.done(Task::Universe, T0, 60_000, true);
        assert!(begun(&mut schedule).is_empty());
        schedule.done(Task::Mode, T0, 60_000, true);
        assert_eq!(begun(&mut schedule), [Task::Mids, Task::Account, Task::Orders]);
        schedule.done(Task::Account, T0, 10_000, true);
        assert!(begun(&mut schedule).is_empty());
        schedule.done(Task::Orders, T0, 30_000, true);
        assert_eq!(begun(&mut schedule), [Task::Limits]);
    }
}
