//! `starting`: entries wait for the first reads.

use crate::guard::tests::fixture::*;
use crate::guard::{Input, Mode, Read};
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

/// What rested as the account was read after a start and filled before the open orders were is in neither of the two reads.
#[test]
fn entries_wait_for_an_account_that_is_no_older_than_the_first_orders() {
    for (account_ms, is_older) in [(NOW + 999, true), (NOW + 1_000, false)] {
        let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
        desk.read_mids(NOW);
        desk.leverage(
            ETH,
            Some(crate::venue::info::Leverage { mode: crate::venue::info::MarginMode::Cross, value: 5 }),
        );
        desk.read_account(NOW);
        desk.now = NOW + 1_000;
        // The read began before, and was taken in now.
        let effects = desk.read_orders(NOW + 900);
        assert!(reads(&effects).contains(&&Read::AccountNow));
        desk.read_account(account_ms);
        let asked = desk.order(entry());
        if is_older {
            asked.vetoed("starting").says(&["first read of the open orders"])
        } else {
            asked.resized()
        };
        // Later reads of the orders tell what has left them.
        desk.read_account(NOW + 1_000);
        desk.now = NOW + 2_000;
        desk.read_orders(NOW + 2_000);
        desk.order(buy(ETH, "1999", "0.1")).resized();
    }
}
