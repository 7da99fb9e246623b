//! The risk state: when a loss is believed, and how a halt ends.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use super::keeping_flat::none_runs;
use crate::guard::{Config, Effects, Guard, Input, Mode, Read};
use crate::rules::Rules;
use crate::venue::history::ledger;
use crate::venue::info::AccountMode;

pub(super) const DAY_MS: u64 = 86_400_000;

pub(super) fn risk(desk: &Desk) -> Value {
    desk.guard.status_json(desk.now, (0, 0))["risk"].clone()
}

pub(super) fn state(desk: &Desk) -> String {
    risk(desk)["state"].as_str().unwrap().to_owned()
}

/// A desk whose account's mode is known, at 10000 USDC.
pub(super) fn desk() -> Desk {
    of(config(Mode::Testnet, Rules::default()))
}

pub(super) fn of(config: Config) -> Desk {
    let mut desk = Desk::blank(config);
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW });
    desk.read_surely();
    desk.step(Input::Ledger { updates: Vec::new(), begun_ms: NOW });
    desk
}

/// The account is read a second later with this equity.
pub(super) fn equity(desk: &mut Desk, equity: Decimal) -> Effects {
    desk.equity = equity;
    desk.now += 1_000;
    desk.read_account(desk.now)
}

/// Ledger (with these updates) and mode are read now.
pub(super) fn explain(desk: &mut Desk, updates: Value) -> Effects {
    let updates = ledger(&updates).unwrap().rows;
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
    desk.step(Input::Ledger { updates, begun_ms: desk.now })
}

pub(super) fn deposit(time: u64, usdc: &str) -> Value {
    json!({"time": time, "hash": "0x0", "delta": {"type": "deposit", "usdc": usdc}})
}

pub(super) fn withdrawal(time: u64, usdc: &str) -> Value {
    json!({"time": time, "hash": "0x0", "delta": {"type": "withdraw", "usdc": usdc, "nonce": 1, "fee": "0.0"}})
}

/// Cash that is gone with nothing in the ledger, also after that had all its time to show something. What came of the
/// last read.
pub(super) fn lose(desk: &mut Desk, to: Decimal) -> Effects {
    for _ in 0..10 {
        equity(desk, to);
    }
    explain(desk, json!([]));
    equity(desk, to)
}

/// The account is read a second later, and the position has lost this much.
pub(super) fn position_loses(desk: &mut Desk, usd: Decimal) -> Effects {
    desk.unrealized = -usd;
    equity(desk, dec!(10000) - usd)
}

/// An equity that lasts, and that no change of the mode explains: it sets marks.
pub(super) fn settle(desk: &mut Desk, to: Decimal) -> Effects {
    equity(desk, to);
    explain(desk, json!([]));
    equity(desk, to)
}

pub(super) fn kinds(effects: &Effects) -> Vec<String> {
    events(effects).iter().map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
}

/// A guard woken from risk records.
pub(super) fn woken(records: &[String]) -> Desk {
    let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
    let mut guard = Guard::new(config(Mode::Testnet, Rules::default()), 1_000);
    records.iter().for_each(|record| guard.restore_risk_json(&serde_json::from_str(record).unwrap()));
    guard.start(NOW);
    desk.guard = guard;
    desk.step(Input::Universe(universe()));
    desk.step(Input::ActsFor(None));
    desk
}

#[test]
fn halted_for_day_begins_at_the_daily_loss() {
    for (left, fires) in [(dec!(9500.01), false), (dec!(9500), true)] {
        let mut desk = desk();
        let effects = lose(&mut desk, left);
        assert_eq!(state(&desk) == "halted_for_day", fires, "{left}");
        if fires {
            assert_eq!(kinds(&effects), ["risk", "flatten", "done"]);
            let told = &events(&effects)[0];
            assert_eq!((&told["state"], &told["details"]["loss"]), (&json!("halted_for_day"), &json!("500")));
            let records: Vec<Value> =
                effects.risk.iter().map(|record| serde_json::from_str(&record.text).unwrap()).collect();
            assert_eq!((&records[0]["kind"], &records[1]["kind"]), (&json!("halt"), &json!("flatten")));
            desk.order(buy(ETH, "2000", "0.1")).vetoed("halted_for_day").says(&["500", "5%", "next UTC day"]);
        }
    }
}

