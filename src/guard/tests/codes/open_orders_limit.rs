//! `open_orders_limit`: entries that are open at a time.

use serde_json::{Value, json};

use crate::guard::Mode;
use crate::guard::tests::fixture::*;
use crate::rules::Rules;

fn desk(rules: Rules) -> Desk {
    Desk::new(Mode::Testnet, rules)
}

fn entry(number: u32) -> Value {
    buy(ETH, &(1990 + number).to_string(), "0.1")
}

#[test]
fn so_many_open_entries() {
    let mut desk = desk(Rules { open_orders: 3, ..wide() });
    let mut exit = open("ETH", "A", "2100", "1", 9);
    exit.reduce_only = true;
    desk.show(vec![open("ETH", "B", "1900", "0.1", 1), exit, open_stop("ETH", "A", "1800", "1", 8)]);
    desk.order(entry(1)).resized();
    desk.orders(vec![entry(2), entry(3)]).vetoed("open_orders_limit").says(&["2 open entries and 2 more are over 3"]);
    desk.order(entry(2)).resized();
    desk.order(entry(3)).vetoed("open_orders_limit");
    // What fills at once or not at all never rests.
    desk.order(with(entry(3), "/t/limit/tif", json!("Ioc"))).resized();
}

#[test]
fn an_order_that_is_gone_is_no_longer_open() {
    let mut desk = desk(Rules { open_orders: 1, ..wide() });
    desk.show(vec![open("ETH", "B", "1900", "0.1", 1)]);
    desk.order(entry(1)).vetoed("open_orders_limit");
    desk.show(vec![]);
    desk.order(entry(1)).resized();
}
