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

#[test]
fn a_modify_adds_to_the_open_entries_unless_it_replaces_one() {
    let rules = Rules { open_orders: 2, ..wide() };
    let mut desk = Desk::new(crate::guard::Mode::Testnet, rules);
    let mut profit = open("ETH", "A", "2100", "1", 3);
    profit.reduce_only = true;
    desk.show(vec![open("ETH", "B", "1900", "1", 1), open("ETH", "B", "1901", "1", 2), profit]);
    let modify = |oid: u64| serde_json::json!({"oid": oid, "order": buy(ETH, "1905", "1")});
    let batch = |oids: &[u64]| {
        let modifies: Vec<_> = oids.iter().map(|oid| modify(*oid)).collect();
        serde_json::json!({"type": "batchModify", "modifies": modifies})
    };
    desk.ask(batch(&[1, 1])).vetoed("duplicate_order").says(&["the same order twice"]);
    desk.ask(batch(&[3])).vetoed("open_orders_limit");
    desk.ask(batch(&[1, 2])).resized();
    // What is being replaced makes no room again.
    desk.ask(batch(&[1, 2])).vetoed("open_orders_limit");
}
