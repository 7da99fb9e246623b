//! The first read of a life may be wrong: what it marks is taken back where two later ones contradict it, and nothing fires by it.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use super::halting::{DAY_MS, equity, explain, lose, risk, state};
use crate::base::day::day_of;
use crate::guard::{Effects, Guard, Input, Mode, Read};
use crate::rules::Rules;
use crate::venue::info::AccountMode;

/// The journals of earlier lives: nothing, an account of 10000 since the day before, or the same since this morning.
const JOURNALS: [Option<u64>; 3] = [None, Some(DAY_MS), Some(1)];

fn init(age_ms: u64) -> Value {
    let at_ms = NOW - age_ms;
    json!({"kind": "init", "at_ms": at_ms, "venue_ms": at_ms, "equity": "10000", "note": "new"})
}

impl Desk {
    /// Reads everything, as if another read had borne the account's first one out.
    pub(super) fn read_surely(&mut self) {
        self.read();
        self.guard.risk.first = None;
    }
}

/// A guard that knows what these records tell, and its account's mode.
fn life(records: &[Value]) -> Desk {
    let mut guard = Guard::new(config(Mode::Testnet, Rules::default()), 0);
    records.iter().for_each(|record| guard.restore_risk_json(record));
    let mut desk = Desk::begin(guard, NOW);
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW });
    desk
}

fn records(effects: &Effects) -> Vec<Value> {
    effects.risk.iter().map(|record| serde_json::from_str(&record.text).unwrap()).collect()
}

/// The account is read a quarter of a second later with this equity; then the mode, as far as it was asked for.
fn soon(desk: &mut Desk, equity: Decimal) -> Effects {
    desk.now += 250;
    desk.equity = equity;
    let effects = desk.read_account(desk.now);
    if reads(&effects).iter().any(|read| matches!(read, Read::Mode { .. })) {
        desk.now += 50;
        desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
    }
    effects
}

fn marks(desk: &Desk) -> [Value; 2] {
    let shown = risk(desk);
    [shown["day_start_equity"].clone(), shown["peak_equity"].clone()]
}

#[test]
fn one_wrong_first_read_fires_nothing_and_switches_no_halt_off() {
    for journal in JOURNALS {
        for times in [dec!(0), dec!(0.1), dec!(0.5), dec!(0.9), dec!(1.0102), dec!(2), dec!(10)] {
            let mut desk = life(&journal.map(init).into_iter().collect::<Vec<_>>());
            soon(&mut desk, dec!(10000) * times);
            for _ in 0..2 {
                let effects = soon(&mut desk, dec!(10000));
                assert_eq!(state(&desk), "active");
                let is_asked = reads(&effects).contains(&&Read::AccountNow);
                assert_eq!(is_asked, desk.guard.risk.first.is_some(), "{journal:?} {times}");
            }
            assert!(desk.guard.risk.first.is_none(), "two reads agree");
            assert_eq!(marks(&desk), ["10000", "10000"], "{journal:?} {times}");
            for _ in 0..15 {
                equity(&mut desk, dec!(10000));
                explain(&mut desk, json!([]));
                assert_eq!(state(&desk), "active", "{journal:?} {times}: {}", risk(&desk));
            }
            // And a loss counts in full.
            for (left, halts) in [(dec!(9500.01), false), (dec!(9500), true)] {
                lose(&mut desk, left);
                assert_eq!(state(&desk) == "halted_for_day", halts, "{journal:?} {times} {left}");
            }
        }
    }
}

#[test]
fn a_wrong_second_read_leaves_the_first_as_it_was() {
    for journal in JOURNALS {
        for times in [dec!(0), dec!(0.1), dec!(0.9), dec!(2), dec!(10)] {
            let mut desk = life(&journal.map(init).into_iter().collect::<Vec<_>>());
            for equity in [dec!(10000), dec!(10000) * times, dec!(10000)] {
                soon(&mut desk, equity);
            }
            assert!(desk.guard.risk.first.is_none());
            assert_eq!((marks(&desk), state(&desk).as_str()), (["10000", "10000"].map(Value::from), "active"));
        }
    }
}

