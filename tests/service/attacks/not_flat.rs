//! A kill that does not get flat is told of: an alert and ill health, until it is flat.

use serde_json::json;

use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, fault, held, hold_covered, until_flat};

fn has_alert(stand: &Stand) -> bool {
    stand.status()["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "not_flat")
}

#[test]
fn a_kill_that_cannot_close_is_ill_health_until_it_has() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    let text = "Too many cumulative requests sent (11000 > 10000) for cumulative volume traded $1.";
    fault(&stand, "exchange", "error", 1_000_000, text);
    assert_eq!(run_with(&stand.home(), &["kill", "--reason", "enough"], "").status.code(), Some(0));
    until("the alert", || has_alert(&stand).then_some(()));
    let health = stand.get("/healthz");
    assert_eq!(health.status, 503, "{health:?}");
    assert!(held(&stand, "ETH").is_some());
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until_flat(&stand);
    until("the alert to end", || (!has_alert(&stand)).then_some(()));
    until("good health", || (stand.get("/healthz").status == 200).then_some(()));
}
