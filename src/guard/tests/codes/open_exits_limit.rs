//! `open_exits_limit`: reduce-only orders that rest, of a client and of all.

use rust_decimal::dec;
use serde_json::{Value, json};

use crate::guard::Mode;
use crate::guard::tests::fixture::*;

fn take_profit(number: usize) -> Value {
    with(close(ETH, false, &(2100 + number).to_string(), "0.01"), "/t/limit/tif", json!("Gtc"))
}

fn desk() -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", dec!(10));
    desk
}

#[test]
fn a_client_has_a_hundred() {
    let mut desk = desk();
    desk.orders((0..99).map(take_profit).collect()).reduces();
    desk.orders(vec![take_profit(100), stop(ETH, false, "1900", "1")])
        .vetoed("open_exits_limit")
        .says(&["99", "2 more", "100"]);
    desk.order(stop(ETH, false, "1900", "1")).reduces();
    desk.order(take_profit(100)).vetoed("open_exits_limit");
    // What fills at once or not at all never rests, and passes.
    desk.orders((0..200).map(|_| close(ETH, false, "2000", "0.01")).collect()).reduces();
}

/// What one request has too much of is left out before anything of it is looked at.
#[test]
fn of_one_request_no_more_than_a_hundred_are_looked_at() {
    let decided = desk().orders((0..101).map(take_profit).collect());
    decided.resized().says(&["101 more", "100"]);
    assert_eq!(decided.forward()["orders"].as_array().unwrap().len(), 100);
    // A stop that is left out covers no entry: the guard's own comes along.
    let mut orders: Vec<Value> = (0..100).map(take_profit).collect();
    orders.extend([with(buy(ETH, "2000", "0.1"), "/t/limit/tif", json!("Ioc")), stop(ETH, false, "1970", "0.1")]);
    let decided = desk().orders(orders);
    let told = decided.resized().text().to_owned();
    assert!(told.contains("market stop"), "{told}");
    let own = decided.actions().into_iter().flat_map(|action| action["orders"].as_array().cloned().unwrap_or_default());
    assert_eq!(own.filter(|order| order["t"]["trigger"]["triggerPx"] == "1960").count(), 1);
}

#[test]
fn the_account_has_two_hundred_whoevers_they_are() {
    let mut desk = desk();
    let resting = |count: u64| {
        let orders = (1..=count).map(|oid| {
            let mut order = open("ETH", "A", "2100", "0.01", oid);
            order.reduce_only = true;
            order
        });
        orders.chain([open_stop("ETH", "A", "1900", "10", 900)]).collect()
    };
    desk.show(resting(198));
    desk.order(take_profit(1)).reduces();
    desk.order(take_profit(2)).vetoed("open_exits_limit").says(&["of all clients", "200"]);
    // One that is replaced is none more.
    desk.ask(json!({"type": "modify", "oid": 5, "order": take_profit(3)})).reduces();
}
