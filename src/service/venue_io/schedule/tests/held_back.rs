//! Where the address has little left, most reads wait.

use super::super::held_back::{LAST_APART_MS, LAST_PART, SIGHT_LEAST};
use super::*;

/// Whoever has spent the rest: an eighth of the address is for prices and account, which come every four seconds in it.
#[test]
fn the_last_eighth_of_the_address_is_for_prices_and_account() {
    for (left, sparse) in [(LAST_PART + HEAVY_WEIGHT, false), (LAST_PART + HEAVY_WEIGHT - 1, true), (0, true)] {
        let mut schedule = schedule(IP_BUDGET);
        read_once(&mut schedule, [(Task::Mids, 1_000), (Task::Account, 1_000), (Task::Orders, 5_000)], true);
        schedule.left = left;
        schedule.want(&Read::AccountNow, T0 + 500);
        schedule.want(&Read::OrdersNow, T0 + 500);
        let all = TASKS[usize::from(sparse) * 3..].to_vec();
        assert_eq!(tasks(&mut schedule, T0 + 1_000), all, "{left}");
        if sparse {
            assert!(tasks(&mut schedule, T0 + LAST_APART_MS - 1).is_empty());
            let begun = LANES.map(|lane| schedule.begin(lane, T0 + LAST_APART_MS, |_, _| 43_000));
            let sees = |read: &Option<(Task, ReadFor)>| {
                read.is_some_and(|(_, read_for)| read_for.may_overdraw && read_for.keeps_sight)
            };
            assert_eq!(begun.each_ref().map(sees), [true, true, false], "{begun:?}");
        }
    }
}

/// A halt is worth more than the open orders, and less than what shows that there is something to halt for; cash that moved, of
/// which no halt comes yet, leaves it the weight for one.
#[test]
fn what_a_halt_waits_for_leaves_prices_and_account_their_minute() {
    let moved = |read: &Read| match read {
        Read::Mode { .. } => Read::Mode { is_for_halt: false },
        _ => Read::Ledger { since_ms: 0, is_for_halt: false },
    };
    for (task, read) in [(Task::Ledger, LEDGER), (Task::Mode, Read::Mode { is_for_halt: true })] {
        // Asked for by both, it is for the halt.
        for (wanted, others) in [
            (vec![read.clone()], SIGHT_LEAST),
            (vec![moved(&read)], LAST_PART),
            (vec![read.clone(), moved(&read)], SIGHT_LEAST),
        ] {
            let mut schedule =
                Schedule::new(&[Task::Account, Task::Orders], &[task], Intervals::for_budget(1_200), 1_200);
            [Task::Account, Task::Orders, task].iter().for_each(|task| schedule.done(*task, T0, 60_000, true));
            wanted.iter().for_each(|read| schedule.want(read, T0 + 1_000));
            schedule.left = others + HEAVY_WEIGHT - 1;
            assert!(schedule.begin(Lane::Basis, T0 + 1_000, |_, _| 0).is_none(), "{wanted:?}");
            schedule.left += 1;
            assert!(schedule.begin(Lane::Basis, T0 + 1_999, |_, _| 0).is_none(), "it looks again after a second");
            let begun = schedule.begin(Lane::Basis, T0 + 2_000, |_, _| 0);
            assert!(begun.is_some_and(|(begun, _)| begun == task), "{wanted:?}");
        }
    }
}

/// However often cash moves in a minute that is nearly spent, ledger and mode can be read once more for a halt.
#[test]
fn cash_that_moves_on_and_on_leaves_the_weight_to_make_sure_of_a_loss() {
    let on_demand = [Task::Mode, Task::Ledger];
    let mut schedule =
        Schedule::new(&[Task::Account, Task::Orders], &on_demand, Intervals::for_budget(IP_BUDGET), IP_BUDGET);
    [Task::Account, Task::Orders, Task::Mode, Task::Ledger]
        .iter()
        .for_each(|task| schedule.done(*task, T0, 60_000, true));
    let mut left = IP_BUDGET / 2;
    let mut reads = |wanted: &[Read], now_ms: u64| {
        wanted.iter().for_each(|read| schedule.want(read, now_ms));
        schedule.left = left;
        let Some((task, _)) = schedule.begin(Lane::Basis, now_ms, |_, _| 0) else { return 0 };
        left -= HEAVY_WEIGHT;
        schedule.done(task, now_ms, 60_000, true);
        1
    };
    let moved = [Read::Mode { is_for_halt: false }, Read::Ledger { since_ms: 0, is_for_halt: false }];
    let read: u32 = (T0 + 1_000..T0 + 40_000).map(|now_ms| reads(&moved, now_ms)).sum();
    assert!(read > 10, "{read} for cash that moved");
    let halt = [Read::Mode { is_for_halt: true }, LEDGER];
    let read: u32 = (T0 + 40_000..T0 + 42_000).map(|now_ms| reads(&halt, now_ms)).sum();
    assert!(read >= 2, "{read} for the halt");
}

/// Nobody could tell a position from none otherwise, however many are the reads for cover and halts.
#[test]
fn the_watch_goes_on_in_a_minute_that_is_spent() {
    let (budget, on_demand) = (IP_BUDGET, [Task::Ledger, Task::Twaps]);
    let at_once = [Task::Mode, Task::Universe, Task::Mids, Task::Account, Task::Orders];
    let mut schedule = Schedule::new(&at_once, &on_demand, Intervals::for_budget(budget), budget);
    schedule.account_weight = 4;
    at_once.iter().chain(&on_demand).for_each(|task| schedule.done(*task, T0, 1_000, true));
    let mut ledger = Ledger::new(budget, []);
    // What lives before this one have spent counts for a minute from here.
    ledger.charge(Priority::Read, None, 900, T0);
    let mut seen_ms = [T0; 2];
    for now_ms in T0..T0 + 60_000 {
        [Read::AccountNow, Read::OrdersNow, Read::Mode { is_for_halt: true }, LEDGER, Read::Twaps]
            .iter()
            .for_each(|read| schedule.want(read, now_ms));
        for lane in [Lane::Orders, Lane::Beside, Lane::Basis, Lane::Prices, Lane::Account] {
            schedule.left = IP_BUDGET.saturating_sub(ledger.used(now_ms));
            let begun = schedule.begin(lane, now_ms, |priority, weight| ledger.wait_ms(priority, weight, now_ms));
            let Some((task, read_for)) = begun else { continue };
            let weight = schedule.weight_of(task);
            let has_room = ledger.has_room(Priority::Read, None, weight, now_ms)
                || read_for.is_urgent && ledger.has_room(Priority::Flatten, None, weight, now_ms)
                || read_for.may_overdraw && read_for.keeps_sight && ledger.used(now_ms) + weight <= IP_BUDGET;
            if has_room {
                ledger.charge(Priority::Read, None, weight, now_ms);
            }
            schedule.done(task, now_ms, if task == Task::Orders { 5_000 } else { 1_000 }, has_room);
            if let Some(seen) = [Task::Mids, Task::Account].iter().position(|seen| *seen == task).filter(|_| has_room) {
                seen_ms[seen] = now_ms;
            }
        }
        let gaps = seen_ms.map(|seen| now_ms - seen);
        assert!(gaps.iter().all(|gap| *gap <= LAST_APART_MS), "{gaps:?} at {}: {}", now_ms - T0, ledger.used(now_ms));
    }
}
