//! Measurements of the equity: something new tells each of them, and none is only shown on.

use rust_decimal::dec;

use super::*;
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
