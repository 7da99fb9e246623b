//! A position in a coin whose market cannot be read is told of, and covered once it can.

use serde_json::json;

use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, covered, fault, hold};

#[test]
fn a_position_in_no_known_market_is_told_of_until_it_is_known() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let is_told =
        || stand.status()["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "position_unknown");
    fault(&stand, "metaAndAssetCtxs", "http_502", 1_000_000, "");
    stand.venue.control(&json!({"op": "list", "coin": "NEWC", "px": "20"})).unwrap();
    assert!(!is_told());
    hold(&stand, "NEWC", "30");
    until("the alert", || is_told().then_some(()));
    // What has no stop that the guard knows of is ill health, and the figures of what is left behind say it too.
    let health = run_with(&stand.home(), &["health", "--listen", &stand.address().to_string()], "");
    let said = String::from_utf8(health.stderr).unwrap();
    assert!(health.status.code() == Some(1) && said.contains("the position in NEWC"), "{said}");
    let left = &stand.status()["if_away"];
    assert!(left["positions"]["count"] == 1 && left["without_stop"] != "0", "{left}");
    assert_eq!(left["without_stop"], left["positions"]["value"]);
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    covered(&stand, "NEWC", "30");
    until("the alert to go", || (!is_told()).then_some(()));
}
