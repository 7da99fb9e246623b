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
