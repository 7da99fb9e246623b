//! A loss that is realised while it is doubted puts nothing off.

use rust_decimal::{Decimal, dec};

use super::fixture::*;
use super::halting::{equity, steady};
use crate::guard::Read;

/// After how many seconds since a loss was first seen the ledger is asked for an explanation, if the second read shows this equity
/// without the position.
fn asked_after(second: Decimal) -> usize {
    let mut desk = steady();
    desk.unrealized = dec!(-300);
    equity(&mut desk, dec!(9400));
    desk.positions.clear();
    desk.unrealized = Decimal::ZERO;
    let asked = (1..=5).find(|_| {
        let effects = equity(&mut desk, second);
        reads(&effects).iter().any(|read| matches!(read, Read::Ledger { .. }))
    });
    asked.expect("a question")
}

#[test]
fn cash_that_goes_while_the_equity_stays_is_no_second_withdrawal() {
    // Of 9400 a hundredth is 94.
    for (second, seconds) in [(dec!(9400), 2), (dec!(9306), 2), (dec!(9305), 3)] {
        assert_eq!(asked_after(second), seconds, "{second}");
    }
}
