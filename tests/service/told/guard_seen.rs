//! What the guard tells of itself, told on: each kind of trouble from the real program.

use serde_json::json;

use super::hook::Hook;
use super::notifier::Notifier;
use crate::stand::{Mode, Stand, until};
use crate::watched::hold_covered;

#[test]
fn a_halt_is_told_with_its_figures_and_the_flat_account() {
    let rules = "loss_per_trade = \"50\"\nopen_risk = \"60\"\nposition = \"400\"\nexposure = \"800\"\ndaily_loss = \"5\"\ndrawdown = \"50\"\n";
    let stand = Stand::up(Mode::Testnet, rules);
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    notifier.start(&stand);
    hold_covered(&stand, "ETH", "4");
    let placed = hook.hears("stop_placed");
    assert_eq!((&placed["about"], &placed["severity"]), (&json!("ETH"), &json!("info")));
    stand.venue.price("ETH", "2360").unwrap();
    let halt = hook.hears("halted_for_day");
    let happened = halt["happened"].as_str().unwrap();
    assert!(happened.contains("USDC of the day's start of 10000 are lost; the limit is 500 (5%)"), "{happened}");
    hook.hears("flatten");
    hook.hears("flat");
}

#[test]
fn a_position_that_cannot_be_covered_is_told() {
    let stand = Stand::up(Mode::Testnet, "");
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    notifier.start(&stand);
    // No exchange request is answered any more.
    stand.venue.control(&json!({"op": "fault", "on": "exchange", "kind": "http_502", "times": 1_000_000})).unwrap();
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    let bare = hook.hears("uncovered");
    assert_eq!(
        (&bare["about"], &bare["severity"], &bare["turn"]),
        (&json!("ETH"), &json!("critical"), &json!("begins"))
    );
    assert!(bare["happened"].as_str().unwrap().contains("has no stop"), "{bare}");
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until("its end", || {
        hook.sent().iter().any(|sent| sent.json()["code"] == "uncovered" && sent.json()["turn"] == "over").then_some(())
    });
}
