//! The first read of a life may be wrong: it sets no mark until a later one shows the same, and no day by its time alone.

use rust_decimal::{Decimal, dec};
use serde_json::json;

use super::fixture::*;
use super::halting::{DAY_MS, equity, explain, risk, state};
use crate::guard::{Guard, Input, Mode, Read};
use crate::rules::Rules;
use crate::venue::info::AccountMode;

/// A life that knows its mode and has read the account once, with this equity; of an account of 10000 as its journal knows, or
/// without one.
fn once(journal: bool, first: Decimal) -> Desk {
    let mut guard = Guard::new(config(Mode::Testnet, Rules::default()), 0);
    if journal {
        guard.restore_risk_json(
            &json!({"kind": "init", "at_ms": NOW - 1, "venue_ms": NOW - 1, "equity": "10000", "note": "new"}),
        );
    }
    let mut desk = Desk::begin(guard, NOW);
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW });
    desk.equity = first;
    let asked = desk.read_account(NOW);
    assert!(reads(&asked).contains(&&Read::AccountNow), "a second one is asked for at once");
    assert!(asked.risk.is_empty(), "nothing of it is written: {:?}", asked.risk);
    desk
}

#[test]
fn one_wrong_first_read_sets_no_mark() {
    for journal in [true, false] {
        for times in [dec!(0.1), dec!(0.5), dec!(1.0101), dec!(2), dec!(10)] {
            let mut desk = once(journal, dec!(10000) * times);
            for _ in 0..4 {
                equity(&mut desk, dec!(10000));
                explain(&mut desk, json!([]));
            }
            let shown = risk(&desk);
            assert_eq!(state(&desk), "active", "{times}: {shown}");
            let marks = (&shown["day_start_equity"], &shown["peak_equity"]);
            assert_eq!(marks, (&json!("10000"), &json!("10000")), "{journal} {times}");
            // And a loss counts in full.
            for (left, halts) in [(dec!(9500.01), false), (dec!(9500), true)] {
                super::halting::lose(&mut desk, left);
                assert_eq!(state(&desk) == "halted_for_day", halts, "{journal} {times} {left}");
            }
        }
    }
}

/// A percent apart two reads agree, and no further.
#[test]
fn the_second_read_settles_what_it_agrees_with() {
    for (second, agrees) in [(dec!(9900), true), (dec!(9899.99), false)] {
        let mut desk = once(false, dec!(10000));
        equity(&mut desk, second);
        assert_eq!(desk.guard.risk.day_start.is_some(), agrees, "{second}");
    }
    // The same moment, read twice, is one witness.
    for (later_ms, agrees) in [(0, false), (1, true)] {
        let mut desk = once(false, dec!(10000));
        let again = desk.state(NOW + later_ms);
        desk.now += 1_000;
        desk.step(Input::Account { state: again, equity: dec!(10000), begun_ms: desk.now });
        assert_eq!(desk.guard.risk.day_start.is_some(), agrees, "{later_ms}");
    }
}

/// A loss that the journal's marks tell of fires on the second read.
#[test]
fn a_loss_while_away_fires_as_soon_as_it_was_read_twice() {
    let mut guard = Guard::new(config(Mode::Testnet, Rules::default()), 0);
    guard.restore_risk_json(
        &json!({"kind": "init", "at_ms": NOW - 1, "venue_ms": NOW - 1, "equity": "10000", "note": "new"}),
    );
    let mut desk = Desk::begin(guard, NOW);
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW });
    desk.equity = dec!(9000);
    desk.read();
    assert_eq!(state(&desk), "active");
    desk.now += 500;
    explain(&mut desk, json!([]));
    equity(&mut desk, dec!(9000));
    explain(&mut desk, json!([]));
    desk.now += 2_000;
    explain(&mut desk, json!([]));
    equity(&mut desk, dec!(9000));
    assert_eq!(state(&desk), "halted_for_day");
}

/// A day that began while the guard was away begins with what a second read shows: the loss of the day before is not of this one.
#[test]
fn a_new_day_that_waits_for_its_second_read_fires_nothing() {
    let mut guard = Guard::new(config(Mode::Testnet, Rules::default()), 0);
    let before = NOW - DAY_MS;
    guard.restore_risk_json(
        &json!({"kind": "init", "at_ms": before, "venue_ms": before, "equity": "10000", "note": "new"}),
    );
    let mut desk = Desk::begin(guard, NOW);
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW });
    desk.hold("ETH", dec!(1));
    for (usd, reads) in [(dec!(600), 1), (dec!(720), 2)] {
        for _ in 0..reads {
            super::halting::position_loses(&mut desk, usd);
            assert_eq!(state(&desk), "active", "{}", risk(&desk));
        }
    }
    assert_eq!(risk(&desk)["day_start_equity"], "9280");
}

#[test]
fn one_first_answer_with_a_wrong_time_sets_no_day() {
    for (ahead_ms, is_taken) in [(10_000, true), (10_001, false), (365 * DAY_MS, false)] {
        let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
        desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW });
        let (state, equity_now) = (desk.state(NOW + ahead_ms), desk.equity);
        let asked = desk.step(Input::Account { state, equity: equity_now, begun_ms: NOW });
        assert!(reads(&asked).contains(&&Read::AccountNow));
        assert_eq!(desk.guard.view.account.is_some(), is_taken, "{ahead_ms}");
        if !is_taken {
            for _ in 0..2 {
                equity(&mut desk, dec!(10000));
            }
            assert_eq!(desk.guard.risk.day(), Some(crate::base::day::day_of(NOW)), "{ahead_ms}");
        }
    }
    // A machine whose clock is behind has the next answer for a witness.
    let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW });
    for second in 1..=3 {
        desk.now += 1_000;
        let state = desk.state(desk.now + DAY_MS);
        desk.step(Input::Account { state, equity: dec!(10000), begun_ms: desk.now });
        assert_eq!(desk.guard.view.account.is_some(), second > 1);
    }
    assert_eq!(desk.guard.risk.day(), Some(crate::base::day::day_of(NOW + DAY_MS)));
}
