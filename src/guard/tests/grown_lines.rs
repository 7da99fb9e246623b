//! The line of a position that entries have enlarged and stops have made smaller between two reads.

use rust_decimal::{Decimal, dec};

use super::fixture::*;
use crate::guard::Mode;
use crate::guard::state::cover::LinePart;
use crate::guard::state::cover_line::CoverLine;
use crate::guard::state::held_now::{Enlarged, HeldNow};
use crate::guard::state::judged_stops::JudgedStops;
use crate::record::risk_record::PositionLine;

fn desk() -> Desk {
    Desk::new(Mode::Testnet, wide())
}

fn lined(parts: &[(Decimal, Decimal)]) -> Vec<LinePart> {
    parts.iter().map(|(px, size)| LinePart { px: *px, size: *size }).collect()
}

/// The line of a long position that was entered at 2000 and is covered so.
fn covered(px: Decimal, size: Decimal) -> CoverLine {
    let (held, entry_px) = (size, Some(dec!(2000)));
    CoverLine::restored(&PositionLine { asset: ETH, is_long: true, held, parts: vec![(px, size)], entry_px })
}

/// The same position as a read shows it after entries that were judged with these stops.
fn grown(held: Decimal, entry_px: Decimal, judged: &[(Decimal, Decimal)]) -> HeldNow {
    let by = Enlarged { judged: JudgedStops::each(lined(judged)), ..Enlarged::default() };
    HeldNow { held, entry_px: Some(entry_px), mark: None, mid: None, by }
}

/// Less may have been added than what filled comes to, for stops fired in the same moment or some of it never filled: what was covered
/// keeps its line, and what is new goes by the nearest of those stops.
#[test]
fn what_grew_by_less_than_filled_goes_by_the_nearest_stops() {
    let (near, far, own) = ((dec!(1980), dec!(0.8)), (dec!(1900), dec!(0.6)), (dec!(1985), dec!(1)));
    for (held, new) in [
        (dec!(1.4), &[(dec!(1980), dec!(0.4))][..]),
        (dec!(1.8), &[near]),
        (dec!(2.3), &[near, (dec!(1900), dec!(0.5))]),
        (dec!(2.4), &[near, far]),
        // Something else filled too: the farthest may be its own.
        (dec!(2.5), &[(dec!(1900), dec!(1.5))]),
    ] {
        let mut position = covered(own.0, own.1);
        position.resize(&grown(held, dec!(1990), &[far, near]), 0);
        position.on_orders(&desk().guard.view, ETH, NOW, None);
        assert_eq!(position.covered_parts(), lined(&[own]), "{held}");
        assert_eq!(position.parts(Decimal::ZERO), lined(&[&[own], new].concat()), "{held}");
    }
}

/// The child of one entry comes alive, and the price has passed the stop of another, whose child is gone: both are in the line.
#[test]
fn what_the_price_has_passed_stays_in_the_line_beside_what_else_filled() {
    let own = (dec!(1905), dec!(0.5));
    for (judged, line) in [
        ((dec!(1960), dec!(2)), &[(dec!(1985), dec!(4.5)), (dec!(1960), dec!(2)), own][..]),
        (own, &[(dec!(1985), dec!(5)), own]),
    ] {
        let mut desk = desk();
        let mut entry = open("ETH", "B", "1990", "0.5", 7);
        entry.children.push(open_stop("ETH", "A", "1905", "0.5", 8));
        desk.show(vec![entry]);
        let mut position = covered(dec!(1985), dec!(5));
        position.on_orders(&desk.guard.view, ETH, desk.now, None);
        position.resize(&grown(if judged == own { dec!(5.5) } else { dec!(7) }, dec!(1990), &[judged]), 0);
        position.hold_judged(dec!(1900));
        desk.now += 10;
        desk.show(vec![open_stop("ETH", "A", "1905", "0.5", 8)]);
        position.on_orders(&desk.guard.view, ETH, desk.now, None);
        assert_eq!(position.covered_parts(), lined(line), "{judged:?}");
    }
}

/// Stops were hit in the same moment: those that stood, and not what the price had passed without one.
#[test]
fn what_has_no_stop_was_not_hit_by_what_else_filled() {
    for (left, held, line) in [
        // The part that filled before is in the line already.
        ("0.5", dec!(7.5), &[(dec!(1985), dec!(5)), (dec!(1960), dec!(2)), (dec!(1905), dec!(0.5))][..]),
        ("0.3", dec!(7.3), &[(dec!(1985), dec!(5)), (dec!(1960), dec!(2)), (dec!(1905), dec!(0.3))]),
        ("0.5", dec!(4.5), &[(dec!(1985), dec!(2)), (dec!(1960), dec!(2)), (dec!(1905), dec!(0.5))]),
        ("0.5", dec!(1.5), &[(dec!(1960), dec!(1.5))]),
    ] {
        let mut desk = desk();
        let mut entry = open("ETH", "B", "1990", left, 7);
        entry.children.push(open_stop("ETH", "A", "1905", "0.5", 8));
        desk.show(vec![entry]);
        let mut position = covered(dec!(1985), dec!(5));
        position.on_orders(&desk.guard.view, ETH, desk.now, None);
        position.resize(&grown(dec!(7), dec!(1990), &[(dec!(1960), dec!(2))]), 0);
        position.hold_judged(dec!(1900));
        position.resize(&grown(held, dec!(1990), &[]), 0);
        desk.now += 10;
        desk.show(vec![open_stop("ETH", "A", "1905", "0.5", 8)]);
        position.on_orders(&desk.guard.view, ETH, desk.now, None);
        assert_eq!(position.covered_parts(), lined(line), "{left} {held}");
    }
}
