//! A fill that the venue told of is held for the class of an order, until reads show it or something else.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Input, Mode};
use crate::venue::info::OpenOrder;
use crate::venue::side::PositionSide;

/// A guard whose buy of 1 ETH is on its way, and the decision's number.
fn sent() -> (Desk, u64) {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let seq = desk.order(at_once(true, "2000", "1")).seq();
    desk.now += 100;
    (desk, seq)
}

/// A guard whose buy of 1 ETH was answered with this fill, which no read shows.
fn told(size: &str) -> Desk {
    let (mut desk, seq) = sent();
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

/// A take profit that the price has come to closed what was opened: the account shows neither of both, and nothing is held.
#[test]
fn a_take_profit_explains_a_fill_that_no_read_shows() {
    for (px, explains) in [(dec!(2049.9), false), (dec!(2050), true)] {
        let profit = OpenOrder { order_type: "Take Profit Market".into(), ..open_stop("ETH", "A", "2050", "1", 3) };
        let mut by_hand = told("1");
        by_hand.now += 100;
        by_hand.show(vec![profit]);
        let mut child = Desk::new(Mode::Testnet, wide());
        let profit = with(stop(ETH, false, "2050", "1"), "/t/trigger/tpsl", json!("tp"));
        let stop = stop(ETH, false, "1970", "1");
        let group =
            json!({"type": "order", "orders": [at_once(true, "2000", "1"), stop, profit], "grouping": "normalTpsl"});
        let seq = child.ask(group).seq();
        child.now += 100;
        let filled = json!([{"filled": {"totalSz": "1", "avgPx": "2000.0", "oid": 1}}, "waitingForTrigger", "waitingForTrigger"]);
        child.answer(seq, 0, statuses(filled));
        for mut desk in [by_hand, child] {
            desk.now += 1_000;
            desk.mids.insert("ETH".into(), px);
            desk.read_mids(desk.now);
            desk.read_account(desk.now);
            assert_eq!(desk.guard.may_be_held(ETH, PositionSide::Long), !explains, "{px}");
        }
    }
}

/// A read from between two closes of an entry shows what no sum of what was told by then explains; the next one shows it all.
#[test]
fn a_close_explains_the_entry_before_it() {
    let mut desk = told("1");
    let close = |desk: &mut Desk, size: &str, oid: u64| {
        let seq = desk.order(with(close(ETH, false, "1900", size), "/t/limit/tif", json!("Ioc"))).seq();
        (seq, statuses(json!([{"filled": {"totalSz": size, "avgPx": "2000.0", "oid": oid}}])))
    };
    let (first, answer) = close(&mut desk, "0.7", 2);
    desk.now += 100;
    desk.answer(first, 0, answer);
    // At the venue the next one filled in part before this read, and its answer is yet to come.
    let (second, _) = close(&mut desk, "0.3", 3);
    desk.now += 100;
    desk.positions.insert("ETH", dec!(0.1));
    desk.read_account(desk.now);
    desk.now += 100;
    desk.answer(second, 0, statuses(json!([{"filled": {"totalSz": "0.2", "avgPx": "2000.0", "oid": 3}}])));
    let entry = desk.order(at_once(true, "2000", "0.5")).seq();
    desk.now += 100;
    desk.answer(
        entry,
        0,
        statuses(json!([{"filled": {"totalSz": "0.5", "avgPx": "2000.0", "oid": 4}}, "waitingForTrigger"])),
    );
    desk.positions.insert("ETH", dec!(0.6));
    desk.now += 900;
    desk.read_account(desk.now);
    assert!(closes(&mut desk, "0.6"));
}

/// Open orders and account are read apart: what a stop that has come alive is for may not be shown yet. It covers nothing else.
#[test]
fn the_stop_of_what_has_just_filled_is_not_the_next_entrys() {
    for is_answered in [true, false] {
        let mut desk = if is_answered { told("1") } else { sent().0 };
        desk.now += 100;
        desk.show(vec![open_stop("ETH", "A", "1960", "1", 2)]);
        let next = desk.order(with(buy(ETH, "1990", "0.5"), "/t/limit/tif", json!("Gtc")));
        next.resized().says(&["ETH market stop attached"]);
    }
    // Nor is it while what it is for is gone from the open orders, and the account does not show it.
    let mut desk = Desk::new(Mode::Testnet, wide());
    let mut entry = open("ETH", "B", "1995", "1", 7);
    entry.children = vec![open_stop("ETH", "A", "1960", "1", 8)];
    desk.show(vec![entry]);
    desk.now += 100;
    desk.show(vec![open_stop("ETH", "A", "1960", "1", 8)]);
    desk.order(buy(ETH, "1990", "0.5")).resized().says(&["ETH market stop attached"]);
    // Cover that nobody needs serves the next entry as ever.
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![open_stop("ETH", "A", "1960", "1", 8)]);
    desk.order(buy(ETH, "1990", "0.5")).allowed();
}
