//! Tests of when what is read.

mod for_feed;
mod for_the_book;
mod held_back;
mod tries;

use super::*;
use crate::base::ip_share::{IP_BUDGET, SMALLEST_BUDGET};
use crate::service::venue_io::read_task::TURN_MS;
use crate::venue::weight_ledger::Ledger;

const T0: u64 = 1_700_000_000_000;

/// A halt is made sure of by it.
const LEDGER: Read = Read::Ledger { since_ms: 0, is_for_halt: true };

fn schedule(budget: u32) -> Schedule {
    let all = [Task::Mids, Task::Account, Task::Orders];
    Schedule::new(&all, &[], Intervals::for_budget(budget), budget)
}

const LANES: [Lane; 3] = [Lane::Prices, Lane::Account, Lane::Orders];
/// What they read.
const TASKS: [Task; 3] = [Task::Mids, Task::Account, Task::Orders];

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
                spent += if task == Task::Orders { HEAVY_WEIGHT } else { 2 };
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
        let entries = (0..budget).take_while(|_| ledger.try_spend(Priority::ClientEntry, None, 1, T0).is_ok()).count();
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

/// Whoever has one read after the other come out of turn uses up what a flatten lives on otherwise, and what others' entries do.
#[test]
fn a_read_that_a_request_waits_for_spends_nothing_that_is_kept_for_a_flatten() {
    for (read, comes) in [(Read::OrdersNow, true), (Read::OrdersSoon, false)] {
        for flatten_wait_ms in [0, 40_000] {
            let mut schedule = schedule(IP_BUDGET);
            read_once(&mut schedule, [(Task::Mids, 1_000), (Task::Account, 1_000), (Task::Orders, 5_000)], true);
            schedule.want(&read, T0 + 500);
            let wait_ms = |priority: Priority, _| if priority == Priority::Flatten { flatten_wait_ms } else { 40_000 };
            let begun = schedule.begin(Lane::Orders, T0 + 500, wait_ms);
            assert_eq!(begun.is_some(), comes, "{read:?}");
        }
        let mut schedule = schedule(IP_BUDGET);
        read_once(&mut schedule, [(Task::Mids, 1_000), (Task::Account, 1_000), (Task::Orders, 5_000)], true);
        schedule.want(&read, T0 + 500);
        let begun = schedule.begin(Lane::Orders, T0 + 500, |_, _| 0).expect("where there is room");
        assert_eq!((begun.1.is_urgent, begun.1.may_overdraw), (comes, false));
    }
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

/// One that is late is not begun twice, holds up no other lane, and what was wanted meanwhile is read after it.
#[test]
fn a_read_that_hangs_holds_up_itself_alone() {
    let mut schedule = schedule(IP_BUDGET);
    assert_eq!(tasks(&mut schedule, T0).len(), 3);
    [Task::Mids, Task::Account].iter().for_each(|task| schedule.done(*task, T0, 1_000, true));
    schedule.want(&Read::OrdersNow, T0 + 2_000);
    assert_eq!(tasks(&mut schedule, T0 + TURN_MS - 1), [Task::Mids, Task::Account]);
    schedule.done(Task::Orders, T0, 5_000, true);
    assert_eq!(tasks(&mut schedule, T0 + TURN_MS), [Task::Orders]);
}

/// One that hangs has another beside it after its turn, and so on; whichever is answered counts, and an older one no more.
#[test]
fn a_read_that_hangs_has_another_beside_it() {
    let mut schedule = schedule(IP_BUDGET);
    assert_eq!(tasks(&mut schedule, T0).len(), 3);
    let second = T0 + TURN_MS;
    assert!(tasks(&mut schedule, second - 1).is_empty());
    assert_eq!(schedule.next_steady_ms(Lane::Account), second);
    assert_eq!(tasks(&mut schedule, second), TASKS);
    assert!(tasks(&mut schedule, second + TURN_MS - 1).is_empty());
    assert_eq!(schedule.next_steady_ms(Lane::Orders), second + TURN_MS);
    // The first one is answered: the second one is still under way, and says when the next one comes.
    schedule.done(Task::Account, T0, 1_000, true);
    assert!(!schedule.is_overtaken(Task::Account, T0) && !schedule.is_overtaken(Task::Account, second));
    assert_eq!(schedule.next_steady_ms(Lane::Account), second + TURN_MS);
    // The second one is answered first.
    schedule.done(Task::Orders, second, 5_000, true);
    assert!(schedule.is_overtaken(Task::Orders, T0) && !schedule.is_overtaken(Task::Orders, second));
    schedule.done(Task::Orders, T0, 5_000, false);
    assert_eq!(schedule.next_steady_ms(Lane::Orders), second + 5_000);
    // The second one fails, and the first one is not back yet.
    schedule.done(Task::Mids, second, 1_000, false);
    assert_eq!(schedule.next_steady_ms(Lane::Prices), second + RETRY_MS);
    schedule.done(Task::Mids, T0, 1_000, true);
    assert_eq!(schedule.next_steady_ms(Lane::Prices), second + RETRY_MS);
}

/// Without room for another one beside it, the wait is no loop without a pause.
#[test]
fn another_beside_one_that_hangs_waits_for_room() {
    let mut schedule = schedule(SMALLEST_BUDGET);
    assert_eq!(tasks(&mut schedule, T0).len(), 3);
    assert!(schedule.begin(Lane::Account, T0 + TURN_MS, |_, _| 900).is_none());
    assert_eq!(schedule.next_steady_ms(Lane::Account), T0 + TURN_MS + 900);
    // What is wanted meanwhile is no reason to begin sooner.
    schedule.want(&Read::AccountNow, T0 + TURN_MS);
    assert_eq!(schedule.next_steady_ms(Lane::Account), T0 + TURN_MS + 900);
    schedule.done(Task::Account, T0, 10_000, true);
    assert_eq!(schedule.next_steady_ms(Lane::Account), T0 + TURN_MS, "as it was wanted");
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

/// At its own pace it is what the guard sees by; one that comes out of turn may not use up the address.
#[test]
fn a_steady_read_at_its_own_pace_keeps_the_guards_sight() {
    let mut schedule = schedule(SMALLEST_BUDGET);
    read_once(&mut schedule, [(Task::Mids, 10_000), (Task::Account, 10_000), (Task::Orders, 30_000)], true);
    let begin = |schedule: &mut Schedule, now_ms: u64| {
        let (_, read_for) = schedule.begin(Lane::Account, now_ms, |_, _| 43_000)?;
        schedule.done(Task::Account, now_ms, 10_000, true);
        Some((read_for.may_overdraw, read_for.keeps_sight))
    };
    assert_eq!(begin(&mut schedule, T0 + 10_000), Some((true, true)));
    schedule.want(&Read::AccountNow, T0 + 10_300);
    assert_eq!(begin(&mut schedule, T0 + 10_300), Some((true, false)));
    assert_eq!(begin(&mut schedule, T0 + 20_300), Some((true, true)));
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
    assert_eq!(schedule.next_steady_ms(Lane::Account), T0 + 900 + TURN_MS, "unless it is answered");
}

/// What a halt waits for overdraws a spent share: ledger and mode now and then, the account as often as it is paid for. What
/// must wait is not tried meanwhile, and stays urgent.
#[test]
fn what_a_halt_waits_for_overdraws_a_spent_share() {
    let all = [Task::Mids, Task::Account, Task::Orders];
    let (budget, on_demand) = (SMALLEST_BUDGET, [Task::Mode, Task::Ledger, Task::Universe]);
    let mut schedule = Schedule::new(&all, &on_demand, Intervals::for_budget(budget), budget);
    let first = |schedule: &mut Schedule| (0..3).filter_map(|_| schedule.begin(Lane::Basis, T0, |_, _| 43_000)).count();
    for (task, wanted) in on_demand.into_iter().zip([Read::Mode { is_for_halt: true }, LEDGER, Read::Universe]) {
        schedule.want(&wanted, T0);
        assert_eq!(first(&mut schedule), 1);
        schedule.done(task, T0, u64::MAX, true);
    }
    read_once(&mut schedule, [(Task::Mids, 8_000), (Task::Account, 8_000), (Task::Orders, 30_000)], true);
    let mut overdraws = |read: Read, lane: Lane, now_ms: u64| {
        schedule.want(&read, now_ms);
        schedule.begin(lane, now_ms, |_, _| 43_000).is_some_and(|(task, read_for)| {
            schedule.done(task, now_ms, 60_000, true);
            read_for.may_overdraw
        })
    };
    let soon = T0 + 300;
    assert!(overdraws(Read::AccountNow, Lane::Account, soon) && overdraws(Read::OrdersNow, Lane::Orders, soon));
    let from = T0 + APART_MS;
    assert!(overdraws(Read::Mode { is_for_halt: true }, Lane::Basis, from));
    // Twice in a row, and then as often as any.
    let seen = [0, APART_MS, 2 * APART_MS, FIRST_AGAIN_MS - 1, FIRST_AGAIN_MS, FIRST_AGAIN_MS + APART_MS]
        .map(|after_ms| overdraws(LEDGER, Lane::Basis, from + after_ms));
    assert_eq!(seen, [true, true, false, false, true, false]);
    assert!(!overdraws(Read::Universe, Lane::Basis, from), "new markets can wait");
}

#[test]
fn at_a_start_mode_markets_and_the_account_come_before_all_that_can_wait() {
    let at_once = [Task::Mode, Task::Universe, Task::Mids, Task::Account, Task::Orders, Task::Limits];
    let mut schedule = Schedule::new(&at_once, &[], Intervals::for_budget(SMALLEST_BUDGET), SMALLEST_BUDGET);
    let all = [Lane::Basis, Lane::Basis, Lane::Basis, Lane::Beside, Lane::Prices, Lane::Account, Lane::Orders];
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
    schedule.done(Task::Limits, T0, 60_000, false);
    let again = schedule.begin(Lane::Beside, T0 + FIRST_AGAIN_MS, |_, _| 43_000);
    assert!(matches!(again, Some((Task::Limits, ReadFor { may_overdraw: true, is_urgent: false, .. }))), "{again:?}");
}

/// Each try weighs 20, and a mode that is not told now is seldom told a second later.
#[test]
fn a_mode_that_cannot_be_read_is_asked_for_ever_more_seldom() {
    let mut schedule = Schedule::new(&[Task::Mode], &[], Intervals::for_budget(IP_BUDGET), IP_BUDGET);
    let mut begun = Vec::new();
    for now_ms in T0..T0 + 100_000 {
        // A halt that waits for it changes nothing.
        schedule.want(&Read::Mode { is_for_halt: false }, now_ms);
        if schedule.begin(Lane::Basis, now_ms, |_, _| 0).is_some() {
            begun.push((now_ms - T0) / 1_000);
            schedule.done(Task::Mode, now_ms, 60_000, false);
        }
    }
    assert_eq!(begun, [0, 1, 3, 7, 15, 31, 61, 91]);
    schedule.done(Task::Mode, T0 + 100_000, 60_000, true);
    schedule.done(Task::Mode, T0 + 160_000, 60_000, false);
    assert_eq!(schedule.next_steady_ms(Lane::Basis), T0 + 161_000);
}

/// Tries out of turn put off no read at its own pace.
#[test]
fn urgent_reads_keep_no_steady_one_from_its_overdraft() {
    let mut schedule = schedule(SMALLEST_BUDGET);
    read_once(&mut schedule, [(Task::Mids, 8_000), (Task::Account, 8_000), (Task::Orders, 30_000)], true);
    let every_ms = Intervals::for_budget(SMALLEST_BUDGET).account_ms;
    let mut sights = Vec::new();
    for now_ms in T0 + 1_000..T0 + 3 * every_ms {
        schedule.want(&Read::AccountNow, now_ms);
        if let Some((_, read_for)) = schedule.begin(Lane::Account, now_ms, |_, _| 43_000) {
            if read_for.keeps_sight {
                sights.push(now_ms);
            }
            schedule.done(Task::Account, now_ms, 8_000, read_for.keeps_sight);
        }
    }
    assert_eq!(sights.len(), 3, "{sights:?}");
}
