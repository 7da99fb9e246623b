//! An entry at rest fills, and the stop of what was held before is hit, before anything is read: what is left is what the entry
//! opened, with its own stop, and it is not closed by the line of what has gone.

use rust_decimal::{Decimal, dec};

use super::covering_line::closes;
use super::fixture::*;
use super::wire::open;
use crate::guard::state::cover::CoverSize;
use crate::guard::state::cover_line::CoverLine;
use crate::guard::state::held_now::{Enlarged, HeldNow, Told};
use crate::guard::{Command, Effects, Input, Mode, Read};
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

/// Two bids fill one after the other. Open orders that lag show neither when the first has grown the position, and its stop alive
/// only then: it is in the line already, and the stop that stood nearest, and found nobody, is not taken for hit by it.
#[test]
fn what_came_alive_behind_a_change_that_nothing_told_of_counts_once() {
    // How much has the tight stop for its line still. What comes alive in the meantime counts for nothing; where the venue told of an
    // entry that is just the change, the bid is another one.
    for (lags_ms, told, tight) in [
        (None, None, dec!(0.9)),
        (Some(100), None, dec!(1)),
        (Some(10_000), None, dec!(0.9)),
        (Some(100), Some(dec!(2)), dec!(1)),
        (Some(100), Some(dec!(1)), dec!(0)),
        (Some(10_001), None, dec!(0)),
    ] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        let bids = || {
            let mut second = open("ETH", "B", "1970", "1", 9);
            second.children.push(open_stop("ETH", "A", "1899", "1", 10));
            [bid("1990", "1", "1900"), second]
        };
        let child = |oid, px| open_stop("ETH", "A", px, "1", oid);
        let read =
            |held, entry_px| HeldNow { held, entry_px: Some(entry_px), mark: None, mid: None, by: Enlarged::default() };
        let mut line = CoverLine::new(PositionSide::Long, dec!(1), Some(dec!(2000)));
        line.tighten(&[(dec!(1980), CoverSize::Part(dec!(1)))], Decimal::ZERO);
        desk.show(bids().to_vec());
        line.on_orders(&desk.guard.view, ETH, desk.now, None);
        desk.now += 10;
        let by = Enlarged { told: told.map(|size| Told { size, px: dec!(1990) }), ..Enlarged::default() };
        line.resize(&HeldNow { by, ..read(dec!(2), dec!(1995)) }, desk.now);
        desk.now += 10;
        if let Some(lags_ms) = lags_ms {
            line.on_orders(&desk.guard.view, ETH, desk.now, None);
            desk.now += lags_ms;
        }
        desk.show(vec![child(8, "1900"), bids()[1].clone()]);
        line.on_orders(&desk.guard.view, ETH, desk.now, None);
        line.tighten(&[(dec!(1980), CoverSize::Part(dec!(1))), (dec!(1900), CoverSize::Part(dec!(1)))], Decimal::ZERO);
        desk.now += 10;
        line.resize(&read(dec!(2.9), dec!(1986.7)), desk.now);
        desk.now += 10;
        desk.show(vec![child(8, "1900"), child(10, "1899")]);
        line.on_orders(&desk.guard.view, ETH, desk.now, None);
        let of_tight = line.covered_parts().iter().filter(|part| part.px == dec!(1980)).map(|part| part.size);
        assert_eq!(of_tight.sum::<Decimal>(), tight, "{lags_ms:?} {told:?}");
    }
}

/// What was read of the open orders before the position changed shows the entry at rest: that tells nothing of the change.
#[test]
fn open_orders_of_before_tell_nothing_of_a_change() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let mut line = CoverLine::new(PositionSide::Long, dec!(1), Some(dec!(2000)));
    line.tighten(&[(dec!(1980), CoverSize::Part(dec!(1)))], Decimal::ZERO);
    desk.show(vec![bid("1990", "1", "1900")]);
    line.on_orders(&desk.guard.view, ETH, desk.now, None);
    desk.now += 10;
    let (held, entry_px) = (dec!(1), Some(dec!(1995)));
    line.resize(&HeldNow { held, entry_px, mark: None, mid: None, by: Enlarged::default() }, desk.now);
    line.on_orders(&desk.guard.view, ETH, desk.now - 1, None);
    assert!(line.has_changed());
    desk.show(vec![open_stop("ETH", "A", "1900", "1", 8)]);
    line.on_orders(&desk.guard.view, ETH, desk.now, None);
    assert_eq!((line.has_changed(), line.farthest_px()), (false, Some(dec!(1900))));
}

/// No size shows that it is another: the entry price does, and the open orders of after that tell. Until then nothing is closed by
/// the line, for two and a half seconds.
#[test]
fn what_is_as_large_as_before_at_another_price_has_its_orders_read_first() {
    let mut desk = trailed(vec![bid("1999", "0.2", "1960")]);
    desk.mids.insert("ETH".into(), dec!(1998.9));
    desk.orders = vec![open_stop("ETH", "A", "1960", "0.2", 8)];
    desk.now += 100;
    desk.read_mids(desk.now);
    desk.read_orders(desk.now);
    let asks =
        |effects: &Effects| effects.immediate.iter().any(|command| matches!(command, Command::Read(Read::OrdersNow)));
    let mut effects = Vec::new();
    for round in 0..9 {
        desk.now += 250;
        let read = entered(&mut desk, "1999");
        assert_eq!(asks(&read), round == 0, "{round}");
        effects.extend([read, desk.step(Input::Tick)]);
    }
    assert!(effects.iter().flat_map(closes).next().is_none());
    desk.read_orders(desk.now);
    assert_eq!(closed(&mut desk, "1999"), Vec::<String>::new());
    assert_eq!(desk.guard.lines.get(ETH).unwrap().farthest_px(), Some(dec!(1960)));
}
