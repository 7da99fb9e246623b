//! `duplicate_order`: repeats within the window, and client order ids that are taken.

use rust_decimal::dec;
use serde_json::{Value, json};

use crate::guard::tests::fixture::*;
use crate::guard::{Input, Mode, SendOutcome};
use crate::rules::Rules;

fn desk(rules: Rules) -> Desk {
    Desk::new(Mode::Testnet, rules)
}

fn entry(number: u32) -> Value {
    buy(ETH, &(1990 + number).to_string(), "0.1")
}

#[test]
fn the_same_entry_within_the_window_is_a_duplicate() {
    let rules = Rules { duplicate_window: dec!(1), ..wide() };
    let mut desk = desk(rules);
    desk.order(entry(1)).resized();
    desk.now += 999;
    desk.order(entry(1)).vetoed("duplicate_order").says(&["the same buy of 0.1 at 1991 in ETH", "came within 1 s;"]);
    for other in [
        entry(2),
        with(entry(1), "/s", json!("0.2")),
        with(entry(1), "/b", json!(false)),
        with(with(entry(1), "/a", json!(BTC)), "/s", json!("0.01")),
    ] {
        assert_ne!(desk.order(other).code(), "duplicate_order");
    }
    desk.now += 1;
    desk.order(entry(1)).resized();
    // Zeros and another cloid make no other order of it.
    desk.order(with(with(entry(1), "/s", json!("0.10")), "/c", cloid(1))).vetoed("duplicate_order");
}

#[test]
fn a_veto_frees_the_entries_that_it_refused() {
    let mut desk = desk(Rules { duplicate_window: dec!(1), orders_per_minute: 1, ..wide() });
    let order = with(entry(1), "/c", cloid(1));
    desk.orders(vec![order.clone(), buy(OLD, "1", "100")]).vetoed("market_delisted");
    desk.order(order).resized();
}

#[test]
fn a_window_of_zero_finds_no_duplicates() {
    let mut desk = desk(wide());
    desk.order(entry(1)).resized();
    desk.order(entry(1)).resized();
}

#[test]
fn two_alike_in_one_request_are_meant() {
    desk(Rules { duplicate_window: dec!(1), ..wide() }).orders(vec![entry(1), entry(1)]).resized();
}

#[test]
fn a_live_client_order_id_is_a_duplicate() {
    let order = |id: u8, number: u32| with(entry(number), "/c", cloid(id));
    let mut desk = desk(wide());
    let first = desk.order(order(1, 1));
    desk.order(order(1, 2)).vetoed("duplicate_order").says(&["0x0101"]);
    // In doubt it stays taken, refused it is free.
    desk.step(Input::Sent { intent: first.seq(), index: 0, outcome: SendOutcome::NoAnswer("time-out".into()) });
    desk.wait(10);
    desk.order(order(1, 3)).vetoed("duplicate_order");
    let second = desk.order(order(2, 4));
    desk.answer(second.seq(), 0, statuses(json!([{"error": "no"}, {"error": "no"}])));
    desk.order(order(2, 5)).resized();
    // So it does while it rests, until it is gone.
    let mut resting = open("ETH", "B", "1900", "0.1", 5);
    resting.cloid = serde_json::from_value(cloid(3)).unwrap();
    desk.now += 10;
    desk.show(vec![resting]);
    desk.order(order(3, 6)).vetoed("duplicate_order");
    desk.now += 10;
    desk.show(vec![]);
    desk.order(order(3, 7)).resized();
}

#[test]
fn an_entry_and_its_stop_may_share_an_id_and_two_entries_may_not() {
    let mut desk = desk(wide());
    let shared = |order: Value| with(order, "/c", cloid(1));
    desk.orders(vec![shared(entry(1)), shared(stop(ETH, false, "1950", "0.1"))]).allowed();
    let decided = Desk::new(Mode::Testnet, wide()).orders(vec![shared(entry(1)), shared(entry(2))]);
    decided.vetoed("duplicate_order");
}

#[test]
fn the_order_itself_is_judged_before_its_id() {
    let mut desk = desk(wide());
    desk.order(with(entry(1), "/c", cloid(1)));
    desk.order(with(buy(ETH, "1999.99", "0.1"), "/c", cloid(1))).vetoed("price_invalid");
}

/// Under two orders a cancel by the id could take either: the exit goes, and leaves the id to the order that has it.
#[test]
fn what_only_reduces_goes_without_an_id_that_is_alive() {
    let entry_as = |number: u32| with(entry(number), "/c", cloid(1));
    let take_profit = || with(with(close(ETH, false, "2100", "0.1"), "/t/limit/tif", json!("Gtc")), "/c", cloid(1));
    let target = || with(stop(ETH, false, "1950", "0.1"), "/c", cloid(1));
    let holding = || {
        let mut desk = desk(wide());
        desk.hold("ETH", dec!(1));
        desk
    };
    // On its way, at rest, and as a trigger.
    let mut desk = holding();
    desk.order(entry_as(1)).resized();
    for exit in [take_profit(), target()] {
        let decided = desk.order(exit);
        decided.resized().says(&["goes without it"]);
        assert_ne!(decided.sent_order(0)["c"], cloid(1));
    }
    let mut desk = holding();
    desk.order(target()).reduces();
    desk.order(take_profit()).resized().says(&["goes without it"]);
    // Its own entry and stop may share one, and an id that nothing carries any more is free.
    let mut desk = holding();
    let decided = desk.orders(vec![take_profit(), target()]);
    assert_eq!((&decided.sent_order(0)["c"], &decided.sent_order(1)["c"]), (&cloid(1), &cloid(1)));
    let refused = json!([{"error": "no"}, {"error": "no"}]);
    desk.answer(decided.seq(), 0, statuses(refused));
    let decided = desk.order(take_profit());
    assert_eq!(decided.reduces().sent_order(0)["c"], cloid(1));
    // A modify hands on the id of what it replaces, and no other's.
    desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 5}}])));
    let mut other = open("ETH", "A", "2200", "0.1", 6);
    other.reduce_only = true;
    let mut first = open("ETH", "A", "2100", "0.1", 5);
    (first.reduce_only, first.cloid) = (true, serde_json::from_value(cloid(1)).unwrap());
    desk.show(vec![first, other]);
    let modify = |oid: u64| json!({"type": "modify", "oid": oid, "order": take_profit()});
    let decided = desk.ask(modify(6));
    decided.resized().says(&["goes without it"]);
    assert_ne!(decided.forward()["order"]["c"], cloid(1));
    assert_eq!(desk.ask(modify(5)).reduces().forward()["order"]["c"], cloid(1));
}
