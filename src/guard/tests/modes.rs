//! The account's mode: a change of it is no profit and no loss, and one that cannot be valued blinds no halt.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use super::halting::{deposit, desk, equity, explain, risk, state, steady, withdrawal, woken};
use crate::guard::{Input, Read};
use crate::venue::history::ledger;
use crate::venue::info::AccountMode;

#[test]
fn a_change_of_mode_is_no_profit() {
    let mut desk = desk();
    desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
    equity(&mut desk, dec!(25000));
    assert_eq!((&risk(&desk)["day_pnl"], &risk(&desk)["peak_equity"]), (&json!("0"), &json!("25000")));
}

/// The mode weighs as much as ten reads of the account: it is asked for where cash moves, once in three seconds.
#[test]
fn prices_that_leap_do_not_ask_for_the_mode() {
    for (is_cash, most) in [(false, 0), (true, 20)] {
        let mut desk = steady();
        let mut asked = 0;
        for second in 0..60 {
            let leap = if second % 2 == 0 { dec!(-400) } else { dec!(0) };
            if !is_cash {
                desk.unrealized = leap;
            }
            let effects = equity(&mut desk, dec!(10000) + leap);
            asked += reads(&effects).into_iter().filter(|read| matches!(read, Read::Mode { .. })).count();
        }
        assert!(asked <= most && (asked > 0) == is_cash, "{asked} in a minute, {is_cash}");
        assert_eq!(state(&desk), "active");
    }
}

/// What flowed while the mode changed is in the difference that counts as a flow, and is not counted twice when the ledger
/// shows it.
#[test]
fn a_deposit_beside_a_change_of_mode_counts_once() {
    for (time, day_start) in [(-200, "15000"), (400, "17500")] {
        let mut desk = steady();
        desk.now += 500;
        desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
        let changed_ms = desk.now;
        equity(&mut desk, dec!(15000));
        for _ in 0..4 {
            equity(&mut desk, dec!(15000));
        }
        let time = if time < 0 { changed_ms - 200 } else { desk.now + 400 };
        let after = if day_start == "15000" { dec!(15000) } else { dec!(17500) };
        equity(&mut desk, after);
        let usdc = if after > dec!(15000) { "2500.0" } else { "5000.0" };
        let updates = ledger(&json!([deposit(time, usdc)])).unwrap().rows;
        desk.now += 3_000;
        desk.step(Input::Ledger { updates, begun_ms: desk.now });
        equity(&mut desk, after);
        let shown = risk(&desk);
        assert_eq!((&shown["day_start_equity"], &shown["day_pnl"]), (&json!(day_start), &json!("0")), "{time}");
    }
}

/// A withdrawal is looked into when the purse changes as well: the mode is asked for anew, and nothing fires until it is read.
#[test]
fn a_change_of_mode_within_a_doubt_is_asked_about() {
    let mut desk = steady();
    let at = desk.now;
    equity(&mut desk, dec!(8000));
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
    let asked = equity(&mut desk, dec!(800));
    assert!(reads(&asked).contains(&&Read::Mode { is_for_halt: true }));
    desk.now += 1_500;
    let updates = ledger(&json!([withdrawal(at, "2000.0")])).unwrap().rows;
    desk.step(Input::Ledger { updates, begun_ms: desk.now });
    equity(&mut desk, dec!(800));
    equity(&mut desk, dec!(800));
    assert_eq!(state(&desk), "active");
}

/// An answer that was on its way while the mode changed may be of the purse that the account has no more.
#[test]
fn a_read_from_before_the_mode_changed_is_dropped() {
    let mut desk = steady();
    let begun_ms = desk.now + 100;
    desk.now += 200;
    let asked = desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now - 150 });
    assert!(reads(&asked).contains(&&Read::AccountNow));
    desk.equity = dec!(400);
    desk.read_account(begun_ms);
    assert_eq!(desk.guard.status_json(desk.now, (0, 0))["equity"], "10000");
    equity(&mut desk, dec!(25000));
    let shown = risk(&desk);
    assert_eq!((&shown["state"], &shown["day_pnl"]), (&json!("active"), &json!("0")));
    assert_eq!((&shown["peak_equity"], &shown["drawdown"]), (&json!("25000"), &json!("0")));
}