#[test]
fn stopped_begins_at_the_drawdown_and_outlives_the_day() {
    let rules = Rules { daily_loss: dec!(90), ..Rules::default() };
    for (left, fires) in [(dec!(10200.01), false), (dec!(10200), true)] {
        let mut desk = of(config(Mode::Testnet, rules.clone()));
        settle(&mut desk, dec!(12000));
        lose(&mut desk, left);
        assert_eq!(state(&desk) == "stopped", fires, "{left}");
        if fires {
            desk.read_orders(desk.now);
            desk.now += DAY_MS;
            desk.read();
            desk.order(buy(ETH, "2000", "0.1")).vetoed("stopped").says(&[
                "1800",
                "15%",
                "`svc-guard --home /home/owner journal-resume --mode testnet --note TEXT`",
            ]);
        }
    }
}

#[test]
fn a_loss_of_cash_is_believed_on_the_second_read_after_ledger_and_mode() {
    let mut desk = desk();
    let effects = equity(&mut desk, dec!(9000));
    assert!(
        reads(&effects).contains(&&Read::Mode { is_for_halt: true }) && reads(&effects).contains(&&Read::AccountNow)
    );
    desk.guard.risk.traded(desk.now);
    // Not by a second read alone, not by a ledger that had no time to show a withdrawal, not without the mode.
    equity(&mut desk, dec!(9000));
    assert_eq!(state(&desk), "active");
    desk.step(Input::Ledger { updates: Vec::new(), begun_ms: desk.now });
    desk.now += 1_000;
    let asked = desk.step(Input::Tick);
    assert!(reads(&asked).iter().any(|read| matches!(read, Read::Ledger { .. })));
    desk.step(Input::Ledger { updates: Vec::new(), begun_ms: desk.now });
    assert_eq!(state(&desk), "active");
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
    assert_eq!(state(&desk), "halted_for_day");
}

/// A desk that has been up for a while, with a position: the ledger has told of everything.
pub(super) fn steady() -> Desk {
    kept_up(desk())
}

/// The same of this desk.
pub(super) fn kept_up(mut desk: Desk) -> Desk {
    desk.hold("ETH", dec!(1));
    for _ in 0..12 {
        equity(&mut desk, dec!(10000));
    }
    explain(&mut desk, json!([]));
    desk
}

#[test]
fn a_loss_on_positions_needs_two_reads_and_nothing_else() {
    for (lost, halts) in [(dec!(499.99), false), (dec!(500), true)] {
        let mut desk = steady();
        position_loses(&mut desk, lost);
        assert_eq!(state(&desk), "active", "one read may be wrong");
        // The same moment read twice is one.
        let (shown, equity) = (desk.state(desk.now), desk.equity);
        desk.now += 250;
        desk.step(Input::Account { state: shown, equity, begun_ms: desk.now });
        assert_eq!(state(&desk), "active");
        position_loses(&mut desk, lost);
        assert_eq!(state(&desk) == "halted_for_day", halts, "{lost}");
    }
    // What a withdrawal could explain waits for the ledger, also of what had just come in.
    for (first, then) in [(dec!(9900), dec!(9900)), (dec!(10500), dec!(10000))] {
        let mut desk = steady();
        equity(&mut desk, first);
        desk.unrealized = dec!(-450);
        for _ in 0..3 {
            equity(&mut desk, then - dec!(510));
        }
        assert_eq!(state(&desk), "active", "{first}");
    }
}

/// A single read that is wrong is no peak, begins no day, and is no loss.
#[test]
fn one_bad_read_fires_nothing() {
    for wrong in [dec!(0), dec!(1), dec!(5000), dec!(20000)] {
        let mut desk = steady();
        desk.now = NOW - NOW % DAY_MS + DAY_MS - 500;
        equity(&mut desk, wrong);
        for _ in 0..15 {
            equity(&mut desk, dec!(10000));
        }
        explain(&mut desk, json!([]));
        let shown = risk(&desk);
        assert_eq!((&shown["state"], &shown["peak_equity"]), (&json!("active"), &json!("10000")), "{wrong}");
        assert_eq!((&shown["day_start_equity"], &shown["day"]), (&json!("10000"), &json!("2027-01-16")), "{wrong}");
    }
}

