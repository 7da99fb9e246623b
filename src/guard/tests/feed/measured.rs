//! Measurements of the equity: something new tells each of them, and none is only shown on.

use rust_decimal::dec;
use serde_json::json;

use super::super::halting::{deposit, equity, position_loses, steady};
use super::*;
use crate::venue::history::ledger;
use crate::venue::info::AccountMode;

fn live() -> Desk {
    let mut desk = desk();
    desk.wait(1_000);
    desk
}

#[test]
fn a_read_of_another_moment_is_one_and_the_same_moment_is_none() {
    let mut desk = live();
    let before = desk.guard.measured().unwrap();
    assert!(before.is_new(None) && !before.is_new(Some(&before)));
    assert_eq!(before.equity, dec!(10000));
    // Time passes, and nothing is read.
    desk.now += 30_000;
    desk.step(Input::Tick);
    assert!(!desk.guard.measured().unwrap().is_new(Some(&before)));
    // The venue goes on showing one moment.
    let (state, equity) = (desk.state(desk.now - 30_000), dec!(10000));
    desk.step(Input::Account { state, equity, begun_ms: desk.now });
    assert!(!desk.guard.measured().unwrap().is_new(Some(&before)));
    // A time that has leapt is believed on the second read.
    desk.wait(1_000);
    desk.wait(1_000);
    let after = desk.guard.measured().unwrap();
    assert!(after.is_new(Some(&before)), "the same equity, measured anew");
    assert_eq!(after.equity, before.equity);
}

#[test]
fn a_mark_is_one() {
    let mut desk = live();
    desk.hold("ETH", dec!(0.4));
    desk.wait(1_000);
    let before = desk.guard.measured().unwrap();
    desk.now += 100;
    price(&mut desk, "ETH", dec!(2010));
    let after = desk.guard.measured().unwrap();
    assert_eq!((after.is_new(Some(&before)), after.equity), (true, dec!(10004)));
    // The read that has it too takes its place.
    assert!(!before.is_new(Some(&after)), "the mark is gone, and no read came");
}

#[test]
fn what_is_not_known_or_carried_on_is_none() {
    let mut desk = Desk::live();
    assert_eq!(desk.guard.measured(), None, "nobody has said where the account keeps its equity");
    desk = live();
    let (state, begun_ms) = (desk.state(desk.now + 1), desk.now + 1);
    desk.now += 1;
    desk.step(Input::AccountUnvalued { state, begun_ms });
    assert_eq!(desk.guard.measured(), None, "the last read did not tell it");
    desk.wait(1_000);
    assert!(desk.guard.measured().is_some());
    desk.step(Input::UnvaluedMode { mode: "portfolioMargin".to_owned(), begun_ms: desk.now });
    desk.wait(1_000);
    assert_eq!(desk.guard.measured(), None, "it is carried on");
    let changed = &mut live();
    changed.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: changed.now });
    assert_eq!(changed.guard.measured(), None, "it is of the purse of before");
}

/// The account moves its equity to another purse, and the one that it left is read before the mode is.
#[test]
fn a_purse_that_the_account_may_have_no_more_is_not_measured() {
    for (mode, after) in [(AccountMode::Unified, dec!(10005)), (AccountMode::Standard, dec!(25))] {
        let mut desk = steady();
        assert_eq!(desk.guard.measured().unwrap().equity, dec!(10000));
        for _ in 0..3 {
            equity(&mut desk, dec!(25));
            assert_eq!(desk.guard.measured(), None, "cash is gone, and the mode was not read since");
        }
        desk.step(Input::AccountMode { mode, begun_ms: desk.now });
        equity(&mut desk, after);
        assert_eq!(desk.guard.measured().unwrap().equity, after, "{mode:?}");
    }
    // What prices take is no other purse.
    let mut desk = steady();
    position_loses(&mut desk, dec!(4000));
    assert_eq!(desk.guard.measured().unwrap().equity, dec!(6000));
}

/// The mode cannot be read for longer than a halt waits for it: what is measured waits on.
#[test]
fn a_purse_in_doubt_is_not_measured_for_as_long_as_the_mode_is_not_read() {
    let mut desk = steady();
    for second in 0..40 {
        equity(&mut desk, dec!(25));
        assert_eq!(desk.guard.measured(), None, "{second}");
    }
    assert_eq!(desk.guard.risk.settled.last().unwrap().equity, dec!(25), "halts go by it");
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
    equity(&mut desk, dec!(25));
    assert_eq!(desk.guard.measured().unwrap().equity, dec!(25), "it is lost");
}

#[test]
fn what_came_back_or_is_in_the_ledger_is_in_no_doubt() {
    for is_told in [false, true] {
        let mut desk = steady();
        (0..15).for_each(|_| _ = equity(&mut desk, dec!(12000)));
        assert_eq!(desk.guard.measured(), None);
        let mut after = dec!(10000);
        if is_told {
            after = dec!(12000);
            let updates = ledger(&json!([deposit(desk.now - 14_500, "2000")])).unwrap().rows;
            desk.step(Input::Ledger { updates, begun_ms: desk.now });
        }
        (0..15).for_each(|_| _ = equity(&mut desk, after));
        assert_eq!(desk.guard.measured().unwrap().equity, after);
    }
}
