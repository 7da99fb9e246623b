//! An order whose outcome nobody tells for minutes: the owner is told, nothing is sent twice, and what the venue says in the
//! end settles it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::signing::resting;
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, fault};

/// A doubt is asked about for two minutes, and what was given up every half.
const PATIENCE: Duration = Duration::from_secs(300);

/// Waits longer than other tests must.
fn in_the_end(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn what_could_not_be_settled_is_told_of_until_it_is() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let is_told = || stand.status()["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "unsettled");
    fault(&stand, "orderStatus", "http_502", 1_000_000, "");
    fault(&stand, "order", "apply_then_drop", 1, "");
    let reply = stand.send(&resting());
    assert_eq!(reply["status"], "err", "{reply}");
    assert!(!is_told());
    in_the_end("the alert", is_told);
    assert_eq!(stand.get("/healthz").status, 503);
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    in_the_end("the alert to go", || !is_told());
    until("good health", || (stand.get("/healthz").status == 200).then_some(()));
    until("its end on record", || stand.events_of("recovered").get(1).cloned());
    let outcomes: Vec<Value> = stand.events_of("recovered").iter().map(|event| event["outcome"].clone()).collect();
    assert_eq!(outcomes, [json!("unknown"), json!("happened")]);
    let truth = stand.venue.truth();
    let entries = truth["orders"].as_array().unwrap().iter().filter(|order| order["reduceOnly"] == false);
    assert_eq!(entries.count(), 1, "it rests as often as it was asked for: {truth}");
}
