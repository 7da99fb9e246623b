//! States in which nothing may be opened, and the age of what was read.

use super::fixture::*;
use crate::guard::{Input, Mode};
use crate::rules::Rules;

fn entry() -> serde_json::Value {
    buy(ETH, "2000", "0.1")
}

#[test]
fn entries_wait_for_account_orders_and_prices() {
    let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
    desk.order(entry()).vetoed("starting").says(&["account"]);
    desk.read_account(NOW);
    desk.order(entry()).vetoed("starting").says(&["open orders"]);
    desk.read_orders(NOW);
    desk.order(entry()).vetoed("price_stale").says(&["no prices"]);
    desk.read_mids(NOW);
    desk.leverage(ETH, Some(crate::venue::info::Leverage { mode: crate::venue::info::MarginMode::Cross, value: 5 }));
    desk.order(entry()).resized();
}

#[test]
fn an_account_read_serves_for_its_age_and_not_longer() {
    for (age_ms, code) in [(5_000, "resized"), (5_001, "account_stale")] {
        let mut desk = Desk::live();
        desk.now += age_ms;
        desk.read_mids(desk.now);
        let decided = desk.order(entry());
        assert_eq!(decided.code(), code);
        assert!(code == "resized" || decided.text().contains("5001 ms ago, over 5000 ms"), "{}", decided.text());
    }
}

#[test]
fn prices_serve_for_their_age_and_not_longer() {
    for (age_ms, code) in [(5_000, "resized"), (5_001, "price_stale")] {
        let mut desk = Desk::live();
        desk.now += age_ms;
        desk.read_account(desk.now);
        let decided = desk.order(entry());
        assert_eq!(decided.code(), code);
        assert!(code == "resized" || decided.text().contains("5001 ms ago, over 5000 ms"), "{}", decided.text());
    }
}

#[test]
fn an_older_read_changes_nothing() {
    let mut desk = Desk::live();
    desk.mids.insert("ETH".into(), rust_decimal::dec!(1000));
    desk.positions.insert("ETH", rust_decimal::dec!(3));
    desk.read_mids(NOW - 1);
    desk.read_account(NOW - 1);
    // Of the older reads, the buy would be far above the collar and the sell would close.
    assert_eq!(desk.order(entry()).resized().sent_order(0)["p"], "2000");
    assert_eq!(desk.order(sell(ETH, "2000", "0.1")).resized().sent_order(0)["r"], false);
}

#[test]
fn a_pulled_kill_switch_stops_entries() {
    let mut desk = Desk::live();
    desk.step(Input::Kill { reason: "enough".into(), by: None, write_file: true, request: None });
    desk.order(entry()).vetoed("killed").says(&["enough", "/home/owner/kill", "restarts"]);
}

#[test]
fn a_stop_of_the_service_stops_entries() {
    let mut desk = Desk::live();
    desk.step(Input::Stop { reason: "SIGTERM".into() });
    desk.order(entry()).vetoed("stopping");
}

#[test]
fn a_failing_journal_stops_entries_until_it_works() {
    let mut desk = Desk::live();
    desk.step(Input::Journal(Some("no space left".into())));
    desk.order(entry()).vetoed("journal_error").says(&["no space left"]);
    desk.step(Input::Journal(None));
    desk.order(entry()).resized();
}

#[test]
fn the_kill_switch_is_told_before_staleness_and_markets() {
    let mut desk = Desk::live();
    desk.now += 60_000;
    for order in [entry(), buy(10_001, "1", "100"), with(stop(ETH, false, "1900", "1"), "/r", false.into())] {
        desk.order(order.clone()).vetoed("account_stale");
    }
    desk.step(Input::Kill { reason: "enough".into(), by: None, write_file: true, request: None });
    for order in [entry(), buy(10_001, "1", "100"), with(stop(ETH, false, "1900", "1"), "/r", false.into())] {
        desk.order(order.clone()).vetoed("killed");
    }
}

#[test]
fn reads_taken_before_the_markets_are_known_do_not_count() {
    let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
    desk.guard = crate::guard::Guard::new(config(Mode::Testnet, Rules::default()), 0);
    desk.step(Input::ActsFor(None));
    desk.positions.insert("ETH", rust_decimal::dec!(5));
    desk.read();
    desk.step(Input::Universe(universe()));
    // The account was read, but not one of its positions could be told.
    desk.order(entry()).vetoed("starting");
}

#[test]
fn entries_wait_while_the_disk_is_behind_and_exits_do_not() {
    let mut desk = Desk::live();
    desk.hold("ETH", rust_decimal::dec!(1));
    desk.step(Input::Behind(true));
    desk.order(entry()).vetoed("busy").says(&["the disk is behind", "again"]);
    desk.order(close(ETH, false, "2000", "1")).reduces();
    desk.step(Input::Behind(false));
    desk.order(entry()).resized();
}
