//! `market_not_allowed`: core perps of the owner's list.

use crate::guard::Mode;
use crate::guard::tests::fixture::*;
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
