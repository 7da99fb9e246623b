//! Entries of an earlier life that filled while no guard ran: their fills tell where what they opened is stopped out.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::covering_line::{closes, stops};
use super::fixture::*;
use crate::guard::{Effects, Guard, Input, Mode, Read};
use crate::record::risk_record::{LineMoved, PositionLine, RiskRecord};
use crate::venue::fill::Fill;
use crate::venue::history::Page;

const CLOID: &str = "0x07070707070707070707070707070707";

/// A life after one in which an entry for one came to rest, with a stop at this price.
fn next_life(stop_px: &str) -> Desk {
    next_life_with(stop_px, None)
}

/// The same after one that held a position with this line beside it.
fn next_life_with(stop_px: &str, line: Option<PositionLine>) -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let checkpoint = serde_json::from_str(&desk.guard.checkpoint(desk.now)).unwrap();
    let entry = with(buy(ETH, "1990", "1"), "/c", json!(CLOID));
    let group = json!({"type": "order", "orders": [entry, stop(ETH, false, stop_px, "1")], "grouping": "normalTpsl"});
    let decided = desk.ask(group);
    let resting = json!([{"resting": {"oid": 7, "cloid": CLOID}}, "waitingForFill"]);
    let answered = desk.answer(sends(&decided.effects)[0].intent, 0, statuses(resting));
    let journal: Vec<Value> = [vec![decided.event], events(&answered)].concat();
    let mut guard = Guard::new(desk.guard.config.clone(), journal.last().unwrap()["seq"].as_u64().unwrap());
    guard.restore_checkpoint_json(&checkpoint);
    journal.iter().for_each(|event| guard.restore_json(event));
    line.into_iter().for_each(|line| guard.restore_risk(RiskRecord::Line(LineMoved { at_ms: desk.now, line })));
    let mut next = Desk::begin(guard, desk.now + 60_000);
    next.read_mids(next.now);
    next
}

/// All that it sends while it reads on for two seconds, the position as it is.
fn reads_on(desk: &mut Desk) -> Vec<Effects> {
    let mut all = Vec::new();
    for _ in 0..8 {
        desk.now += 250;
        all.extend([desk.read_mids(desk.now), desk.read_account(desk.now), desk.read_orders(desk.now)]);
        all.push(desk.step(Input::Tick));
    }
    all
}

fn all_stops(effects: &[Effects]) -> Vec<(String, String)> {
    effects.iter().flat_map(stops).collect()
}

fn fill(time: u64, before: Decimal, change: Decimal, cloid: Option<&str>) -> Fill {
    let side = if change > Decimal::ZERO { "B" } else { "A" };
    let fill = json!({"coin": "ETH", "px": "1990", "sz": change.abs(), "side": side, "time": time, "startPosition": before,
        "closedPnl": "0", "oid": time, "tid": time, "crossed": false, "fee": "0", "feeToken": "USDC", "cloid": cloid});
    serde_json::from_value(fill).unwrap()
}

fn told(desk: &mut Desk, fills: Vec<Fill>) -> Effects {
    let begun_ms = desk.now;
    desk.step(Input::BookFills { page: Page::from(fills), since_ms: NOW, begun_ms })
}

fn asks(effects: &Effects) -> bool {
    reads(effects).into_iter().any(|read| matches!(read, Read::BookFills { is_for_cover: true, .. }))
}

/// The mark is 2000: the guard's own stop would stand two percent under that.
#[test]
fn what_an_entry_opened_has_its_stop_whenever_the_fill_is_told() {
    for is_late in [false, true] {
        let mut desk = next_life("1980");
        desk.positions.insert("ETH", dec!(1));
        assert!(asks(&desk.read_account(desk.now)), "the fills are read at once");
        let filled = vec![fill(desk.now - 30_000, dec!(0), dec!(1), Some(CLOID))];
        if !is_late {
            told(&mut desk, filled.clone());
        }
        let before = if is_late { reads_on(&mut desk) } else { Vec::new() };
        if !is_late {
            assert_eq!(all_stops(&reads_on(&mut desk)), [("1980".to_owned(), "1".to_owned())]);
            continue;
        }
        assert_eq!(all_stops(&before), [("1960".to_owned(), "1".to_owned())]);
        for send in before.iter().flat_map(sends) {
            desk.answer(send.intent, send.index, statuses(json!([{"resting": {"oid": 9}}])));
            let mut own = open_stop("ETH", "A", "1960", "1", 9);
            own.cloid = Some(json_of(&send.action)["orders"][0]["c"].as_str().unwrap().parse().unwrap());
            desk.orders = vec![own];
        }
        reads_on(&mut desk);
        told(&mut desk, filled);
        assert_eq!(all_stops(&reads_on(&mut desk)), [("1980".to_owned(), "1".to_owned())], "late");
    }
}

