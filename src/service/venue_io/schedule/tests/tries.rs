//! Reads of what all others are understood by, which have another try beside a late one where something waits for them.

use super::*;
use crate::service::venue_io::read_task::TRIES;

/// What a halt waits for, with the read that asks for it.
const FOR_HALTS: [(Task, Read); 2] = [(Task::Mode, Read::Mode { is_for_halt: true }), (Task::Ledger, LEDGER)];
const ALL: [Task; 3] = [Task::Mode, Task::Universe, Task::Ledger];

/// One of a whole address's, which is due by itself at the start.
fn first(task: Task) -> Schedule {
    Schedule::new(&[task], &[], Intervals::for_budget(IP_BUDGET), IP_BUDGET)
}

/// One that was read at `T0`.
fn known(task: Task) -> Schedule {
    let mut schedule = first(task);
    assert!(is_begun(&mut schedule, task, T0));
    schedule.done(task, T0, 60_000, true);
    schedule
}

fn is_begun(schedule: &mut Schedule, task: Task, now_ms: u64) -> bool {
    schedule.left = IP_BUDGET;
    schedule.begin(task.lane(), now_ms, |_, _| 0).is_some_and(|(begun, _)| begun == task)
}

/// When tries begin in this time while none is answered, after its beginning.
fn begun(schedule: &mut Schedule, task: Task, times_ms: std::ops::Range<u64>) -> Vec<u64> {
    let from_ms = times_ms.start;
    times_ms.filter(|now_ms| is_begun(schedule, task, *now_ms)).map(|now_ms| now_ms - from_ms).collect()
}

/// Some together, and no more than that until what is asked answers or is given up on.
#[test]
fn the_first_of_its_kind_that_is_late_has_others_beside_it() {
    for task in ALL {
        let mut schedule = first(task);
        let turns: Vec<u64> = (0..TRIES as u64).map(|turn| turn * TURN_MS).collect();
        assert_eq!(begun(&mut schedule, task, T0..T0 + 60_000), turns, "{task:?}");
        // The older ones are given up on, which says nothing of the newest.
        (0..3).for_each(|turn| schedule.done(task, T0 + turn * TURN_MS, 60_000, false));
        assert!(begun(&mut schedule, task, T0 + 60_000..T0 + 70_000).is_empty(), "{task:?}");
        schedule.done(task, T0 + 3 * TURN_MS, 60_000, false);
        assert_eq!(begun(&mut schedule, task, T0 + 70_000..T0 + 75_000), [0, TURN_MS], "{task:?}");
    }
}

#[test]
fn what_a_halt_waits_for_has_others_beside_it() {
    for (task, read) in FOR_HALTS {
        let mut schedule = known(task);
        schedule.want(&read, T0 + 10_000);
        assert_eq!(begun(&mut schedule, task, T0 + 10_000..T0 + 15_000), [0, TURN_MS], "{task:?}");
    }
}

/// Also where it was on its way already for something that could wait.
#[test]
fn what_a_halt_comes_to_wait_for_has_another_beside_it() {
    for (task, read) in FOR_HALTS {
        for (wanted_ms, again_ms) in [(1_000, TURN_MS), (9_000, 9_000)] {
            let mut schedule = known(task);
            let from_ms = T0 + 60_000;
            assert_eq!(begun(&mut schedule, task, from_ms..from_ms + wanted_ms), [0], "{task:?}");
            schedule.want(&read, from_ms + wanted_ms);
            let again = begun(&mut schedule, task, from_ms + wanted_ms..from_ms + again_ms + 1);
            assert_eq!(again, [again_ms - wanted_ms], "{task:?}");
        }
    }
}

#[test]
fn what_nothing_waits_for_has_none_beside_it() {
    for task in ALL {
        let mut schedule = known(task);
        assert_eq!(begun(&mut schedule, task, T0 + 60_000..T0 + 120_000), [0], "{task:?}");
        // Nor has what can wait.
        schedule.want(&Read::Universe, T0 + 120_000);
        schedule.want(&Read::LedgerSoon { since_ms: 0 }, T0 + 120_000);
        assert!(begun(&mut schedule, task, T0 + 120_000..T0 + 180_000).is_empty(), "{task:?}");
    }
}

