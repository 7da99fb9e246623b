//! `order_rate_limit`: entries a minute.

use serde_json::Value;

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
fn so_many_entries_a_minute() {
    let mut desk = desk(Rules { orders_per_minute: 3, ..wide() });
    desk.order(entry(1)).resized();
    desk.now += 1;
    desk.orders(vec![entry(2), entry(3)]).resized();
    desk.order(entry(4)).vetoed("order_rate_limit").says(&["3 entries", "1 more", "over 3"]);
    desk.order(close(ETH, false, "2000", "1")).reduces();
    desk.wait(59_998);
    desk.order(entry(4)).vetoed("order_rate_limit");
    desk.wait(1);
    desk.order(entry(4)).resized();
    desk.order(entry(5)).vetoed("order_rate_limit");
}

#[test]
fn a_batch_counts_as_its_entries() {
    let rules = Rules { orders_per_minute: 3, ..wide() };
    desk(rules.clone()).orders((0..3).map(entry).collect()).resized();
    desk(rules).orders((0..4).map(entry).collect()).vetoed("order_rate_limit").says(&["4 more"]);
}
