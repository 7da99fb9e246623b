//! One read that hangs holds up no other: a position made elsewhere is covered while it hangs.

use serde_json::{Value, json};

use crate::signing::resting;
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, covered, fault, held, hold, hold_covered};

/// As often as a test could want it.
const FOR_GOOD: u64 = 1_000_000;
/// Questions about one doubt that may be at the venue, or were given up on, by the time that a position is covered.
const FEW: u64 = 4;

fn delay(stand: &Stand, on: &str, times: u64) {
    stand.venue.control(&json!({"op": "fault", "on": on, "kind": "delay", "times": times, "ms": 11_000})).unwrap();
}

/// How often the venue is still to meet a question with the fault.
fn left(stand: &Stand, on: &str) -> u64 {
    let faults = stand.venue.truth()["faults"].as_array().unwrap().clone();
    faults.iter().filter(|fault| fault["on"] == on).map(|fault| fault["times"].as_u64().unwrap()).sum()
}

#[test]
fn a_status_that_hangs_leaves_no_position_bare() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.without_feed();
    delay(&stand, "orderStatus", FOR_GOOD);
    fault(&stand, "order", "apply_then_drop", 1, "");
    let reply = stand.send(&resting());
    assert_eq!(reply["status"], "err", "{reply}");
    until("the order to be asked about", || (left(&stand, "orderStatus") < FOR_GOOD).then_some(()));
    hold_covered(&stand, "ETH", "0.4");
    let asked = FOR_GOOD - left(&stand, "orderStatus");
    assert!(asked <= FEW, "{asked} questions about one order");
    assert_eq!(stand.get("/healthz").status, 200);
}

/// Many orders in doubt at once, and none of their statuses comes in time.
#[test]
fn many_doubts_hold_up_no_read() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.without_feed();
    delay(&stand, "orderStatus", FOR_GOOD);
    for round in 0..8 {
        fault(&stand, "order", "apply_then_drop", 1, "");
        let px = format!("{}", 55_000 + round);
        let order = json!({"a": 3, "b": true, "p": px, "s": "0.01", "r": false, "t": {"limit": {"tif": "Gtc"}}});
        stand.send(&json!({"type": "order", "orders": [order], "grouping": "na"}));
    }
    until("an order to be asked about", || (left(&stand, "orderStatus") < FOR_GOOD).then_some(()));
    hold_covered(&stand, "ETH", "0.4");
}

/// The event of a read that failed comes after the stop: the position was covered while the read still hung.
#[test]
fn what_is_read_beside_holds_up_no_cover() {
    for (on, name) in [("userRateLimit", "reading the limits fails"), ("extraAgents", "reading the API wallet fails")] {
        let mut stand = Stand::set_up(Mode::Testnet, WIDE);
        stand.without_feed();
        stand.venue.control(&json!({"op": "fault", "on": on, "kind": "stall", "times": 1, "ms": 60_000})).unwrap();
        stand.launch();
        until("the read to hang", || (left(&stand, on) == 0).then_some(()));
        hold(&stand, "ETH", "0.4");
        covered(&stand, "ETH", "0.4");
        let failed = until("the read to fail", || {
            let told = |event: &Value| event["text"].as_str().is_some_and(|text| text.contains(name));
            stand.events_of("error").into_iter().find(told)
        });
        let protect = stand.events_of("protect").remove(0);
        assert!(protect["seq"].as_u64() < failed["seq"].as_u64(), "{on}: {protect} {failed}");
    }
}

/// Prices and open orders that never come leave a position covered all the same, from the account's own marks.
#[test]
fn a_steady_read_that_hangs_holds_up_no_other() {
    for on in ["allMids", "frontendOpenOrders"] {
        let stand = Stand::up(Mode::Testnet, WIDE);
        stand.without_feed();
        stand.venue.control(&json!({"op": "fault", "on": on, "kind": "stall", "times": FOR_GOOD})).unwrap();
        until("the read to hang", || (left(&stand, on) < FOR_GOOD).then_some(()));
        hold(&stand, "ETH", "0.4");
        let before = left(&stand, on);
        covered(&stand, "ETH", "0.4");
        // A question is given up on after seconds, so that this many fit into the time that a cover may take.
        assert!(before - left(&stand, on) <= 2, "{on}");
    }
}

/// Everything that the guard asks a running venue, but for the account itself, which only a feed can stand in for.
const QUESTIONS: [&str; 13] = [
    "allMids",
    "frontendOpenOrders",
    "metaAndAssetCtxs",
    "activeAssetData",
    "userAbstraction",
    "userFillsByTime",
    "userFunding",
    "userNonFundingLedgerUpdates",
    "userRateLimit",
    "userRole",
    "extraAgents",
    "orderStatus",
    "twapHistory",
];

/// From now on no question of this kind is answered: a position made elsewhere is covered, and a kill closes it.
fn covers_and_closes_without(stand: &Stand, question: &str) {
    let stall = json!({"op": "fault", "on": question, "kind": "stall", "times": FOR_GOOD});
    stand.venue.control(&stall).unwrap();
    hold_covered(stand, "ETH", "0.4");
    stand.pull(question);
    until(&format!("what is held to be closed without {question}"), || held(stand, "ETH").is_none().then_some(()));
}

#[test]
fn no_question_that_hangs_holds_up_a_cover_or_a_kill() {
    for question in QUESTIONS {
        let stand = Stand::up(Mode::Testnet, WIDE);
        stand.without_feed();
        covers_and_closes_without(&stand, question);
    }
}

#[test]
fn none_does_beside_the_live_feed() {
    for question in QUESTIONS.into_iter().chain(["clearinghouseState"]) {
        let stand = Stand::up(Mode::Testnet, WIDE);
        until("the feed", || (stand.status()["venue"]["feed"]["proved"] == true).then_some(()));
        covers_and_closes_without(&stand, question);
    }
}
