//! Where a close is priced when mid and mark stand apart.

use rust_decimal::{Decimal, dec};

use super::fixture::*;
use crate::guard::flow::close_order::close_order;

/// The limit of the close of a position whose mark is 2000, at this mid and after so many tries.
fn limit(szi: Decimal, mid: Decimal, tries: usize) -> Decimal {
    let mut desk = Desk::live();
    desk.now += 1;
    desk.hold("ETH", szi);
    desk.mids.insert("ETH".into(), mid);
    desk.read_mids(desk.now);
    close_order(&desk.guard, ETH, tries).unwrap().limit_px
}

#[test]
fn a_close_begins_from_the_worse_of_mid_and_mark() {
    for (szi, mid, tries, px) in [
        (dec!(1), dec!(2004), 0, dec!(1963.9)),
        (dec!(1), dec!(2004.1), 0, dec!(1960)),
        (dec!(1), dec!(2010), 0, dec!(1960)),
        (dec!(1), dec!(4000), 0, dec!(1960)),
        (dec!(1), dec!(1000), 0, dec!(980)),
        (dec!(-1), dec!(1000), 0, dec!(2040)),
        (dec!(-1), dec!(3000), 0, dec!(3060)),
        // The venue takes nothing that is far from the mark.
        (dec!(1), dec!(511), 0, dec!(500.78)),
        (dec!(1), dec!(509), 0, dec!(500)),
        (dec!(1), dec!(830), 4, dec!(500)),
        (dec!(-1), dec!(8000), 0, dec!(3500)),
    ] {
        assert_eq!(limit(szi, mid, tries), px, "{szi} {mid} {tries}");
    }
}

/// The mark is what one read says a position is worth. Where it stands apart from the mid every other try does without it.
#[test]
fn a_mark_that_is_wrong_keeps_nothing_from_closing() {
    for (szi, mid, tries, px) in [
        // The mark would take the sale to 500 at the lowest, the purchase to 3500 at the highest.
        (dec!(1), dec!(200), 0, dec!(500)),
        (dec!(1), dec!(200), 1, dec!(190)),
        (dec!(1), dec!(200), 2, dec!(500)),
        (dec!(1), dec!(200), 3, dec!(160)),
        (dec!(-1), dec!(20000), 0, dec!(3500)),
        (dec!(-1), dec!(20000), 1, dec!(21000)),
        (dec!(1), dec!(4000), 1, dec!(3800)),
        // Where both are one price they are one at every try.
        (dec!(1), dec!(2004), 1, dec!(1903.8)),
    ] {
        assert_eq!(limit(szi, mid, tries), px, "{szi} {mid} {tries}");
    }
}
