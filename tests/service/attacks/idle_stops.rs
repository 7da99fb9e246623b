//! A stop of the guard's that stands for nothing, and that the venue does not cancel or goes on showing, costs a request now and
//! then: never the weight and the requests that everything else lives on.

use serde_json::{Value, json};

use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, fault, hold, hold_covered, until_flat};

fn cancels(stand: &Stand) -> usize {
    stand.venue_saw().iter().filter(|request| request["action"]["type"] == "cancel").count()
}

fn reads(stand: &Stand) -> u64 {
    stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap_or_default()
}

/// Six account reads are half a dozen seconds: one cancel at once, and then after one, two and four.
const MOST: usize = 4;

/// The stop has fired, and the open orders are read as they were before.
#[test]
fn orders_that_are_read_too_late_are_not_cancelled_without_pause() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "SOL", "3");
    hold_covered(&stand, "ETH", "0.4");
    let before = reads(&stand);
    until("two reads", || (reads(&stand) >= before + 2).then_some(()));
    stand.venue.fault("frontendOpenOrders", "stale", 1_000).unwrap();
    stand.venue.price("ETH", "2440").unwrap();
    goes_on_reading(&stand);
}

/// A person closed the position at the venue's own page.
#[test]
fn a_refused_cancel_is_not_sent_again_without_pause() {
    for kind in ["error", "http_422"] {
        let stand = Stand::up(Mode::Testnet, WIDE);
        hold_covered(&stand, "SOL", "3");
        hold_covered(&stand, "ETH", "0.4");
        let before = reads(&stand);
        until("two reads", || (reads(&stand) >= before + 2).then_some(()));
        fault(&stand, "cancel", kind, 1_000, "Internal error");
        hold(&stand, "ETH", "0");
        until("the first cancel", || (cancels(&stand) > 0).then_some(()));
        goes_on_reading(&stand);
    }
}

/// The account is read on, few cancels go out, and a kill flattens at once.
fn goes_on_reading(stand: &Stand) {
    let before = reads(stand);
    until("six reads of the account", || (reads(stand) >= before + 6).then_some(()));
    assert!(cancels(stand) <= MOST, "{} cancels", cancels(stand));
    let alerts: Vec<Value> = stand.status()["alerts"].as_array().unwrap().clone();
    assert!(!alerts.iter().any(|alert| alert["code"] == "account_stale"), "{alerts:?}");
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    assert_eq!(run_with(&stand.home(), &["kill", "--reason", "enough"], "").status.code(), Some(0));
    until_flat(stand);
}
