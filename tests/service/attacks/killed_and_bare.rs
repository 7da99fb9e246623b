//! A position that cannot be closed is covered, also while everything must go.

use serde_json::json;

use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, closes, covered, held, hold, until_flat};

#[test]
fn a_position_whose_closes_are_refused_gets_a_stop_while_killed() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    assert_eq!(run_with(&stand.home(), &["kill", "--reason", "enough"], "").status.code(), Some(0));
    until("the kill", || stand.status()["killed"].as_str().map(str::to_owned));
    stand.venue.control(&json!({"op": "book", "coin": "ETH", "depth": "0"})).unwrap();
    hold(&stand, "ETH", "0.4");
    covered(&stand, "ETH", "0.4");
    let tried = closes(&stand).len();
    assert!(tried >= 1 && held(&stand, "ETH").is_some());
    // It goes on being closed, and the stop goes last.
    stand.venue.control(&json!({"op": "book", "coin": "ETH", "depth": null})).unwrap();
    until_flat(&stand);
}