#[test]
fn a_loss_that_a_read_does_not_show_is_looked_at_anew() {
    // A read in between without the loss begins anew.
    let mut desk = desk();
    desk.hold("ETH", dec!(1));
    position_loses(&mut desk, dec!(1000));
    position_loses(&mut desk, dec!(100));
    explain(&mut desk, json!([]));
    position_loses(&mut desk, dec!(1000));
    assert_eq!(state(&desk), "active");
}

#[test]
fn without_ledger_or_mode_a_loss_is_believed_after_ten_seconds() {
    let mut desk = desk();
    equity(&mut desk, dec!(9000));
    let seen = desk.now;
    for _ in 0..9 {
        equity(&mut desk, dec!(9000));
    }
    desk.now = seen + 9_999;
    desk.step(Input::Tick);
    assert_eq!(state(&desk), "active");
    desk.now = seen + 10_000;
    desk.step(Input::Tick);
    assert_eq!(state(&desk), "halted_for_day");
}

#[test]
fn a_loss_seen_before_an_outage_may_be_a_withdrawal_after_it() {
    let mut desk = desk();
    let at = desk.now + 500;
    equity(&mut desk, dec!(4000));
    equity(&mut desk, dec!(4000));
    desk.now += 60_000;
    desk.step(Input::Tick);
    assert_eq!(state(&desk), "active", "nothing could be closed either");
    equity(&mut desk, dec!(4000));
    equity(&mut desk, dec!(4000));
    assert_eq!(state(&desk), "active");
    explain(&mut desk, json!([withdrawal(at, "6000.0")]));
    equity(&mut desk, dec!(4000));
    assert_eq!((state(&desk).as_str(), &risk(&desk)["day_pnl"]), ("active", &json!("0")));
}

#[test]
fn a_loss_that_outlives_a_gap_in_the_reads_fires_on_the_first_read_after_it() {
    let mut desk = desk();
    desk.hold("ETH", dec!(1));
    equity(&mut desk, dec!(9000));
    // The reads come one by one, each too long after the last.
    desk.now += 5_001;
    let effects = equity(&mut desk, dec!(9000));
    assert!(reads(&effects).contains(&&Read::Mode { is_for_halt: true }));
    assert_eq!(state(&desk), "active");
    desk.now += 2_000;
    assert!(reads(&desk.step(Input::Tick)).iter().any(|read| matches!(read, Read::Ledger { .. })));
    explain(&mut desk, json!([]));
    assert_eq!(state(&desk), "halted_for_day");
    // One that the read after the gap does not show is forgotten.
    let mut desk = self::desk();
    desk.hold("ETH", dec!(1));
    equity(&mut desk, dec!(9000));
    desk.now += 5_001;
    equity(&mut desk, dec!(9900));
    desk.now += 2_000;
    explain(&mut desk, json!([]));
    assert_eq!(state(&desk), "active");
}

#[test]
fn gap_after_gap_puts_a_halt_off_once() {
    let mut desk = desk();
    desk.hold("ETH", dec!(1));
    let reads_with_gaps = (0..4).find(|_| {
        equity(&mut desk, dec!(9000));
        desk.now += 5_001;
        state(&desk) != "active"
    });
    assert_eq!(reads_with_gaps, Some(3), "neither ledger nor mode were read");
}

