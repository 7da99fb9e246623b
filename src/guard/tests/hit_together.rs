//! An entry at rest fills, and the stop of what was held before is hit, before anything is read: what is left is what the entry
//! opened, with its own stop, and it is not closed by the line of what has gone.

use rust_decimal::dec;

use super::covering_line::closes;
use super::fixture::*;
use super::wire::open;
use crate::guard::{Effects, Input, Mode};
use crate::venue::info::OpenOrder;

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

/// As large as before, larger or smaller, with the entry price of the bid alone or of both: as far as that tells.
#[test]
fn what_an_entry_near_the_old_price_opened_is_not_closed_for_the_stop_of_before() {
    for (size, entry_px) in [("0.2", "1999"), ("0.2", "1999.5"), ("0.3", "1999.4"), ("0.1", "1999")] {
        let mut desk = trailed(vec![bid("1999", size, "1960")]);
        desk.mids.insert("ETH".into(), dec!(1998.9));
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
