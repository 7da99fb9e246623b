//! `account_stale`: the age of the reads, and whether they are believed.

use rust_decimal::dec;

use crate::guard::Input;
use crate::guard::tests::fixture::*;
use crate::guard::tests::halting::{position_loses, steady};

fn entry() -> serde_json::Value {
    buy(ETH, "2000", "0.1")
}

#[test]
fn an_account_read_serves_for_its_age_and_not_longer() {
    for (age_ms, code) in [(5_000, "resized"), (5_001, "account_stale")] {
        let mut desk = Desk::live();
        desk.now += age_ms;
        desk.read_mids(desk.now);
        let decided = desk.order(entry());
        assert_eq!(decided.code(), code);
        assert!(code == "resized" || decided.text().contains("5.1 s ago, over 5 s"), "{}", decided.text());
    }
}

#[test]
fn so_does_a_read_of_the_open_orders() {
    for (age_ms, code) in [(15_000, "resized"), (15_001, "account_stale")] {
        let mut desk = Desk::live();
        desk.positions.insert("BTC", dec!(0.001));
        desk.now += age_ms;
        desk.read_mids(desk.now);
        desk.read_account(desk.now);
        let decided = desk.order(entry());
        assert_eq!(decided.code(), code);
        let is_told = decided.text().contains("the open orders were last read 16 s ago, over 15 s");
        assert!(code == "resized" || is_told, "{}", decided.text());
        let problems = desk.guard.problems(desk.now);
        assert_eq!(problems.is_empty(), code == "resized", "{problems:?}");
        let status = desk.guard.status_json(desk.now, (0, 0));
        assert!(code == "resized" || status["alerts"][0]["code"] == "orders_stale", "{}", status["alerts"]);
        desk.order(close(BTC, false, "59900", "0.001")).reduces();
    }
}

/// A venue that answers each read with one and the same moment.
#[test]
fn an_account_that_stands_still_grows_old() {
    for (age_ms, code) in [(5_000, "resized"), (5_001, "account_stale")] {
        let mut desk = Desk::live();
        desk.hold("BTC", dec!(0.001));
        let still = desk.state(desk.now);
        desk.now += age_ms;
        desk.read_mids(desk.now);
        let equity = desk.equity;
        desk.step(Input::Account { state: still, equity, begun_ms: desk.now });
        desk.read_orders(desk.now);
        let is_stale = code == "account_stale";
        let decided = desk.order(entry());
        assert_eq!(decided.code(), code);
        assert_eq!(decided.text().contains("stand still"), is_stale, "{}", decided.text());
        let status = desk.guard.status_json(desk.now, (0, 0));
        let told = status["alerts"].as_array().unwrap().iter().filter(|alert| alert["code"] == "account_stale");
        assert_eq!(told.count(), usize::from(is_stale), "{}", status["alerts"]);
        assert_eq!(status["venue"]["account_age_ms"], age_ms);
        desk.order(close(BTC, false, "59900", "0.001")).reduces();
        // The next moment is a new one.
        desk.now += 1;
        desk.read_account(desk.now);
        assert_eq!(desk.order(buy(ETH, "2000", "0.01")).code(), "resized");
    }
}

#[test]
fn an_older_read_changes_nothing() {
    let mut desk = Desk::live();
    desk.mids.insert("ETH".into(), dec!(1000));
    desk.positions.insert("ETH", dec!(3));
    desk.read_mids(NOW - 1);
    desk.read_account(NOW - 1);
    // Of the older reads, the buy would be far above the collar and the sell would close.
    assert_eq!(desk.order(entry()).resized().sent_order(0)["p"], "2000");
    assert_eq!(desk.order(sell(ETH, "2000", "0.1")).resized().sent_order(0)["r"], false);
}

/// Whoever loses at every trade does not trade on while the loss is made sure of.
#[test]
fn entries_wait_while_a_loss_is_made_sure_of() {
    for (lost, code) in [(dec!(499.99), "resized"), (dec!(500), "account_stale")] {
        let mut desk = steady();
        desk.show(vec![open("ETH", "B", "1900", "1", 1)]);
        position_loses(&mut desk, lost);
        desk.read_mids(desk.now);
        desk.read_orders(desk.now);
        assert_eq!(desk.order(buy(ETH, "2000", "0.1")).code(), code, "{lost}");
        desk.order(close(ETH, false, "2000", "0.1")).reduces();
    }
}
