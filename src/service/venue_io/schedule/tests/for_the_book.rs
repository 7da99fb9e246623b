//! Reads that the book alone wants.

use super::super::held_back::{BOOK_AFTER_MS, START_MS};
use super::*;

/// A ledger that the book alone wants waits for its room, and no longer than its interval.
#[test]
fn a_ledger_for_the_book_waits_for_room() {
    for (room_ms, next_ms) in [(30_000, 35_000), (90_000, 60_000)] {
        let mut schedule =
            Schedule::new(&[Task::Account, Task::Orders], &[Task::Ledger], Intervals::for_budget(1_200), 1_200);
        [Task::Account, Task::Orders, Task::Ledger].iter().for_each(|task| schedule.done(*task, T0, 60_000, true));
        schedule.want(&Read::LedgerSoon { since_ms: 0 }, T0 + 5_000);
        let wait_ms = |priority, _| if priority == Priority::EarlyRead { room_ms } else { 0 };
        assert!(schedule.begin(Lane::Basis, T0 + 5_000, wait_ms).is_none());
        assert_eq!(schedule.next_steady_ms(Lane::Basis), T0 + next_ms);
        let begun = schedule.begin(Lane::Basis, T0 + next_ms, |_, _| room_ms - (next_ms - 5_000).min(room_ms));
        assert!(begun.is_some_and(|(task, _)| task == Task::Ledger), "{room_ms}");
    }
    // What a halt waits for does not.
    let mut schedule =
        Schedule::new(&[Task::Account, Task::Orders], &[Task::Ledger], Intervals::for_budget(1_200), 1_200);
    [Task::Account, Task::Orders, Task::Ledger].iter().for_each(|task| schedule.done(*task, T0, 60_000, true));
    schedule.want(&LEDGER, T0 + 5_000);
    assert!(schedule.begin(Lane::Basis, T0 + 5_000, |_, _| 30_000).is_some());
}

/// A start that has just seen the account is followed by others, and a minute of them has the weight of one.
#[test]
fn the_record_waits_for_what_a_start_has_written_down() {
    let started = |is_for_cover: bool| {
        let mut schedule = Schedule::new(
            &[Task::Account, Task::Orders],
            &[Task::BookFills, Task::Fundings],
            Intervals::for_budget(1_200),
            1_200,
        );
        [Task::Account, Task::Orders].iter().for_each(|task| schedule.done(*task, T0, 60_000, true));
        schedule.want(&Read::BookFills { since_ms: 0, is_for_cover }, T0);
        schedule
    };
    let begins = |at_ms: u64, left: u32| {
        let mut schedule = started(false);
        schedule.left = left;
        schedule.begin(Lane::Beside, at_ms, |_, _| 0).is_some()
    };
    let half = IP_BUDGET / 2;
    assert!(!begins(T0, IP_BUDGET) && !begins(T0 + BOOK_AFTER_MS - 1, IP_BUDGET));
    assert!(begins(T0 + BOOK_AFTER_MS, half) && !begins(T0 + BOOK_AFTER_MS, half - 1));
    assert!(begins(T0 + START_MS, half - 1) && !begins(T0 + START_MS - 1, half - 1));
    // What tells where a stop belongs does not wait, and goes by what is kept for a flatten.
    let mut schedule = started(true);
    let (_, read_for) = schedule.begin(Lane::Beside, T0, |_, _| 0).unwrap();
    assert!(read_for.is_urgent);
    for (kept_ms, begins) in [(0, true), (30_000, false)] {
        let wait_ms = |priority, _| if priority == Priority::Flatten { kept_ms } else { 30_000 };
        let mut schedule = started(true);
        schedule.due.iter_mut().for_each(|due| due.overdraft_from_ms = T0 + 60_000);
        assert_eq!(schedule.begin(Lane::Beside, T0, wait_ms).is_some(), begins, "{kept_ms}");
        // Without any room it is looked at again later, and not at once for as long as there is none.
        assert!(begins || schedule.next_steady_ms(Lane::Beside) >= T0 + 1_000, "{kept_ms}");
    }
}
