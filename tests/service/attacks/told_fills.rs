//! A fill that the venue told of is held, read or not: a close of it is the exit that it is, marked or not.

use serde_json::{Value, json};

use crate::signing::{ETH, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{covered, held, hold_covered};

/// An order that fills at once or not at all, not marked reduce-only.
fn at_once(is_buy: bool, px: &str, size: &str) -> Value {
    let mut order = limit(ETH, is_buy, px, size);
    order["t"] = json!({"limit": {"tif": "Ioc"}});
    order["r"] = json!(false);
    order
}

#[test]
fn an_unmarked_close_right_after_a_fill_goes_as_it_was_asked() {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    // From here on the account is read as it was.
    stand.venue.fault("clearinghouseState", "stale", 1_000).unwrap();
    let reply = stand.send(&place(&at_once(true, "2501", "3.9")));
    assert!(reply["response"]["data"]["statuses"][0].get("filled").is_some(), "{reply}");
    assert!(held(&stand, "ETH").is_some());
    let reply = stand.send(&place(&at_once(false, "2375", "3.9")));
    assert_eq!(held(&stand, "ETH"), None, "{reply}");
    let saw = stand.venue_saw();
    let is_sell = |request: &&Value| request["action"]["orders"][0]["b"] == false;
    let is_limit = |request: &&Value| request["action"]["orders"][0]["t"].get("limit").is_some();
    let sell = &saw.iter().filter(is_sell).find(is_limit).unwrap()["action"]["orders"];
    assert_eq!(sell.as_array().unwrap().len(), 1, "no stop goes with it: {sell}");
    let sell = &sell[0];
    assert_eq!((&sell["p"], &sell["r"]), (&json!("2375"), &json!(true)), "{sell}");
    // All of it is closed: one more would open, and is no exit.
    stand.send(&place(&at_once(false, "2499", "0.1")));
    assert!(held(&stand, "ETH").is_some_and(|szi| szi.starts_with('-')));
}

#[test]
fn a_close_of_what_was_told_goes_beside_an_entry_that_is_refused() {
    let stand = Stand::up(Mode::Testnet, "markets = [\"ETH\"]\nduplicate_window = \"0\"\n");
    stand.venue.fault("clearinghouseState", "stale", 1_000).unwrap();
    let reply = stand.send(&place(&at_once(true, "2501", "1")));
    assert!(reply["response"]["data"]["statuses"][0].get("filled").is_some(), "{reply}");
    let mut exit = at_once(false, "2375", "1");
    exit["r"] = json!(true);
    let orders = json!([exit, limit(3, true, "60000", "0.001")]);
    let reply = stand.send(&json!({"type": "order", "orders": orders, "grouping": "na"}));
    assert_eq!(reply["guard"]["verdict"], "resize", "{reply}");
    assert_eq!(held(&stand, "ETH"), None, "{reply}");
}

#[test]
fn a_told_fill_that_a_stop_took_away_again_is_closed_by_nothing_twice() {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    hold_covered(&stand, "ETH", "0.1");
    stand.venue.fault("clearinghouseState", "stale", 1_000).unwrap();
    let reply = stand.send(&place(&at_once(true, "2501", "3")));
    assert!(reply["response"]["data"]["statuses"][0].get("filled").is_some(), "{reply}");
    covered(&stand, "ETH", "3");
    // Both stops fire before any read of the account, and the close finds nothing.
    stand.venue.price("ETH", "2440").unwrap();
    until("nothing to be held", || held(&stand, "ETH").is_none().then_some(()));
    stand.send(&place(&at_once(false, "2375", "3.1")));
    assert_eq!(held(&stand, "ETH"), None, "the close opens nothing");
}