/// Until the mode is read the wrong purse is looked into: nothing it shows is a mark, and no loss.
#[test]
fn a_change_of_mode_that_is_read_late_fires_nothing_and_leaves_no_mark() {
    for wrong in [dec!(500), dec!(30000)] {
        let mut desk = steady();
        for _ in 0..4 {
            let asked = equity(&mut desk, wrong);
            assert!(reads(&asked).contains(&&Read::Mode { is_for_halt: true }) || desk.guard.risk.last.is_some());
        }
        desk.step(Input::Ledger { updates: Vec::new(), begun_ms: desk.now });
        desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
        assert_eq!(state(&desk), "active");
        equity(&mut desk, dec!(12000));
        let shown = risk(&desk);
        assert_eq!((&shown["state"], &shown["peak_equity"]), (&json!("active"), &json!("12000")), "{wrong}");
        assert_eq!((&shown["day_pnl"], &shown["drawdown"]), (&json!("0"), &json!("0")), "{wrong}");
        desk.unrealized = dec!(-600);
        for _ in 0..12 {
            equity(&mut desk, dec!(11400));
        }
        assert_eq!(state(&desk), "halted_for_day");
    }
}

/// The equity cannot be read any more: what the positions lose from then on still fires, also what was closed at a loss.
#[test]
fn a_mode_that_cannot_be_valued_blinds_no_halt() {
    for (closes, lost, halts) in [
        (None, dec!(499.99), false),
        (None, dec!(500), true),
        (Some(0), dec!(499.99), false),
        (Some(0), dec!(500), true),
        // The account is read again before the prices that it was closed at.
        (Some(3), dec!(500), true),
    ] {
        let mut desk = steady();
        equity(&mut desk, dec!(400));
        desk.step(Input::UnvaluedMode { mode: "portfolioMargin".into(), begun_ms: desk.now });
        let status = desk.guard.status_json(desk.now, (0, 0));
        let alerts = status["alerts"].as_array().unwrap();
        assert!(alerts.iter().any(|alert| alert["code"] == "account_mode"), "{alerts:?}");
        assert_eq!(status["equity"], "10000");
        assert!(desk.guard.problems(desk.now).iter().any(|problem| problem.contains("portfolioMargin")));
        desk.unrealized = -lost;
        equity(&mut desk, dec!(350));
        if let Some(reads_before) = closes {
            // All that it lost came with the close.
            desk.unrealized = dec!(0);
            equity(&mut desk, dec!(350));
            desk.positions.clear();
            for _ in 0..reads_before {
                equity(&mut desk, dec!(0));
            }
            desk.mids.insert("ETH".into(), dec!(2000) - lost);
            desk.read_mids(desk.now);
        }
        for _ in 0..12 {
            equity(&mut desk, dec!(0));
        }
        assert_eq!(state(&desk) == "halted_for_day", halts, "{lost} {closes:?}");
        desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
        assert!(desk.guard.problems(desk.now).iter().all(|problem| !problem.contains("portfolioMargin")));
    }
}

/// A life that begins in such a mode has read no equity: what the account shows there is none, and counts as if it were worth what the
/// day began with.
#[test]
fn a_life_that_begins_in_a_mode_that_cannot_be_valued_fires_by_what_the_positions_lose() {
    for (lost, halts) in [(None, false), (Some(dec!(499.99)), false), (Some(dec!(500)), true)] {
        for is_known_first in [true, false] {
            let day = json!({"kind": "day", "at_ms": NOW - 60_000, "day": "2027-01-15", "venue_ms": NOW - 60_000,
                "equity": "10000", "ledger_ms": NOW - 60_000});
            let mut desk = woken(&[day.to_string()]);
            desk.mids.insert("ETH".into(), dec!(2000));
            desk.read_mids(desk.now);
            if lost.is_some() {
                desk.positions.insert("ETH", dec!(1));
            }
            if !is_known_first {
                desk.step(Input::ModeUnread);
                equity(&mut desk, dec!(0));
            }
            desk.step(Input::UnvaluedMode { mode: "portfolioMargin".into(), begun_ms: desk.now });
            (0..3).for_each(|_| _ = equity(&mut desk, dec!(0)));
            assert_eq!((state(&desk), desk.guard.risk.is_halted()), ("active".to_owned(), false), "{lost:?}");
            desk.unrealized = -lost.unwrap_or_default();
            (0..12).for_each(|_| _ = equity(&mut desk, dec!(0)));
            let wanted = if halts { "halted_for_day" } else { "active" };
            assert_eq!(state(&desk), wanted, "{lost:?} {is_known_first}: {}", risk(&desk));
        }
    }
}

