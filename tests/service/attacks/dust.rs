//! Dust is what the venue said it of, by its own status, and only while it is small.

use serde_json::json;

use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, fault, held, hold, hold_covered, stops};

const TOO_SMALL: &str = "Order must have minimum value of $10.";

fn pull(stand: &Stand) {
    assert_eq!(run_with(&stand.home(), &["kill", "--reason", "enough"], "").status.code(), Some(0));
}

/// One status for a batch says nothing about each of its orders: what is large is closed all the same.
#[test]
fn one_status_for_a_batch_makes_no_dust_of_a_large_position() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "BTC", "0.1");
    hold_covered(&stand, "ETH", "0.1");
    fault(&stand, "order", "one_error", 1, TOO_SMALL);
    pull(&stand);
    until("both to be closed", || (held(&stand, "BTC").is_none() && held(&stand, "ETH").is_none()).then_some(()));
}

/// A status of its own makes no dust of a large position either, and its stop stays until it is closed.
#[test]
fn a_large_position_is_never_dust() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "BTC", "0.1");
    fault(&stand, "order", "error", 3, TOO_SMALL);
    pull(&stand);
    until("it to be closed", || {
        assert!(held(&stand, "BTC").is_none() || !stops(&stand, "BTC").is_empty(), "its stop is gone before it");
        held(&stand, "BTC").is_none().then_some(())
    });
}

#[test]
fn dust_that_grows_is_closed() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.venue.setting("min_notional_reduce_only", "rejected").unwrap();
    hold(&stand, "ETH", "0.002");
    until("it to be seen", || (stand.status()["positions"].as_array()?.len() == 1).then_some(()));
    pull(&stand);
    let is_told = || stand.status()["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "dust");
    until("an alert", || is_told().then_some(()));
    stand.venue.control(&json!({"op": "price", "coin": "ETH", "px": "7500"})).unwrap();
    until("it to be closed", || held(&stand, "ETH").is_none().then_some(()));
    until("the alert to end", || (!is_told()).then_some(()));
}