#[test]
fn a_day_halt_ends_with_the_day_and_only_when_flat() {
    let mut desk = desk();
    desk.hold("ETH", dec!(1));
    desk.read_orders(desk.now);
    lose(&mut desk, dec!(9000));
    assert_eq!(state(&desk), "halted_for_day");
    desk.now = NOW - NOW % DAY_MS + DAY_MS;
    desk.read();
    assert_eq!((state(&desk).as_str(), &risk(&desk)["day_start_equity"]), ("halted_for_day", &json!("9000")));
    desk.positions.clear();
    desk.now += 120_000;
    desk.read();
    // The close that was on its way is answered, and nothing is left.
    let flying: Vec<u64> = desk.guard.intents.keys().copied().collect();
    for seq in flying {
        desk.answer(seq, 0, statuses(json!([{"error": "Reduce only order would increase position."}])));
    }
    desk.now += 120_000;
    desk.read();
    desk.now += 1_000;
    desk.read();
    assert_eq!(state(&desk), "halted_for_day", "nobody can say whether a TWAP order runs");
    none_runs(&mut desk);
    desk.now += 1_000;
    desk.read();
    assert_eq!(state(&desk), "active");
}

#[test]
fn a_day_halt_goes_on_when_a_position_turns_up_with_the_new_day() {
    for (held, expected) in [(None, "active"), (Some(dec!(-1)), "halted_for_day")] {
        let mut desk = desk();
        desk.read_orders(desk.now);
        lose(&mut desk, dec!(9000));
        desk.wait(60_000);
        none_runs(&mut desk);
        desk.wait(60_000);
        assert_eq!(
            (state(&desk).as_str(), crate::guard::flow::flatten::is_flat(&desk.guard)),
            ("halted_for_day", true)
        );
        desk.now = NOW - NOW % DAY_MS + DAY_MS;
        desk.positions.extend(held.map(|size| ("ETH", size)));
        desk.read_account(desk.now);
        assert_eq!(state(&desk), expected, "{held:?}");
    }
}

#[test]
fn the_state_survives_a_restart() {
    let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
    let mut records = vec![json!({"kind": "init", "at_ms": NOW, "note": "set up"}).to_string()];
    let mut keep = |effects: Effects| records.extend(effects.risk.into_iter().map(|record| record.text));
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW });
    keep(desk.read_account(NOW));
    keep(settle(&mut desk, dec!(11000)));
    let at = desk.now + 500;
    keep(equity(&mut desk, dec!(10000)));
    keep(explain(&mut desk, json!([withdrawal(at, "1000.0")])));
    let before = risk(&desk);
    let mut again = woken(&records);
    again.now = desk.now + 1_000;
    again.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: again.now });
    again.equity = dec!(10000);
    again.read();
    explain(&mut again, json!([withdrawal(at, "1000.0")]));
    for key in ["day", "day_start_equity", "day_pnl", "peak_equity", "drawdown"] {
        assert_eq!(risk(&again)[key], before[key], "{key}");
    }
    // A halt as well, until a person resumes; the peak is then the equity at the resume.
    desk.read_orders(desk.now);
    records.extend(lose(&mut desk, dec!(8000)).risk.into_iter().map(|record| record.text));
    assert_eq!(state(&desk), "stopped");
    let mut again = woken(&records);
    assert_eq!(state(&again), "stopped");
    again.now = desk.now + 1_000;
    again.equity = dec!(8000);
    again.positions.insert("ETH", dec!(1));
    again.read_mids(again.now);
    again.read_orders(again.now);
    let effects = again.read_account(again.now);
    assert_eq!(kinds(&effects), ["intent", "risk"], "the rounds go on under the same flatten event");
    records.push(
        json!({"kind": "resume", "at_ms": desk.now, "venue_ms": desk.now, "equity": "8000", "note": "ok"}).to_string(),
    );
    let mut again = woken(&records);
    again.now = desk.now + 1_000;
    again.equity = dec!(8000);
    again.read();
    assert_eq!((state(&again).as_str(), &risk(&again)["peak_equity"]), ("active", &json!("8000")));
}

#[test]
fn a_warning_comes_at_sixty_percent() {
    for (left, warns) in [(dec!(9700.01), false), (dec!(9700), true)] {
        let mut desk = desk();
        equity(&mut desk, left);
        let status = desk.guard.status_json(desk.now, (0, 0));
        let codes: Vec<&Value> = status["alerts"].as_array().unwrap().iter().map(|alert| &alert["code"]).collect();
        assert_eq!(codes.contains(&&json!("daily_loss_near")), warns, "{left}");
        assert!(desk.guard.problems(desk.now).iter().all(|problem| !problem.contains("limit")), "no ill health");
    }
}
