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

/// Of what the guard cannot close, and of what the venue refuses, whoever waits hears with the way out, before any alert.
#[test]
fn who_waits_for_a_kill_hears_why_it_is_not_flat() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.venue.control(&json!({"op": "foreign_order", "coin": "@107", "px": "1", "sz": "3"})).unwrap();
    hold_covered(&stand, "ETH", "0.4");
    fault(&stand, "exchange", "error", 1_000_000, "User or API Wallet 0xa9 does not exist.");
    let told = run_with(&stand.home(), &["kill", "--reason", "enough", "--wait", "4"], "");
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    let text = String::from_utf8_lossy(&told.stderr).into_owned();
    for part in
        ["1 position", "@107, no core perp, has an order", "0.4 of ETH stays", "does not exist", "venue's own page"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}
