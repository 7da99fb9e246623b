//! The price collar, on both sides at its edge.

use rust_decimal::{Decimal, dec};

use super::fixture::*;
use crate::guard::Mode;

fn price(mid: Decimal, order: serde_json::Value) -> (String, String) {
    let mut desk = Desk::new(Mode::Paper, wide());
    desk.mids.insert("ETH".into(), mid);
    desk.read();
    let decided = desk.order(order);
    let px = decided.resized().sent_order(0)["p"].as_str().unwrap().to_owned();
    (px, decided.text().to_owned())
}

#[test]
fn prices_beyond_the_collar_are_pulled_to_it() {
    // 0.5% of 2000 is 10.
    for (order, px) in [
        (buy(ETH, "2010", "0.1"), "2010"),
        (buy(ETH, "2010.1", "0.1"), "2010"),
        (buy(ETH, "99999", "0.1"), "2010"),
        (sell(ETH, "1990", "0.1"), "1990"),
        (sell(ETH, "1989.9", "0.1"), "1990"),
        (sell(ETH, "1", "0.1"), "1990"),
    ] {
        let asked = order["p"].as_str().unwrap().to_owned();
        let (sent, text) = price(dec!(2000), order);
        assert_eq!(sent, px);
        let pulled = format!("ETH price pulled from {asked} to {px}, 0.5% from the mid 2000");
        assert_eq!(text.contains(&pulled), asked != px, "{text}");
    }
}

#[test]
fn the_edge_is_rounded_toward_the_mid() {
    // 0.5% above 2000.55 is 2010.55275, below it 1990.54725; the tick is 0.1.
    assert_eq!(price(dec!(2000.55), buy(ETH, "2010.6", "0.1")).0, "2010.5");
    assert_eq!(price(dec!(2000.55), buy(ETH, "2010.5", "0.1")).0, "2010.5");
    assert_eq!(price(dec!(2000.55), sell(ETH, "1990.5", "0.1")).0, "1990.6");
    assert_eq!(price(dec!(2000.55), sell(ETH, "1990.6", "0.1")).0, "1990.6");
}

#[test]
fn the_passive_side_is_left_alone() {
    for (order, px) in [(buy(ETH, "1000", "0.1"), "1000"), (sell(ETH, "4000", "0.1"), "4000")] {
        let (sent, text) = price(dec!(2000), order);
        assert_eq!(sent, px);
        assert!(!text.contains("pulled"), "{text}");
    }
}

#[test]
fn post_only_and_immediate_orders_are_collared_alike() {
    for tif in ["Alo", "Ioc", "FrontendMarket"] {
        let order = with(buy(ETH, "2200", "0.1"), "/t/limit/tif", tif.into());
        assert_eq!(price(dec!(2000), order).0, "2010");
    }
}
