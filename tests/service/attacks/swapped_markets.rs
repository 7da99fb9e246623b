//! A list of markets in which two have changed places is not taken: no order goes to the market that another one was.

use serde_json::{Value, json};

use crate::signing::resting;
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, covered, hold, hold_covered, stops};

fn has_alert(stand: &Stand) -> bool {
    stand.status()["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "markets_changed")
}

/// A position in a coin that the guard does not know has it read the markets.
fn has_markets_read(stand: &Stand, coin: &str) {
    stand.venue.control(&json!({"op": "list", "coin": coin, "px": "20"})).unwrap();
    hold(stand, coin, "30");
}

/// The markets that orders went to so far.
fn markets_ordered(stand: &Stand) -> Vec<Value> {
    let seen = stand.venue_saw();
    let orders = seen.iter().filter_map(|request| request["action"]["orders"].as_array()).flatten();
    orders.map(|order| order["a"].clone()).collect()
}

#[test]
fn no_order_goes_by_a_list_that_contradicts_the_known_one() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let stop = hold_covered(&stand, "ETH", "0.4");
    let before = markets_ordered(&stand);
    stand.venue.fault("metaAndAssetCtxs", "swapped", 1_000_000).unwrap();
    has_markets_read(&stand, "NEWC");
    until("the alert", || has_alert(&stand).then_some(()));
    let reply = stand.send(&resting());
    assert_eq!(reply["guard"]["code"], "markets_changed", "{reply}");
    // More of the position is covered where it is held.
    hold(&stand, "ETH", "0.6");
    covered(&stand, "ETH", "0.6");
    assert!(markets_ordered(&stand).iter().all(|market| *market == before[0]), "{:?}", markets_ordered(&stand));
    assert!(stops(&stand, "ETH").iter().all(|now| now["triggerPx"] == stop["triggerPx"]), "the line is where it was");
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    has_markets_read(&stand, "NEW2");
    until("the end of the alert", || (!has_alert(&stand)).then_some(()));
    until("an entry to pass", || (stand.send(&resting())["status"] == "ok").then_some(()));
}
