//! An entry at rest fills, and the stop of what was held before is hit, before anything is read: what is left is what the entry
//! opened, with its own stop, and it is not closed by the line of what has gone.

use rust_decimal::{Decimal, dec};

use super::covering_line::closes;
use super::fixture::*;
use super::wire::open;
use crate::guard::state::cover::{CoverSize, LinePart};
use crate::guard::state::cover_line::CoverLine;
use crate::guard::state::held_now::{Enlarged, HeldNow};
use crate::guard::{Effects, Input, Mode};
use crate::venue::info::OpenOrder;
use crate::venue::side::PositionSide;

/// Reads the account with its position entered at this price.
fn entered(desk: &mut Desk, px: &str) -> Effects {
    let (mut state, equity, begun_ms) = (desk.state(desk.now), desk.equity, desk.now);
    state.asset_positions.iter_mut().for_each(|element| element.position.entry_px = Some(px.parse().unwrap()));
    desk.step(Input::Account { state, equity, begun_ms })
}

/// A bid that brings its own stop.
fn bid(px: &str, size: &str, stop_px: &str) -> OpenOrder {
    let mut entry = open("ETH", "B", px, size, 7);
    entry.children.push(open_stop("ETH", "A", stop_px, size, 8));
    entry
}

/// All that is closed of what reads show for three seconds, every 300 ms, with the position entered at this price.
fn closed(desk: &mut Desk, px: &str) -> Vec<String> {
    let mut effects = Vec::new();
    for _ in 0..10 {
        desk.now += 300;
        effects.extend([desk.read_mids(desk.now), entered(desk, px), desk.read_orders(desk.now)]);
        effects.push(desk.step(Input::Tick));
    }
    effects.iter().flat_map(closes).map(|size| size.to_string()).collect()
}

/// A long of 0.2 from 2000 whose stop was trailed to 2008, and the price is at 2020, beside these orders.
fn trailed(beside: Vec<OpenOrder>) -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.mids.insert("ETH".into(), dec!(2020));
    desk.read_mids(desk.now);
    desk.show(std::iter::once(open_stop("ETH", "A", "2008", "0.2", 6)).chain(beside).collect());
    desk.positions.insert("ETH", dec!(0.2));
    assert!(sends(&entered(&mut desk, "2000")).is_empty());
    assert_eq!(closed(&mut desk, "2000"), Vec::<String>::new());
    desk
}

/// The price of what was opened may be so near to the one of before that no entry price tells them apart.
#[test]
fn what_an_entry_at_the_old_price_opened_is_not_closed_for_the_stop_of_before() {
    for (size, entry_px) in [("0.2", "1999.9"), ("0.2", "1999.95"), ("0.3", "1999.94"), ("0.1", "1999.9")] {
        let mut desk = trailed(vec![bid("1999.9", size, "1960")]);
        desk.mids.insert("ETH".into(), dec!(1999.8));
        desk.positions.insert("ETH", size.parse().unwrap());
        desk.orders = vec![open_stop("ETH", "A", "1960", size, 8)];
        assert_eq!(closed(&mut desk, entry_px), Vec::<String>::new(), "{size} {entry_px}");
        assert_eq!(desk.guard.lines.get(ETH).unwrap().farthest_px(), Some(dec!(1960)), "{size} {entry_px}");
    }
}

/// Where no stop came alive it is the position of before, and its stop found nobody.
#[test]
fn what_lost_its_stop_and_nothing_else_is_closed_by_its_line() {
    let mut desk = trailed(vec![]);
    desk.mids.insert("ETH".into(), dec!(1999.8));
    desk.orders.clear();
    assert_eq!(closed(&mut desk, "2000"), ["\"0.2\""]);
}

/// The stop that came alive proves that its entry has filled; that the account shows it, only a read of after that does. An entry
/// price that has moved tells at once, and one that should have and has not tells that it does not.
#[test]
fn what_came_alive_is_in_an_account_that_was_read_after_it() {
    for (bid_px, entry_px, is_later, line) in [
        ("1999.9", dec!(1999.95), false, dec!(1990)),
        ("1999.9", dec!(1999.95), true, dec!(1900)),
        // Half of the way to it is just within the venue's rounding, and just past it.
        ("1999.21", dec!(2000), true, dec!(1900)),
        ("1999.2", dec!(2000), true, dec!(1990)),
        ("1990", dec!(1995), false, dec!(1900)),
        ("1990", dec!(2000), true, dec!(1990)),
    ] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        desk.show(vec![bid(bid_px, "1", "1900")]);
        let mut position = CoverLine::new(PositionSide::Long, dec!(1), Some(dec!(2000)));
        position.tighten(&[(dec!(1990), CoverSize::Part(dec!(1)))], Decimal::ZERO);
        position.on_orders(&desk.guard.view, ETH, (desk.now, None), |_| false);
        let read = HeldNow {
            held: dec!(1),
            entry_px: Some(entry_px),
            mark: Some(dec!(1985)),
            mid: None,
            by: Enlarged::default(),
        };
        desk.now += 10;
        position.resize(&HeldNow { entry_px: Some(dec!(2000.01)), ..read.clone() }, desk.now);
        position.resize(&read, desk.now);
        // Orders of before tell nothing of it.
        position.on_orders(&desk.guard.view, ETH, (desk.now - 1, None), |_| true);
        assert!(position.has_changed(), "{bid_px} {entry_px}");
        desk.show(vec![open_stop("ETH", "A", "1900", "1", 8)]);
        let is_near = bid_px > "1999.2";
        for is_first in [true, false] {
            let is_asked = position.on_orders(&desk.guard.view, ETH, (desk.now, None), |_| is_later);
            assert_eq!(is_asked, is_near && !is_later && is_first, "{bid_px} {entry_px}");
        }
        assert_eq!(position.has_changed(), is_near && !is_later, "{bid_px} {entry_px}");
        assert_eq!(position.covered_parts(), [LinePart { px: line, size: dec!(1) }], "{bid_px} {entry_px}");
    }
}
