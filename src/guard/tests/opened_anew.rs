//! A position that was closed and opened anew between two reads has no part of the old one's line; one that was only traded
//! to and fro keeps it.

use rust_decimal::{Decimal, dec};

use crate::guard::state::cover::CoverSize;
use crate::guard::state::cover_line::{CoverLine, Enlarged, HeldNow, Told};
use crate::venue::side::PositionSide;

/// A long opened at 2000, covered at 1980.
fn covered(held: Decimal) -> CoverLine {
    let mut line = CoverLine::new(PositionSide::Long, held, Some(dec!(2000)));
    line.tighten(&[(dec!(1980), CoverSize::Part(held))], Decimal::ZERO);
    line
}

/// How much of it has its line still, once it is read as this.
fn kept(mut line: CoverLine, now: HeldNow) -> Decimal {
    line.resize(now);
    line.covered_parts().iter().map(|part| part.size).sum()
}

fn now(held: Decimal, entry_px: Decimal, mark: Decimal) -> HeldNow {
    HeldNow { held, entry_px: Some(entry_px), mark: Some(mark), mid: None, by: Enlarged::default() }
}

fn told(now: HeldNow, size: Decimal, px: Decimal) -> HeldNow {
    HeldNow { by: Enlarged { judged_px: None, told: Some(Told { size, px }) }, ..now }
}

#[test]
fn trading_to_and_fro_moves_no_line() {
    for (held, entry_px, left) in [
        (dec!(100), dec!(1998.9), dec!(100)),
        (dec!(100), dec!(1991.01), dec!(100)),
        (dec!(100), dec!(1991), dec!(0)),
        (dec!(100), dec!(1990), dec!(0)),
        // One that shrank would have kept its entry price.
        (dec!(60), dec!(2000), dec!(60)),
        (dec!(60), dec!(1991.01), dec!(60)),
        (dec!(60), dec!(1991), dec!(0)),
    ] {
        assert_eq!(kept(covered(dec!(100)), now(held, entry_px, dec!(1990))), left, "{held} {entry_px}");
    }
    // Where the market stands near the entry price the line stays.
    assert_eq!(kept(covered(dec!(1)), now(dec!(1), dec!(2003.9), dec!(2003.9))), dec!(1));
}

/// What it grew by was traded somewhere: a price of before, of now or between, and a little beyond.
#[test]
fn one_that_grew_is_another_where_no_price_explains_it() {
    // One more would have come at 1730.
    for (entry_px, left) in [(dec!(1910.01), dec!(2)), (dec!(1910), dec!(0)), (dec!(1900), dec!(0))] {
        assert_eq!(kept(covered(dec!(2)), now(dec!(3), entry_px, dec!(1900))), left, "{entry_px}");
    }
    // Eighteen more at the market's price, 1 % beyond it, and a step past that.
    for (entry_px, left) in [(dec!(1910), dec!(2)), (dec!(1892.9), dec!(2)), (dec!(1892.89), dec!(0))] {
        assert_eq!(kept(covered(dec!(2)), now(dec!(20), entry_px, dec!(1900))), left, "{entry_px}");
    }
}

/// Who buys where a thin market trades, far from the mark, keeps the line of what was held.
#[test]
fn one_that_grew_where_the_market_trades_is_no_other() {
    // One more came at 1730, 1 % of the mark beyond the mid, and a step past that.
    for (mid, left) in [(None, dec!(0)), (Some(dec!(1749)), dec!(2)), (Some(dec!(1749.01)), dec!(0))] {
        assert_eq!(kept(covered(dec!(2)), HeldNow { mid, ..now(dec!(3), dec!(1910), dec!(1900)) }), left, "{mid:?}");
    }
}

/// A bot that enters again as soon as its stop has fired.
#[test]
fn one_that_is_just_what_was_told_to_have_filled_is_another() {
    let near = |held: Decimal, entry_px: Decimal| now(held, entry_px, dec!(2001));
    for held in [dec!(1), dec!(2), dec!(3)] {
        let two = || covered(dec!(2));
        let px = dec!(2000.5);
        assert_eq!(kept(two(), told(near(held, px), held, px)), dec!(0), "{held}");
        let least = held.min(dec!(2));
        assert_eq!(kept(two(), near(held, px)), least, "nothing was told of it");
        assert_eq!(kept(two(), told(near(held, px), held - dec!(0.1), px)), least, "another size was");
        // Told at 2000.5: a tenth of the smaller of both may be of before.
        let mixed = |part: Decimal| px - part * least / held * dec!(0.5);
        assert_eq!(kept(two(), told(near(held, mixed(dec!(0.1))), held, px)), dec!(0), "{held}");
        assert_eq!(kept(two(), told(near(held, mixed(dec!(0.11))), held, px)), least, "{held}");
    }
    // Too near to the price of before to tell one from the other.
    for (px, left) in [(dec!(2000.4), dec!(0)), (dec!(2000.39), dec!(2))] {
        assert_eq!(kept(covered(dec!(2)), told(near(dec!(2), px), dec!(2), px)), left, "{px}");
    }
}
