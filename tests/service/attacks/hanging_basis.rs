//! A start and a halt wait for the markets, the account's mode and the ledger. One answer of those that never comes holds up neither:
//! what was asked beside it is gone by, and nothing is ever told of the one that hung.

use serde_json::{Value, json};

use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, covered, hold, hold_covered, until_flat};

const MARKETS: &str = "metaAndAssetCtxs";
const MODE: &str = "userAbstraction";
const LEDGER: &str = "userNonFundingLedgerUpdates";

/// The next questions of this kind are never answered.
fn hang(on: &str, times: u64) -> Value {
    json!({"op": "fault", "on": on, "kind": "stall", "times": times})
}

/// How often the venue is still to meet a question with the fault.
fn left(stand: &Stand, on: &str) -> u64 {
    let faults = stand.venue.truth()["faults"].as_array().unwrap().clone();
    faults.iter().filter(|fault| fault["on"] == on).map(|fault| fault["times"].as_u64().unwrap()).sum()
}

fn is_told(stand: &Stand, name: &str) -> bool {
    let text = format!("reading the {name} fails");
    stand.events_of("error").iter().any(|event| event["text"].as_str().is_some_and(|told| told.contains(&text)))
}

/// How often the venue was asked for the markets alone, which a start does that gave up on them with their marks.
fn given_up(stand: &Stand) -> u64 {
    stand.venue.truth()["reads"]["meta"].as_u64().unwrap_or_default()
}

/// Waits until a question is given up on that was asked after all those that hang: so was each of them by then.
fn until_all_are_given_up(stand: &Stand) {
    stand.venue.control(&hang("allMids", 1_000_000)).unwrap();
    stand.without_feed();
    until("the prices to fail", || is_told(stand, "prices").then_some(()));
}

#[test]
fn one_hung_answer_leaves_no_position_bare_at_a_start() {
    // Beside the first try at the markets that is late they are asked for without their marks.
    for (on, name, times, alone) in [(MARKETS, "markets", 1, 1), (MODE, "mode", 2, 0)] {
        let mut stand = Stand::set_up(Mode::Testnet, WIDE);
        hold(&stand, "ETH", "0.4");
        stand.venue.control(&hang(on, times)).unwrap();
        let before = given_up(&stand);
        stand.launch();
        covered(&stand, "ETH", "0.4");
        assert!(left(&stand, on) == 0 && !is_told(&stand, name), "{on}: covered late");
        until_all_are_given_up(&stand);
        assert!(!is_told(&stand, name) && given_up(&stand) == before + alone, "{on}: {:?}", stand.events_of("error"));
    }
}

/// Nothing waits until the first try is given up.
#[test]
fn an_answer_that_never_comes_leaves_no_position_bare_at_a_start() {
    for (on, name) in [(MARKETS, "markets"), (MODE, "mode")] {
        let mut stand = Stand::set_up(Mode::Testnet, WIDE);
        hold(&stand, "ETH", "0.4");
        stand.venue.control(&hang(on, 1_000_000)).unwrap();
        stand.launch();
        covered(&stand, "ETH", "0.4");
        assert!(!is_told(&stand, name), "{on}: covered late");
    }
}

/// What is held needs a guard more than one odd answer counts.
#[test]
fn one_odd_answer_ends_no_start() {
    let of_wallet = json!({"op": "fault", "on": "userRole", "kind": "stranger", "times": 1});
    for odd in [None, Some(of_wallet)] {
        let mut stand = Stand::set_up(Mode::Testnet, WIDE);
        hold(&stand, "ETH", "0.4");
        match &odd {
            Some(fault) => drop(stand.venue.control(fault).unwrap()),
            None => drop(stand.venue.setting("abstraction", json!("portfolioMargin")).unwrap()),
        }
        let asked = |stand: &Stand| stand.venue.truth()["reads"][MODE].as_u64().unwrap_or_default();
        let before = asked(&stand);
        stand.launch();
        until("the mode to be asked for", || (asked(&stand) > before).then_some(()));
        stand.venue.setting("abstraction", json!("default")).unwrap();
        covered(&stand, "ETH", "0.4");
        until("good health", || (stand.get("/healthz").status == 200).then_some(()));
    }
}

#[test]
fn one_hung_answer_holds_off_no_halt() {
    for (on, name) in [(MODE, "mode"), (LEDGER, "ledger")] {
        let stand = Stand::up(Mode::Testnet, &WIDE.replace("daily_loss = \"90\"", "daily_loss = \"5\""));
        hold_covered(&stand, "BTC", "0.01");
        hold_covered(&stand, "ETH", "4");
        // Closed at a loss of 600: no more than cash that is gone, unless the ledger and the mode are read.
        let lost = json!({"op": "position", "coin": "ETH", "szi": "0", "entry_px": "2350"});
        stand.venue.control(&json!([hang(on, 1), lost])).unwrap();
        until("the halt", || (stand.status()["risk"]["state"] == "halted_for_day").then_some(()));
        assert!(left(&stand, on) == 0 && !is_told(&stand, name), "{on}: halted late");
        until_flat(&stand);
        until_all_are_given_up(&stand);
        assert!(!is_told(&stand, name), "{on}: {:?}", stand.events_of("error"));
    }
}