/// A loss between the two counts into the day: on a position that is held, and on one that was closed at any price.
#[test]
fn the_day_begins_with_the_first_read_whatever_prices_and_trades_make_of_it() {
    for closes in [false, true] {
        let mut desk = life(&[]);
        desk.hold("ETH", dec!(2));
        desk.now += 250;
        if closes {
            desk.positions.clear();
        } else {
            desk.unrealized = dec!(-600);
        }
        desk.equity = dec!(9400);
        desk.read_account(desk.now);
        assert!(desk.guard.risk.first.is_none(), "borne out");
        assert_eq!(marks(&desk), ["10000", "10000"], "{closes}");
        for _ in 0..4 {
            desk.now += 1_000;
            explain(&mut desk, json!([]));
            desk.read_account(desk.now);
        }
        assert_eq!(state(&desk), "halted_for_day", "{closes}");
    }
}

/// A fifth of the 2000 that were closed, a tenth of the account for what else was traded then, and a hundredth of noise.
#[test]
fn a_trade_explains_no_more_than_it_can_have_cost() {
    for (holds, first, is_borne_out) in
        [(true, dec!(11685), true), (true, dec!(11686), false), (false, dec!(10101), true), (false, dec!(10102), false)]
    {
        let mut desk = life(&[]);
        if holds {
            desk.positions.insert("ETH", dec!(1));
        }
        soon(&mut desk, first);
        desk.positions.clear();
        soon(&mut desk, dec!(10000));
        assert_eq!(desk.guard.risk.first.is_none(), is_borne_out, "{holds} {first}");
    }
}

#[test]
fn the_same_moment_read_twice_bears_nothing_out() {
    for (later_ms, is_borne_out) in [(0, false), (1, true)] {
        let mut desk = life(&[]);
        desk.read_account(NOW);
        let again = desk.state(NOW + later_ms);
        desk.now += 1_000;
        desk.step(Input::Account { state: again, equity: dec!(10000), begun_ms: desk.now });
        assert_eq!(desk.guard.risk.first.is_none(), is_borne_out, "{later_ms}");
    }
}

/// The records of a life that ends after its first, its second or its third read, and what the next one makes of them.
#[test]
fn a_death_forgets_no_mark_and_leaves_none_for_ever() {
    for journal in JOURNALS {
        for (first, lived, away, halts) in [
            // A right first read, and a loss while nobody watched.
            (dec!(10000), 1, dec!(9400), true),
            (dec!(10000), 2, dec!(9400), true),
            (dec!(10000), 3, dec!(9400), true),
            (dec!(10000), 1, dec!(9600), false),
            // Wrong ones.
            (dec!(100000), 1, dec!(10000), false),
            (dec!(100000), 2, dec!(10000), false),
            (dec!(100000), 3, dec!(10000), false),
            (dec!(1000), 1, dec!(10000), false),
            (dec!(1000), 2, dec!(10000), false),
            (dec!(1000), 3, dec!(10000), false),
        ] {
            let mut kept: Vec<Value> = journal.map(init).into_iter().collect();
            let mut desk = life(&kept);
            for equity in [first, dec!(10000), dec!(10000)].into_iter().take(lived) {
                kept.extend(records(&soon(&mut desk, equity)));
            }
            let mut desk = life(&kept);
            desk.now += 5_000;
            for _ in 0..5 {
                soon(&mut desk, away);
                desk.now += 1_000;
                explain(&mut desk, json!([]));
            }
            let case = (journal, first, lived, away);
            assert_eq!(state(&desk) == "halted_for_day", halts, "{case:?} {}: {kept:#?}", risk(&desk));
            assert_eq!(marks(&desk), ["10000", "10000"], "{case:?}");
        }
    }
}