/// Prices leap, and a moment later the equity is read where it is no more: that read sets no mark, however long the leaps
/// have been looked at.
#[test]
fn a_leap_of_prices_settles_no_read_of_the_wrong_purse() {
    let mut desk = steady();
    for leap in
        [dec!(200), dec!(400), dec!(200), dec!(400), dec!(200), dec!(400), dec!(200), dec!(400), dec!(200), dec!(400)]
    {
        desk.unrealized = leap;
        equity(&mut desk, dec!(10000) + leap);
    }
    desk.unrealized = dec!(0);
    equity(&mut desk, dec!(1000));
    desk.now += 500;
    desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
    equity(&mut desk, dec!(10000));
    equity(&mut desk, dec!(10000));
    let peak: rust_decimal::Decimal = risk(&desk)["peak_equity"].as_str().unwrap().parse().unwrap();
    assert!(peak < dec!(11000), "{peak}");
    assert_eq!(state(&desk), "active");
}

/// Money that comes in just before the mode changes, and the change back: whether the market of what is held is known or not,
/// a read of it sets marks no sooner, and each change counts from the last read that did.
#[test]
fn a_position_in_an_unknown_market_settles_nothing_sooner() {
    for coin in ["ETH", "UNHEARD"] {
        let mut desk = steady();
        desk.positions.clear();
        desk.hold(coin, dec!(1));
        equity(&mut desk, dec!(10000));
        let at = desk.now + 500;
        equity(&mut desk, dec!(15000));
        assert_eq!(risk(&desk)["peak_equity"], "10000", "{coin}");
        equity(&mut desk, dec!(1500));
        desk.now += 500;
        desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
        equity(&mut desk, dec!(15000));
        desk.now += 3_000;
        let updates = ledger(&json!([deposit(at, "5000.0")])).unwrap().rows;
        desk.step(Input::Ledger { updates, begun_ms: desk.now });
        equity(&mut desk, dec!(15000));
        let figures = |desk: &Desk| (risk(desk)["day_start_equity"].clone(), risk(desk)["peak_equity"].clone());
        assert_eq!(figures(&desk), (json!("15000"), json!("15000")), "{coin}");
        desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
        equity(&mut desk, dec!(12000));
        assert_eq!(figures(&desk), (json!("12000"), json!("12000")), "{coin}");
    }
}

/// What a position lost between the last read that set marks and the change is lost, and no flow: to the limit and past it.
#[test]
fn a_loss_beside_a_change_of_mode_stays_one() {
    for (lost, halts) in [(dec!(499.99), false), (dec!(500), true)] {
        let mut desk = steady();
        desk.unrealized = -lost;
        equity(&mut desk, dec!(10000) - lost);
        desk.now += 500;
        desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
        for _ in 0..14 {
            equity(&mut desk, (dec!(10000) - lost) * dec!(2));
        }
        assert_eq!(state(&desk) == "halted_for_day", halts, "{lost}");
    }
}

/// A loss that is made sure of is believed after ten seconds: what explains it is heard from the middle of that on, although the
/// mode cannot be read.
#[test]
fn a_flow_that_explains_a_loss_waits_half_its_doubt_for_the_mode() {
    for (ms, is_heard) in [(4_999, false), (5_000, true)] {
        let mut desk = steady();
        let at = desk.now + 500;
        equity(&mut desk, dec!(7900));
        let seen_ms = desk.now;
        for _ in 0..4 {
            equity(&mut desk, dec!(7900));
        }
        desk.now = seen_ms + ms;
        let updates = ledger(&json!([withdrawal(at, "2000.0")])).unwrap().rows;
        desk.step(Input::Ledger { updates, begun_ms: desk.now });
        assert_eq!(risk(&desk)["day_start_equity"] != "10000", is_heard, "{ms}");
    }
}

/// A flow from before a change of the mode, shown after it, is measured by what the account was worth in the purse that it had
/// then.
#[test]
fn a_flow_from_before_a_change_of_mode_is_measured_by_the_reads_of_its_time() {
    let mut desk = steady();
    let at = desk.now + 500;
    desk.now += 1_000;
    desk.equity = dec!(5000);
    for _ in 0..2 {
        desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
        equity(&mut desk, dec!(5000));
    }
    desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
    equity(&mut desk, dec!(25000));
    desk.now += 2_500;
    let updates = ledger(&json!([withdrawal(at, "5000.0")])).unwrap().rows;
    desk.step(Input::Ledger { updates, begun_ms: desk.now });
    for _ in 0..12 {
        equity(&mut desk, dec!(25000));
    }
    let shown = risk(&desk);
    assert_eq!((&shown["day_start_equity"], &shown["peak_equity"]), (&json!("25000"), &json!("25000")));
    assert_eq!(shown["state"], "active");
}

