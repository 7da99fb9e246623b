//! The guard's own troubles, told on: each kind of trouble from the real program.

use nix::sys::signal::Signal;
use serde_json::json;

use super::hook::Hook;
use super::notifier::{Notifier, start_on};
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

#[test]
fn a_guard_that_ends_is_told_with_its_last_words_and_so_is_its_return() {
    let mut stand = Stand::up(Mode::Paper, "");
    let port = stand.address().port();
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    notifier.start(&stand);
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let stopped = hook.hears("service_stopped");
    assert_eq!(stopped["happened"], "Reason: SIGTERM");
    start_on(&mut stand, port);
    assert_eq!(hook.hears("started")["severity"], "info");
    stand.kill();
    start_on(&mut stand, port);
    assert_eq!(hook.hears("restarted")["severity"], "warning");
    assert_eq!(hook.codes().iter().filter(|code| *code == "service_stopped").count(), 1);
}