/// Whichever is answered first: all were for the same.
#[test]
fn after_one_answer_the_others_count_no_more() {
    for task in ALL {
        for answered in 0..2_u64 {
            let mut schedule = first(task);
            let at = |turn: u64| T0 + turn * TURN_MS;
            assert_eq!(begun(&mut schedule, task, T0..at(1) + 1).len(), 2);
            assert!(!schedule.is_overtaken(task, T0) && !schedule.is_overtaken(task, at(1)));
            assert!(schedule.overtakes(task, at(answered)));
            assert_eq!(schedule.is_overtaken(task, T0), answered == 1, "at once");
            schedule.done(task, at(answered), 60_000, true);
            assert!((0..2).all(|turn| schedule.ends_overtaken(task, at(turn)) && !schedule.overtakes(task, at(turn))));
            assert_eq!(schedule.next_steady_ms(task.lane()), at(1) + 60_000, "{task:?}");
        }
    }
}

/// A halt that began to wait meanwhile needs a newer one.
#[test]
fn an_answer_to_what_was_asked_before_will_not_do() {
    for (task, read) in FOR_HALTS {
        let mut schedule = known(task);
        let (from_ms, again_ms) = (T0 + 60_000, T0 + 60_000 + TURN_MS);
        assert!(is_begun(&mut schedule, task, from_ms));
        schedule.want(&read, from_ms + 1_000);
        assert!(is_begun(&mut schedule, task, again_ms));
        schedule.done(task, from_ms, 60_000, true);
        assert!(!schedule.is_overtaken(task, again_ms), "{task:?}");
        assert_eq!(begun(&mut schedule, task, again_ms..again_ms + TURN_MS + 1), [TURN_MS], "{task:?}");
        schedule.done(task, again_ms, 60_000, true);
        assert!(schedule.is_overtaken(task, again_ms + TURN_MS), "{task:?}");
    }
}

/// One that fails while another is on its way is tried again after its pause, and has nothing to tell once the other is answered.
#[test]
fn one_that_fails_beside_another_leaves_that_to_answer() {
    for task in ALL {
        let mut schedule = first(task);
        let again_ms = T0 + TURN_MS;
        assert_eq!(begun(&mut schedule, task, T0..again_ms + 1).len(), 2);
        schedule.done(task, again_ms, 60_000, false);
        assert_eq!(schedule.next_steady_ms(task.lane()), again_ms + RETRY_MS, "{task:?}");
        schedule.done(task, T0, 60_000, true);
        assert_eq!(schedule.next_steady_ms(task.lane()), again_ms + 60_000, "{task:?}");
    }
}

/// However often they fail at once beside some that hang, and are wanted anew.
#[test]
fn so_many_are_under_way_at_most() {
    for (task, read) in FOR_HALTS {
        let mut schedule = known(task);
        let mut hang = 0;
        for now_ms in T0 + 1_000..T0 + 120_000 {
            schedule.want(&read, now_ms);
            if is_begun(&mut schedule, task, now_ms) {
                // Each other one hangs for good.
                hang += 1;
                if hang % 2 == 0 {
                    schedule.done(task, now_ms, 60_000, false);
                }
            }
        }
        assert_eq!(hang, 2 * TRIES - 1, "{task:?}");
    }
}

/// At a start, and where a halt waits, another one beside the first overdraws a spent share as that did, once, and then as seldom
/// as any.
#[test]
fn others_beside_it_overdraw_a_spent_share_as_two_in_a_row_do() {
    let tries = |mut schedule: Schedule, task: Task, from_ms: u64| -> Vec<(u64, bool)> {
        let mut begun = Vec::new();
        for now_ms in from_ms..from_ms + 15_000 {
            if let Some((_, read_for)) = schedule.begin(task.lane(), now_ms, |_, _| 43_000) {
                begun.push((now_ms - from_ms, read_for.may_overdraw));
            }
        }
        begun
    };
    let twice = [(0, true), (TURN_MS, true), (FIRST_AGAIN_MS, true)];
    for task in [Task::Mode, Task::Universe] {
        assert_eq!(tries(first(task), task, T0), twice, "{task:?}");
    }
    for (task, read) in FOR_HALTS {
        let mut schedule = known(task);
        schedule.want(&read, T0 + 10_000);
        assert_eq!(tries(schedule, task, T0 + 10_000), twice, "{task:?}");
    }
    // What cash that moved calls for does not: no halt waits.
    let mut schedule = known(Task::Ledger);
    schedule.want(&Read::Ledger { since_ms: 0, is_for_halt: false }, T0 + 10_000);
    assert_eq!(tries(schedule, Task::Ledger, T0 + 10_000), [(0, true), (FIRST_AGAIN_MS, true)]);
}