/// Before a read of the account shows a flow, nothing tells whether an older one moved it as well: the ledger may show that
/// one later, and counted one after the other, each would be measured without the other.
#[test]
fn a_flow_that_no_read_follows_waits_for_an_older_one() {
    for (after_ms, is_taken) in [(1_999, false), (2_000, true)] {
        let mut desk = desk();
        equity(&mut desk, dec!(10000));
        let (older, younger) = (desk.now + 100, desk.now + 200);
        desk.now = younger + after_ms;
        explain(&mut desk, json!([deposit(younger, "8000.0")]));
        assert_eq!(risk(&desk)["day_start_equity"] != "10000", is_taken, "{after_ms}");
        if is_taken {
            continue;
        }
        equity(&mut desk, dec!(20000));
        desk.now += 1_000;
        explain(&mut desk, json!([deposit(older, "2000.0"), deposit(younger, "8000.0")]));
        equity(&mut desk, dec!(20000));
        let shown = risk(&desk);
        assert_eq!((&shown["day_start_equity"], &shown["day_pnl"]), (&json!("20000"), &json!("0")));
        assert_eq!((&shown["peak_equity"], &shown["drawdown"]), (&json!("20000"), &json!("0")));
    }
}

/// While nobody can say in which purse the equity is, a flow that the reads do not explain is measured by none of them; such
/// reads are held for ten seconds.
#[test]
fn a_flow_among_reads_of_another_purse_waits_for_the_mode() {
    for (reads, is_taken) in [(9, false), (10, true)] {
        let mut desk = steady();
        equity(&mut desk, dec!(1000));
        let at = desk.now + 500;
        // A tenth is in this purse.
        (0..=reads).for_each(|_| _ = equity(&mut desk, dec!(1100)));
        let updates = ledger(&json!([deposit(at, "1000.0")])).unwrap().rows;
        desk.step(Input::Ledger { updates: updates.clone(), begun_ms: desk.now });
        assert_eq!(risk(&desk)["day_start_equity"] != "10000", is_taken, "{reads} more reads");
        if is_taken {
            continue;
        }
        desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
        equity(&mut desk, dec!(11000));
        desk.step(Input::Ledger { updates, begun_ms: desk.now });
        equity(&mut desk, dec!(11000));
        let shown = risk(&desk);
        assert_eq!((&shown["day_start_equity"], &shown["day_pnl"]), (&json!("11000"), &json!("0")));
        assert_eq!((&shown["peak_equity"], &shown["drawdown"]), (&json!("11000"), &json!("0")));
    }
}

/// A change of the mode is remembered with the time since which what flowed is in it, by the next life too.
#[test]
fn what_flowed_in_a_change_of_mode_counts_once_over_a_restart() {
    let mut desk = steady();
    let since_ms = desk.now;
    desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
    let told = equity(&mut desk, dec!(15000)).risk;
    let told: Vec<Value> = told.iter().map(|record| serde_json::from_str(&record.text).unwrap()).collect();
    let change = told.into_iter().find(|record| record["kind"] == "flow").unwrap();
    assert_eq!((&change["since_ms"], &change["time_ms"]), (&json!(since_ms), &json!(since_ms + 1_000)));
    for (time_ms, is_in_it) in [(since_ms, false), (since_ms + 1, true), (since_ms + 1_000, true)] {
        let day = json!({"kind": "day", "at_ms": NOW - 60_000, "day": "2027-01-15", "venue_ms": NOW - 60_000,
            "equity": "10000", "ledger_ms": NOW - 60_000});
        let mut desk = woken(&[day.to_string(), change.to_string()]);
        desk.now = since_ms + 5_000;
        desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
        equity(&mut desk, dec!(15000));
        desk.now += 3_000;
        let updates = ledger(&json!([deposit(time_ms, "5000.0")])).unwrap().rows;
        desk.step(Input::Ledger { updates, begun_ms: desk.now });
        assert_eq!(risk(&desk)["day_start_equity"] == "15000", is_in_it, "{}", time_ms - since_ms);
    }
}
