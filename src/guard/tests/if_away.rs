//! Positions, entries and their stops at the venue, told in figures for the time when the guard is away.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::Mode;
use crate::venue::info::OpenOrder;

fn told(desk: &Desk) -> Value {
    desk.guard.status_json(desk.now, (0, 0))["if_away"].clone()
}

fn left(count: u32, value: &str, loss: &str, without_stop: &str) -> Value {
    json!({"count": count, "value": value, "loss": loss, "without_stop": without_stop})
}

/// An entry that rests, with a stop that waits for it.
fn with_child(entry: OpenOrder, child: OpenOrder) -> OpenOrder {
    OpenOrder { children: vec![child], ..entry }
}

#[test]
fn nothing_is_told_where_nothing_is_left_or_read() {
    assert_eq!(told(&Desk::live()), Value::Null);
    assert_eq!(told(&Desk::blank(config(Mode::Testnet, wide()))), Value::Null);
    let mut desk = Desk::live();
    // What only reduces leaves nothing behind.
    desk.show(vec![OpenOrder { reduce_only: true, ..open("ETH", "A", "2100", "1", 1) }]);
    assert_eq!(told(&desk), Value::Null);
    desk.show(vec![open("ETH", "B", "1900", "0.1", 2)]);
    assert_ne!(told(&desk), Value::Null);
}

/// The manual's own example.
#[test]
fn a_position_an_entry_with_its_stop_and_one_without() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", dec!(2));
    let stop = open_stop("ETH", "A", "1960", "2", 1);
    let buy = with_child(open("ETH", "B", "1990", "1", 2), open_stop("ETH", "A", "1950", "1", 3));
    let sell = with_child(open("SOL", "A", "105", "10", 4), open_stop("SOL", "B", "107", "10", 5));
    desk.show(vec![stop, buy, sell, open("BTC", "B", "59000", "0.05", 6)]);
    let away = told(&desk);
    assert_eq!(away["positions"], left(1, "4000", "80", "0"));
    assert_eq!(away["entries"], left(2, "3040", "60", "0"));
    assert_eq!(away["unattended"], left(1, "2950", "0", "2950"));
    assert_eq!((&away["loss"], &away["without_stop"]), (&json!("140"), &json!("2950")));
    assert_eq!(desk.guard.status_json(desk.now, (0, 0))["unattended"], 1);
}

/// Nothing is known of its stops, so none counts.
#[test]
fn a_position_in_no_known_market_has_no_stop() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("NEW", dec!(-30));
    desk.show(Vec::new());
    let away = told(&desk);
    assert_eq!(away["positions"], left(1, "30", "0", "30"));
    assert_eq!((&away["loss"], &away["without_stop"]), (&json!("0"), &json!("30")));
    desk.hold("ETH", dec!(2));
    desk.show(vec![open_stop("ETH", "A", "1960", "2", 1)]);
    assert_eq!(told(&desk)["positions"], left(2, "4030", "80", "30"));
}

/// A lot less of a stop than there is to close is without one; a lot more closes no more.
#[test]
fn what_a_stop_does_not_close_has_none() {
    for (size, loss, without_stop) in [("1.9999", "79.996", "0.2"), ("2", "80", "0"), ("2.0001", "80", "0")] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        desk.hold("ETH", dec!(2));
        desk.show(vec![open_stop("ETH", "A", "1960", size, 1)]);
        assert_eq!(told(&desk)["positions"], left(1, "4000", loss, without_stop), "{size}");

        let mut desk = Desk::new(Mode::Testnet, wide());
        desk.show(vec![with_child(open("ETH", "B", "2000", "2", 1), open_stop("ETH", "A", "1960", size, 2))]);
        assert_eq!(told(&desk)["entries"], left(1, "4000", loss, without_stop), "{size}");
    }
}

#[test]
fn the_nearest_stop_is_hit_first_and_gains_count_for_nothing() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", dec!(-2));
    desk.show(vec![open_stop("ETH", "B", "2050", "1", 1), open_stop("ETH", "B", "2020", "1.5", 2)]);
    assert_eq!(told(&desk)["positions"], left(1, "4000", "55", "0"));
    // A stop that locks a gain in takes nothing off another market's loss.
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![with_child(open("ETH", "A", "2010", "1", 1), open_stop("ETH", "B", "2005", "1", 2))]);
    assert_eq!(told(&desk)["loss"], "0");
}

/// Only a market stop is sure to fill, and one that closes whatever there is closes all of it.
#[test]
fn what_counts_as_an_entry_s_own_stop() {
    let entry = || open("ETH", "B", "2000", "2", 1);
    let stop = || open_stop("ETH", "A", "1960", "2", 2);
    for (child, loss, without_stop) in [
        (OpenOrder { order_type: "Stop Limit".into(), ..stop() }, "0", "4000"),
        (OpenOrder { order_type: "Take Profit Market".into(), ..stop() }, "0", "4000"),
        (OpenOrder { sz: dec!(0), is_position_tpsl: true, ..stop() }, "80", "0"),
    ] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        desk.show(vec![with_child(entry(), child.clone())]);
        let away = told(&desk);
        assert_eq!((&away["loss"], &away["without_stop"]), (&json!(loss), &json!(without_stop)), "{child:?}");
    }
    // A trigger by hand that opens a position is an entry like any other.
    let mut desk = Desk::new(Mode::Testnet, wide());
    let px = open_stop("ETH", "B", "2100", "1", 7);
    desk.show(vec![OpenOrder { reduce_only: false, ..px }]);
    assert_eq!(told(&desk)["unattended"], left(1, "2100", "0", "2100"));
    assert_eq!(desk.guard.status_json(desk.now, (0, 0))["unattended"], 1);
}

/// What the venue has just taken is there before a read shows it.
#[test]
fn an_entry_that_was_just_taken_counts_with_its_stop() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let asked = desk.order(buy(ETH, "1990", "1"));
    let stop_px = asked.sent_order(1)["t"]["trigger"]["triggerPx"].as_str().unwrap().to_owned();
    assert_eq!(told(&desk), Value::Null);
    desk.answer(asked.seq(), 0, statuses(json!([{"resting": {"oid": 7}}, "waitingForFill"])));
    let loss = (dec!(1990) - stop_px.parse::<rust_decimal::Decimal>().unwrap()).normalize().to_string();
    assert_eq!(told(&desk)["entries"], left(1, "1990", &loss, "0"));
}

/// What paper mode pretends to have placed is at no venue.
#[test]
fn paper_orders_are_not_left_at_the_venue() {
    let mut desk = Desk::new(Mode::Paper, wide());
    desk.order(buy(ETH, "1990", "1"));
    assert_eq!(told(&desk), Value::Null);
}
