//! A stop that the venue does not take: what closes a position, and who hears of one that stays bare.

use serde_json::json;

use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, closes, fault, held, hold, hold_covered};

/// What refuses the request as a whole says nothing about the stop in it.
#[test]
fn a_refused_request_closes_nothing() {
    for text in [
        "Invalid nonce: nonce too low",
        "Invalid nonce: duplicate nonce 1",
        "Action already expired",
        "Unable to recover signer.",
    ] {
        let stand = Stand::up(Mode::Testnet, WIDE);
        fault(&stand, "exchange", "error", 3, text);
        hold_covered(&stand, "ETH", "0.4");
        assert!(closes(&stand).is_empty(), "{text}");
        assert!(held(&stand, "ETH").is_some(), "{text}");
    }
}

#[test]
fn a_position_that_stays_bare_is_ill_health() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    fault(&stand, "order", "error", 1_000, "Too many cumulative requests sent (10001 > 10000)");
    hold(&stand, "ETH", "0.4");
    let alert = until("the alert", || {
        let alerts = stand.status()["alerts"].as_array().unwrap().clone();
        alerts.into_iter().find(|alert| alert["code"] == "uncovered")
    });
    assert!(alert["text"].as_str().unwrap().contains("0.4 of the position in ETH"), "{alert}");
    assert_eq!(stand.get("/healthz").status, 503);
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until("all to be well again", || (stand.get("/healthz").status == 200).then_some(()));
    assert!(closes(&stand).is_empty() && held(&stand, "ETH").is_some());
}
