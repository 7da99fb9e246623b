//! Moves of a position between two reads, put down to all that may have filled meanwhile.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::Mode;

/// Gross exposure as the guard counts it, USDC.
fn exposure(desk: &Desk) -> Decimal {
    desk.guard.status_json(desk.now, (0, 0))["risk"]["exposure"].as_str().unwrap().parse().unwrap()
}

fn ioc(order: Value) -> Value {
    with(order, "/t/limit/tif", json!("Ioc"))
}

fn filled(size: &str, oid: u64) -> Value {
    statuses(json!([{"filled": {"totalSz": size, "avgPx": "2000", "oid": oid}}, "waitingForTrigger"]))
}

/// A read of the account that began at this time and shows this position in ETH.
fn show_position(desk: &mut Desk, szi: Decimal, begun_ms: u64) {
    desk.positions.insert("ETH", szi);
    desk.read_account(begun_ms);
}

fn show_now(desk: &mut Desk, szi: Decimal) {
    desk.now += 10;
    let now = desk.now;
    show_position(desk, szi, now);
}

#[test]
fn an_answer_that_came_after_the_read_began_explains_it_too() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", dec!(1));
    let close = desk.order(close(ETH, false, "2000", "0.5")).seq();
    let entry = desk.order(ioc(buy(ETH, "2000", "2"))).seq();
    desk.now += 10;
    desk.answer(close, 0, filled("0.5", 1));
    desk.now += 10;
    let begun_ms = desk.now;
    desk.now += 10;
    desk.answer(entry, 0, filled("2", 2));
    desk.now += 10;
    show_position(&mut desk, dec!(2.5), begun_ms);
    show_now(&mut desk, dec!(2.5));
    assert_eq!((exposure(&desk), desk.guard.sent.orders.len()), (dec!(5000), 0));
}

#[test]
fn an_order_without_an_answer_takes_no_more_of_a_move_than_just_explains_it() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let large = desk.order(ioc(buy(ETH, "2000", "3"))).seq();
    let small = desk.order(ioc(buy(ETH, "2001", "1"))).seq();
    show_now(&mut desk, dec!(1));
    desk.now += 10;
    desk.answer(large, 0, statuses(json!([{"error": "no match"}])));
    desk.answer(small, 0, filled("1", 2));
    show_now(&mut desk, dec!(1));
    assert_eq!((exposure(&desk), desk.guard.sent.orders.len()), (dec!(2000), 0));
}

/// The account shows a price that the mids, read before, do not: a stop fired there.
#[test]
fn a_stop_that_fired_at_the_price_of_the_account_explains_a_move() {
    for (px, is_explained) in [(dec!(1960.1), false), (dec!(1960), true)] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        let entries = [1, 2].map(|oid| (desk.order(ioc(buy(ETH, "2000", "1"))).seq(), oid));
        desk.now += 10;
        entries.into_iter().for_each(|(seq, oid)| _ = desk.answer(seq, 0, filled("1", oid)));
        desk.mids.insert("ETH".into(), px);
        show_now(&mut desk, dec!(1));
        assert_eq!(desk.guard.sent.orders.is_empty(), is_explained, "{px}");
    }
}

#[test]
fn what_nothing_explains_proves_no_fill() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let entry = desk.order(ioc(buy(ETH, "2000", "2"))).seq();
    desk.now += 10;
    desk.answer(entry, 0, filled("2", 1));
    show_now(&mut desk, dec!(1.9));
    assert_eq!((exposure(&desk), desk.guard.sent.orders.len()), (dec!(7800), 1));
}