/// Judging goes by the least that may be true.
#[test]
fn entries_go_by_the_lower_of_two_that_differ() {
    for (first, second, judged) in [(1_000, 10_000, 1_000), (100_000, 10_000, 10_000), (6_000, 10_000, 6_000)] {
        let mut desk = life(&[init(DAY_MS)]);
        soon(&mut desk, Decimal::from(first));
        let known = Decimal::from(first.min(10_000));
        assert_eq!(desk.guard.judged_equity(), Some(known), "no more than twice what was known");
        soon(&mut desk, Decimal::from(second));
        assert_eq!(desk.guard.judged_equity(), Some(Decimal::from(judged)));
        soon(&mut desk, Decimal::from(second));
        assert_eq!(desk.guard.judged_equity(), Some(Decimal::from(second)));
    }
}

/// Where the account keeps its equity elsewhere since, the old purse tells nothing of the first read.
#[test]
fn another_purse_takes_nothing_back() {
    let mut desk = life(&[init(DAY_MS)]);
    soon(&mut desk, dec!(10000));
    for _ in 0..3 {
        desk.now += 250;
        desk.equity = dec!(20);
        desk.read_account(desk.now);
        assert!(desk.guard.risk.first.is_some(), "the mode was not read since");
    }
    desk.equity = dec!(10000);
    desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
    for _ in 0..4 {
        desk.now += 1_000;
        desk.read_account(desk.now);
        desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
        desk.step(Input::Ledger { updates: Vec::new(), begun_ms: desk.now });
        assert_eq!(state(&desk), "active", "{}", risk(&desk));
    }
    assert_eq!(marks(&desk), ["10000", "10000"]);
}

/// Flows of while nobody watched are measured by what the account is worth, not by a first read that was wrong.
#[test]
fn flows_wait_for_the_second_read() {
    for first in [dec!(1200), dec!(12000), dec!(120_000)] {
        let mut desk = life(&[init(3_600_000)]);
        soon(&mut desk, first);
        let deposit = || json!([super::halting::deposit(NOW - 1_800_000, "2000")]);
        explain(&mut desk, deposit());
        for _ in 0..2 {
            soon(&mut desk, dec!(12000));
        }
        explain(&mut desk, deposit());
        equity(&mut desk, dec!(12000));
        assert_eq!((marks(&desk), state(&desk).as_str()), (["12000", "12000"].map(Value::from), "active"), "{first}");
    }
}

#[test]
fn one_first_answer_with_a_wrong_time_sets_no_day() {
    let year = 365 * DAY_MS;
    for (time, is_taken) in [
        (NOW + 10_000, true),
        (NOW + 10_001, false),
        (NOW + year, false),
        (NOW - 120_000, true),
        (NOW - 120_001, false),
        (NOW - year, false),
    ] {
        let mut desk = life(&[]);
        let (state, equity_now) = (desk.state(time), desk.equity);
        let asked = desk.step(Input::Account { state, equity: equity_now, begun_ms: NOW });
        assert!(reads(&asked).contains(&&Read::AccountNow));
        assert_eq!(desk.guard.view.account.is_some(), is_taken, "{time}");
        if !is_taken {
            for _ in 0..2 {
                equity(&mut desk, dec!(10000));
            }
            assert_eq!(desk.guard.risk.day(), Some(day_of(NOW)), "{time}");
        }
    }
    // A machine whose clock is wrong has the next answer for a witness; a venue whose time stands still is known all the same.
    for (time, passes) in [(NOW + DAY_MS, true), (NOW - DAY_MS, true), (NOW - DAY_MS, false)] {
        let mut desk = life(&[]);
        for second in 1..=3 {
            desk.now += 1_000;
            let state = desk.state(if passes { time + second * 1_000 } else { time });
            desk.step(Input::Account { state, equity: dec!(10000), begun_ms: desk.now });
            assert_eq!(desk.guard.view.account.is_some(), second > 1, "{time} {passes}");
        }
        assert_eq!(desk.guard.risk.day(), Some(day_of(time)));
    }
}
