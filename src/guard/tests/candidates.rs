//! Which entries may have filled, and so where their stops were judged to be, where a read shows a position moved.

use rust_decimal::{Decimal, dec};

use super::fixture::*;
use crate::guard::state::cover::LinePart;
use crate::guard::state::judged_stops::JudgedStops;
use crate::guard::{Input, Mode};
use crate::venue::info::OpenOrder;
use crate::venue::side::PositionSide;

/// A buy that rests with a stop as its child.
fn entry(px: &str, size: &str, stop_px: &str, oid: u64) -> OpenOrder {
    let mut entry = open("ETH", "B", px, size, oid);
    entry.children.push(open_stop("ETH", "A", stop_px, size, oid + 1));
    entry
}

/// The stops that a move of so much to a long position was judged with, the nearest in front.
fn judged(desk: &Desk, change: Decimal) -> Vec<(Decimal, Decimal)> {
    let guard = &desk.guard;
    let stops = guard.sent.judged_stops(guard.moment(desk.now), &guard.view, (ETH, PositionSide::Long), change);
    let mut all = JudgedStops::default();
    all.add(PositionSide::Long, stops);
    all.lines(PositionSide::Long, change, dec!(1)).into_iter().map(|LinePart { px, size }| (px, size)).collect()
}

fn desk(orders: Vec<OpenOrder>) -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.now += 10;
    desk.show(orders);
    desk
}

/// Ten stops rest as well, and none of them has the price come to it.
#[test]
fn stops_push_no_entry_out_of_what_may_have_filled() {
    let stops = (0..10).map(|oid| open_stop("ETH", "A", "1890", "0.01", oid + 1));
    let entries = [entry("1990", "0.8", "1980", 70), entry("1960", "0.6", "1900", 90)];
    let desk = desk(stops.chain(entries).collect());
    assert_eq!(judged(&desk, dec!(0.8)), [(dec!(1980), dec!(0.8))]);
}

/// A stop of the short position that was as large as what two entries bought, which turned it.
#[test]
fn no_stop_explains_away_the_entries_that_opened() {
    let entries = [entry("1960", "1", "1900", 70), entry("1970", "1", "1940", 90)];
    let stop = open_stop("ETH", "B", "2100", "2", 5);
    let mut desk = desk(entries.into_iter().chain([stop]).collect());
    desk.positions.insert("ETH", dec!(1));
    desk.read_account(desk.now);
    assert_eq!(judged(&desk, dec!(2)), [(dec!(1940), dec!(1)), (dec!(1900), dec!(1))]);
}

/// Four of ten have left the open orders when more of them fills beside nobody knows what.
#[test]
fn what_still_rests_of_an_entry_that_filled_in_part_may_fill_too() {
    let mut desk = desk(vec![entry("1990", "10", "1900", 70), entry("1960", "100", "1980", 90)]);
    desk.now += 3_000;
    desk.show(vec![entry("1990", "6", "1900", 70), entry("1960", "100", "1980", 90)]);
    assert_eq!(judged(&desk, dec!(7)), [(dec!(1900), dec!(7))]);
    assert_eq!(judged(&desk, dec!(11)), [(dec!(1980), dec!(1)), (dec!(1900), dec!(10))]);
}

/// A short of 0.3 was closed by nobody knows what, and one of two entries opened what is held.
#[test]
fn one_that_is_as_large_as_what_is_held_and_at_its_price_opened_it() {
    for (held, entry_px, stops) in [
        (dec!(0.8), "1990", vec![(dec!(1980), dec!(0.8))]),
        // The venue's rounding, and a step past it; another size.
        (dec!(0.8), "1990.199", vec![(dec!(1980), dec!(0.8))]),
        (dec!(0.8), "1990.2", vec![(dec!(1980), dec!(0.2)), (dec!(1900), dec!(0.6))]),
        (dec!(0.7), "1990", vec![(dec!(1980), dec!(0.1)), (dec!(1900), dec!(0.6))]),
    ] {
        let mut desk = desk(vec![entry("1990", "0.8", "1980", 70), entry("1960", "0.6", "1900", 90)]);
        desk.positions.insert("ETH", held);
        let mut state = desk.state(desk.now);
        state.asset_positions[0].position.entry_px = Some(entry_px.parse().unwrap());
        let (equity, begun_ms) = (desk.equity, desk.now);
        desk.step(Input::Account { state, equity, begun_ms });
        let guard = &desk.guard;
        let of = (ETH, PositionSide::Long);
        let judged = guard.sent.judged_stops(guard.moment(desk.now), &guard.view, of, held + dec!(0.3));
        let lines = judged.of_size(PositionSide::Long, held).lines(PositionSide::Long, held, dec!(1));
        let lines: Vec<(Decimal, Decimal)> = lines.into_iter().map(|part| (part.px, part.size)).collect();
        assert_eq!(lines, stops, "{held} {entry_px}");
    }
}