#[test]
fn what_the_price_has_passed_is_closed() {
    let mut desk = next_life("1980");
    desk.positions.insert("ETH", dec!(1));
    desk.mids.insert("ETH".to_owned(), dec!(1970));
    desk.read_mids(desk.now);
    desk.read_account(desk.now);
    told(&mut desk, vec![fill(NOW + 1_000, dec!(0), dec!(1), Some(CLOID))]);
    let closed: Vec<Value> = reads_on(&mut desk).iter().flat_map(closes).collect();
    assert_eq!(closed.first(), Some(&json!("1")));
}

#[test]
fn what_another_order_opened_has_a_first_stop_like_any_other() {
    let before = |desk: &Desk| desk.now - 30_000;
    let by_hand = |at_ms: u64| vec![fill(at_ms, dec!(0), dec!(1), None)];
    let closed_since = |at_ms: u64| {
        let filled = fill(at_ms, dec!(0), dec!(1), Some(CLOID));
        vec![filled, fill(at_ms + 1, dec!(1), dec!(-1), None), fill(at_ms + 2, dec!(0), dec!(1), None)]
    };
    let fills: [&dyn Fn(u64) -> Vec<Fill>; 2] = [&by_hand, &closed_since];
    for fills in fills {
        let mut desk = next_life("1980");
        desk.positions.insert("ETH", dec!(1));
        desk.read_account(desk.now);
        let fills = fills(before(&desk));
        told(&mut desk, fills);
        assert_eq!(all_stops(&reads_on(&mut desk)), [("1960".to_owned(), "1".to_owned())]);
    }
}

/// Where nothing is held, or nothing of an earlier life is known, nothing is read for it.
#[test]
fn fills_are_read_at_once_only_where_they_tell_of_something() {
    let mut desk = next_life("1980");
    assert!(!asks(&desk.read_account(desk.now)));
    desk.read_orders(desk.now);
    desk.now += 1_000;
    desk.positions.insert("ETH", dec!(1));
    assert!(!asks(&desk.read_account(desk.now)), "what fills now is seen as it happens");
    let mut desk = Desk::blank(config(Mode::Testnet, wide()));
    desk.read_mids(desk.now);
    desk.positions.insert("ETH", dec!(1));
    assert!(!asks(&desk.read_account(desk.now)));
}

/// The price has come to where it was covered, no stop of it is left, and it is larger: by the fills it was held all along, or closed
/// and opened anew.
#[test]
fn what_was_covered_before_keeps_its_line_where_it_was_held_all_along() {
    let (held, entry_px) = (dec!(1), Some(dec!(2000)));
    let line = PositionLine { asset: ETH, is_long: true, held, parts: vec![(dec!(1990), held)], entry_px };
    let at = |time: u64, px: Decimal, fill: Fill| Fill { px, ..Fill { time: NOW + time, ..fill } };
    let first = || at(1, dec!(2000), fill(1, dec!(0), dec!(1), None));
    let grown = vec![first(), at(2, dec!(1990), fill(2, dec!(1), dec!(1), Some(CLOID)))];
    let anew = vec![
        first(),
        at(2, dec!(1990), fill(2, dec!(1), dec!(-1), None)),
        at(3, dec!(1990), fill(3, dec!(0), dec!(2), None)),
    ];
    for (fills, size_closed, entered_px) in [(grown, Some("1"), dec!(1995)), (anew, None, dec!(1990))] {
        let mut desk = next_life_with("1900", Some(line.clone()));
        desk.positions.insert("ETH", dec!(2));
        desk.mids.insert("ETH".to_owned(), dec!(1985));
        let account = |desk: &Desk| {
            let (mut state, equity) = (desk.state(desk.now), desk.equity);
            state.asset_positions[0].position.entry_px = Some(entered_px);
            Input::Account { state, equity, begun_ms: desk.now }
        };
        let read = |desk: &mut Desk| {
            desk.now += 250;
            let (account, now) = (account(desk), desk.now);
            [desk.read_mids(now), desk.step(account), desk.read_orders(now), desk.step(Input::Tick)]
        };
        let first = account(&desk);
        desk.step(first);
        told(&mut desk, fills);
        let closed: Vec<Value> = (0..8).flat_map(|_| read(&mut desk)).flat_map(|effects| closes(&effects)).collect();
        assert_eq!(closed.first(), size_closed.map(|size| json!(size)).as_ref(), "{entered_px}: {closed:?}");
    }
}
