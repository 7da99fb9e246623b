//! `starting`: entries wait for the first reads.

use crate::guard::tests::fixture::*;
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
