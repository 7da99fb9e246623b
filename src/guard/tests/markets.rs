//! Which markets may be entered, entries by trigger, ticks and lots.

use super::fixture::*;
use crate::guard::{Mode, Read};
use crate::rules::{Coin, Markets, Rules};

fn only(coin: &str) -> Rules {
    Rules { markets: Markets::List([Coin::parse(coin).unwrap()].into()), ..Rules::default() }
}

#[test]
fn the_owners_list_decides() {
    let mut desk = Desk::new(Mode::Paper, only("ETH"));
    desk.order(buy(ETH, "2000", "0.1")).resized();
    desk.order(buy(BTC, "60000", "0.01")).vetoed("market_not_allowed").says(&["BTC", "ETH"]);
    Desk::paper().order(buy(BTC, "60000", "0.01")).resized();
}

#[test]
fn spot_builder_and_outcome_markets_are_not_entered() {
    for asset in [10_000, 10_107, 99_999, 100_000, 110_003, 99_999_999, 100_000_000, 100_000_011, u32::MAX] {
        Desk::paper().order(buy(asset, "1", "100")).vetoed("market_not_allowed").says(&[&asset.to_string()]);
    }
}

#[test]
fn reduce_only_means_nothing_in_spot_and_outcome_markets() {
    for asset in [10_000, 99_999, 100_000_000] {
        Desk::paper().order(close(asset, false, "1", "100")).vetoed("market_not_allowed");
    }
    // Builder-deployed perps have positions, and the venue holds the flag.
    for asset in [100_000, 110_003, 99_999_999] {
        Desk::paper().order(close(asset, false, "1", "100")).reduces();
    }
}

#[test]
fn an_unknown_market_is_refused_and_the_list_read_again() {
    let decided = Desk::live().order(buy(UNLISTED, "1", "100"));
    decided.vetoed("market_unknown").says(&["6"]);
    assert_eq!(reads(&decided.effects), [&Read::Universe]);
    assert!(reads(&Desk::live().order(buy(OLD, "1", "100")).effects).is_empty());
}

#[test]
fn a_delisted_market_takes_exits_only() {
    let mut desk = Desk::paper();
    desk.order(buy(OLD, "1", "100")).vetoed("market_delisted").says(&["OLD"]);
    desk.order(close(OLD, false, "1", "100")).reduces();
}

#[test]
fn a_market_without_a_mid_cannot_be_judged() {
    Desk::paper().order(buy(BARE, "1", "100")).vetoed("price_stale").says(&["BARE"]);
}

#[test]
fn a_trigger_opens_nothing() {
    let entry = |is_market: bool, tpsl: &str| {
        let order = with(stop(ETH, true, "2100", "0.1"), "/r", false.into());
        let order = with(order, "/t/trigger/isMarket", is_market.into());
        with(order, "/t/trigger/tpsl", tpsl.into())
    };
    for order in [entry(true, "sl"), entry(false, "sl"), entry(true, "tp"), entry(false, "tp")] {
        Desk::paper().order(order).vetoed("trigger_entry_not_allowed").says(&["reduce-only"]);
    }
}

#[test]
fn a_trigger_that_only_closes_is_marked_reduce_only() {
    let mut desk = Desk::paper();
    desk.hold("ETH", rust_decimal::dec!(-0.1));
    let decided = desk.order(with(stop(ETH, true, "2100", "0.1"), "/r", false.into()));
    assert_eq!(decided.resized().sent_order(0)["r"], true);
    let mut desk = Desk::paper();
    desk.hold("ETH", rust_decimal::dec!(-0.1));
    desk.order(with(stop(ETH, true, "2100", "0.2"), "/r", false.into())).vetoed("trigger_entry_not_allowed");
}

#[test]
fn prices_stand_on_the_tick() {
    for (asset, px, size, valid) in [
        (ETH, "1999.9", "0.1", true),
        (ETH, "1999.99", "0.1", false),
        (BTC, "59999", "0.001", true),
        (BTC, "59999.5", "0.001", false),
        (BTC, "9999.9", "0.01", true),
        (BTC, "9999.95", "0.01", false),
        (ISO, "0.49999", "100", true),
        (ISO, "0.499999", "100", false),
        (ETH, "0", "0.1", false),
    ] {
        let decided = Desk::paper().order(buy(asset, px, size));
        assert_eq!(decided.code(), if valid { "resized" } else { "price_invalid" }, "{px}: {}", decided.text());
    }
    Desk::paper().order(buy(ETH, "1999.99", "0.1")).says(&["1999.99", "1999.9", "2000"]);
}

#[test]
fn sizes_stand_on_the_lot() {
    for (asset, px, size, valid) in [
        (ETH, "2000", "0.1001", true),
        (ETH, "2000", "0.10001", false),
        (ISO, "0.5", "100", true),
        (ISO, "0.5", "100.5", false),
        (ETH, "2000", "0", false),
    ] {
        let decided = Desk::paper().order(buy(asset, px, size));
        assert_eq!(decided.code(), if valid { "resized" } else { "size_invalid" }, "{size}: {}", decided.text());
    }
    Desk::paper().order(buy(ETH, "2000", "0.10001")).says(&["0.10001", "ETH", "0.0001"]);
}

#[test]
fn price_comes_before_size_and_market_before_both() {
    Desk::paper().order(buy(ETH, "1999.99", "0.10001")).vetoed("price_invalid");
    Desk::paper().order(buy(OLD, "1999.999999", "0.00000001")).vetoed("market_delisted");
}
