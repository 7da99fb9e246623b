//! A fill that the venue told of is held for the class of an order, until reads show it or something else.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Input, Mode};
use crate::venue::side::PositionSide;

/// A guard whose buy of 1 ETH was answered with this fill, which no read shows.
fn told(size: &str) -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let seq = desk.order(at_once(true, "2000", "1")).seq();
    desk.now += 100;
    let filled = json!([{"filled": {"totalSz": size, "avgPx": "2000.0", "oid": 1}}, "waitingForTrigger"]);
    desk.answer(seq, 0, statuses(filled));
    desk
}

fn at_once(is_buy: bool, px: &str, size: &str) -> Value {
    let order = if is_buy { buy(ETH, px, size) } else { sell(ETH, px, size) };
    with(order, "/t/limit/tif", json!("Ioc"))
}

/// Whether a sale of so much goes as the close that it is, at its own price and alone.
fn closes(desk: &mut Desk, size: &str) -> bool {
    let decided = desk.order(at_once(false, "1900", size));
    let sent = &decided.forward()["orders"];
    let order = &sent[0];
    let is_close = order["p"] == "1900" && order["r"] == true && order["s"] == size;
    assert!(!is_close || sent.as_array().unwrap().len() == 1, "{}", decided.event);
    is_close
}

#[test]
fn an_unmarked_close_of_it_is_an_exit() {
    // At the limit, and one step past.
    for (size, is_exit) in [("1", true), ("0.4", true), ("1.01", false)] {
        assert_eq!(closes(&mut told("1"), size), is_exit, "{size}");
    }
}

#[test]
fn only_what_filled_counts() {
    let mut desk = told("0.4");
    assert!(!closes(&mut desk, "0.5"));
    let mut desk = told("0.4");
    assert!(closes(&mut desk, "0.4"));
}

#[test]
fn nothing_is_closed_twice() {
    // One close on its way takes all of it, and so does one that was told to have filled.
    for is_answered in [false, true] {
        let mut desk = told("1");
        let seq = desk.order(at_once(false, "1900", "1")).seq();
        if is_answered {
            desk.answer(seq, 0, statuses(json!([{"filled": {"totalSz": "1", "avgPx": "2000.0", "oid": 2}}])));
        }
        assert!(!closes(&mut desk, "0.5"), "{is_answered}");
    }
    // A part that was told to be closed leaves the rest to close.
    let mut desk = told("1");
    let seq = desk.order(at_once(false, "1900", "0.6")).seq();
    desk.answer(seq, 0, statuses(json!([{"filled": {"totalSz": "0.6", "avgPx": "2000.0", "oid": 2}}])));
    assert!(closes(&mut desk, "0.4"));
}

#[test]
fn the_close_of_it_passes_while_entries_are_refused() {
    let mut desk = told("1");
    desk.step(Input::Kill { reason: "test".into(), by: None, write_file: true, request: None });
    // Larger than what was told: all that closes.
    let decided = desk.order(at_once(false, "1900", "1.5"));
    let order = decided.sent_order(0);
    assert_eq!((&order["p"], &order["r"], &order["s"]), (&json!("1900"), &json!(true), &json!("1")));
    let marked = close(ETH, false, "1900", "1");
    let decided = desk.orders(vec![marked, buy(BTC, "60000", "0.001")]);
    assert_eq!(decided.verdict(), "resize", "{}", decided.event);
}

#[test]
fn a_read_that_shows_it_counts_it_once() {
    for (size, is_exit) in [("1", true), ("1.01", false)] {
        let mut desk = told("1");
        desk.positions.insert("ETH", dec!(1));
        desk.wait(1_000);
        assert!(desk.guard.may_be_held(ETH, PositionSide::Long));
        assert_eq!(closes(&mut desk, size), is_exit, "{size}");
    }
}
