//! Days are the venue's, whatever the machine's clock shows and whatever flows around midnight.

use rust_decimal::{Decimal, dec};
use serde_json::json;

use super::fixture::*;
use super::halting::{DAY_MS, deposit, desk, equity, explain, lose, risk, state, steady, withdrawal, woken};
use super::keeping_flat::none_runs;
use crate::guard::Input;

/// Days are the venue's, and a record's own day is taken at its word.
#[test]
fn a_leap_of_the_machine_s_clock_ends_no_halt_and_begins_no_day() {
    let mut desk = steady();
    desk.positions.clear();
    lose(&mut desk, dec!(9500));
    desk.read_orders(desk.now);
    // Nothing but the day holds the halt.
    none_runs(&mut desk);
    let leap = |desk: &mut Desk, by_ms: u64, at_ms: u64| {
        desk.now += by_ms;
        let (state, equity, begun_ms) = (desk.state(at_ms), desk.equity, desk.now);
        desk.step(Input::Account { state, equity, begun_ms });
        desk.read_orders(desk.now);
    };
    let venue = desk.now;
    for second in 1..=5 {
        leap(&mut desk, if second == 1 { DAY_MS } else { 1_000 }, venue + second * 1_000);
        assert_eq!((state(&desk).as_str(), &risk(&desk)["day"]), ("halted_for_day", &json!("2027-01-15")));
    }
    assert!(desk.guard.problems(desk.now).iter().any(|problem| problem.contains("ahead of the venue")));
    let midnight = NOW - NOW % DAY_MS + DAY_MS;
    for second in 0..5 {
        leap(&mut desk, if second == 0 { midnight - venue } else { 1_000 }, midnight + second * 1_000);
    }
    assert_eq!((state(&desk).as_str(), &risk(&desk)["day"]), ("active", &json!("2027-01-16")));
}

#[test]
fn a_day_that_was_recorded_is_not_begun_anew() {
    let midnight = NOW - NOW % DAY_MS + DAY_MS;
    let day = json!({"kind": "day", "at_ms": midnight + 100, "day": "2027-01-16", "venue_ms": midnight - 50,
        "equity": "10000", "ledger_ms": midnight});
    let mut desk = woken(&[day.to_string()]);
    desk.now = midnight + 60_000;
    desk.equity = dec!(9600);
    desk.read();
    let shown = risk(&desk);
    assert_eq!((&shown["day_start_equity"], &shown["day_pnl"]), (&json!("10000"), &json!("-400")));
}

/// One answer with a time ahead keeps nothing from being seen.
#[test]
fn an_answer_with_a_time_ahead_hides_no_later_one() {
    for ahead_ms in [10_000, 10_001, 3_600_000] {
        let mut desk = steady();
        let (at, equity_then, begun_ms) = (desk.state(desk.now + ahead_ms), desk.equity, desk.now);
        desk.positions.insert("SOL", dec!(1));
        desk.step(Input::Account { state: at, equity: equity_then, begun_ms });
        // One that is a little ahead is believed, for as long as the account may be old.
        for _ in 0..if ahead_ms > 10_000 { 1 } else { 8 } {
            equity(&mut desk, dec!(10000));
        }
        let shown = desk.guard.view.account.as_ref().unwrap();
        assert_eq!((shown.begun_ms, shown.positions.len()), (desk.now, 2), "{ahead_ms}");
    }
}

#[test]
fn flows_around_midnight_count_on_the_day_that_they_moved_the_balance() {
    let midnight = NOW - NOW % DAY_MS + DAY_MS;
    for (moves_ms, is_before) in [(midnight - 600, true), (midnight + 600, false)] {
        for (kind, usd) in [("deposit", dec!(5000)), ("withdraw", dec!(-5000))] {
            let entry = if kind == "deposit" { deposit(moves_ms, "5000.0") } else { withdrawal(moves_ms, "5000.0") };
            let mut desk = desk();
            desk.now = midnight - 2_000;
            equity(&mut desk, dec!(10000));
            for second in 1..4 {
                let moved = if moves_ms < midnight - 1_000 + second * 1_000 { usd } else { Decimal::ZERO };
                equity(&mut desk, dec!(10000) + moved);
            }
            // Shown after midnight, whenever it moved.
            desk.now += 1_000;
            explain(&mut desk, json!([entry]));
            equity(&mut desk, dec!(10000) + usd);
            let shown = risk(&desk);
            assert_eq!((state(&desk).as_str(), &shown["day_pnl"]), ("active", &json!("0")), "{kind} {is_before}");
            assert_eq!(shown["drawdown"], "0", "{kind} {is_before}");
            assert_eq!(shown["day"], "2027-01-16");
            // A loss of the new day is measured from what is there now.
            let limit = (dec!(10000) + usd) * dec!(0.05);
            lose(&mut desk, dec!(10000) + usd - limit);
            assert_eq!(state(&desk), "halted_for_day", "{kind} {is_before}");
        }
    }
}

/// A read of the account a while later, by a venue whose clock goes on from midnight; the day then.
fn past_midnight(desk: &mut Desk, ms: u64, since_ms: u64) -> String {
    let midnight = NOW - NOW % DAY_MS + DAY_MS;
    desk.now += ms;
    let (state, equity, begun_ms) = (desk.state(midnight + desk.now - since_ms), desk.equity, desk.now);
    desk.step(Input::Account { state, equity, begun_ms });
    risk(desk)["day"].as_str().unwrap().to_owned()
}

/// A day that has not begun by the machine's clock: answers with a wrong time, or a machine whose clock is wrong.
#[test]
fn a_day_far_ahead_of_the_machine_s_clock_begins_after_a_minute_of_it() {
    const SLACK_MS: u64 = 2 * 3_600_000;
    let midnight = NOW - NOW % DAY_MS + DAY_MS;
    // Two reads, for the first is doubted for its time alone: at the limit of what the clocks may differ by, and past it.
    for (past_ms, day) in [(0, "2027-01-16"), (1, "2027-01-15")] {
        let mut desk = desk();
        desk.now = midnight - SLACK_MS - 1_000 - past_ms;
        desk.read();
        let now = desk.now;
        past_midnight(&mut desk, 0, now);
        assert_eq!(past_midnight(&mut desk, 1_000, now), day);
    }
    let mut desk = desk();
    desk.now = midnight - 2 * SLACK_MS;
    desk.read();
    let now = desk.now;
    past_midnight(&mut desk, 0, now);
    for _ in 0..60 {
        assert_eq!(past_midnight(&mut desk, 1_000, now), "2027-01-15");
    }
    assert_eq!(past_midnight(&mut desk, 999, now), "2027-01-15");
    assert_eq!(past_midnight(&mut desk, 1, now), "2027-01-16");
    // Right again before the minute is over: it has to show anew.
    let mut desk = super::halting::desk();
    desk.now = midnight - 2 * SLACK_MS;
    desk.read();
    let now = desk.now;
    for _ in 0..3 {
        past_midnight(&mut desk, 1_000, now);
    }
    for _ in 0..10 {
        equity(&mut desk, dec!(10000));
    }
    assert_eq!(risk(&desk)["day"], "2027-01-15");
    assert!(desk.guard.risk.marks.early_day_ms.is_none());
}
