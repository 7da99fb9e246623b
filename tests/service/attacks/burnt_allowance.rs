//! The venue's allowance for the account cannot be used up with orders that pass in every state: the kill switch still
//! closes everything.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::signing::{BTC, ETH};
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, hold, until_flat};

/// Orders in one request, and requests: twice what the account has left.
const BATCH: usize = 20;
const REQUESTS: usize = 60;

fn exits(asset: u32, px: &str) -> Value {
    let order = json!({"a": asset, "b": false, "p": px, "s": "0.001", "r": true, "t": {"limit": {"tif": "Ioc"}}});
    json!({"type": "order", "orders": vec![order; BATCH], "grouping": "na"})
}

#[test]
fn a_kill_flattens_whatever_a_client_spent_before() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    hold(&stand, "ETH", "0.02");
    // The account starts with 10,000 requests; of these 600 or so are left.
    stand.venue.control(&json!({"op": "setting", "name": "prior_requests", "value": 9_450})).unwrap();
    stand.start();
    let mut codes = BTreeSet::new();
    for number in 0..REQUESTS {
        // What is not held, and what is held at a price that nobody pays.
        let action = if number % 2 == 0 { exits(BTC, "90000") } else { exits(ETH, "9000") };
        codes.insert(stand.send(&action)["guard"]["code"].as_str().unwrap().to_owned());
    }
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    assert_eq!(done.status.code(), Some(0));
    until_flat(&stand);
    assert!(codes.contains("nothing_to_reduce") && codes.contains("venue_budget"), "{codes:?}");
    let told =
        |status: &Value| status["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "venue_budget");
    until("the alert", || told(&stand.status()).then_some(()));
}
