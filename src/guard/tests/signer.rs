//! A signer that the venue does not know for the account.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Effects, Input};

fn refused(text: &str) -> Value {
    json!({"status": "err", "response": text})
}

fn errors(effects: &Effects) -> Vec<String> {
    let errors = events(effects).into_iter().filter(|event| event["kind"] == "error");
    errors.map(|event| event["text"].as_str().unwrap().to_owned()).collect()
}

/// The alert, while there is one.
fn alert(desk: &Desk) -> Option<Value> {
    let status = desk.guard.status_json(desk.now, (0, 0));
    let mut alerts = status["alerts"].as_array().unwrap().clone().into_iter();
    alerts.find(|alert| alert["code"] == "signer_unknown")
}

/// The events that send something in this market, and their number.
fn sending(effects: &Effects) -> Option<Value> {
    events(effects).into_iter().find(|event| event["kind"] == "protect" || event["kind"] == "intent")
}

const REFUSALS: [&str; 5] = [
    "User or API Wallet 0xa9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9 does not exist.",
    "L1 error: User or API Wallet 0xa9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9 does not exist.",
    "Must deposit before performing actions. User: 0xacacacacacacacacacacacacacacacacacacacac",
    "Vault not registered: 0xacacacacacacacacacacacacacacacacacacacac",
    "User has pending agent removal",
];

/// Another address is read out of what is signed for another network: no other key mends that.
#[test]
fn another_signer_than_the_wallet_means_another_network() {
    for text in [
        "User or API Wallet 0x49a8c0b649a8c0b649a8c0b649a8c0b649a8c0b6 does not exist.",
        "Must deposit before performing actions. User: 0x49a8c0b649a8c0b649a8c0b649a8c0b649a8c0b6",
    ] {
        let mut desk = Desk::live();
        desk.now += 1;
        desk.hold("ETH", dec!(1));
        let effects = desk.read_orders(desk.now);
        let protect = sending(&effects).unwrap();
        let told = errors(&desk.answer(protect["seq"].as_u64().unwrap(), 0, refused(text)));
        for part in [text, "0xa9a9", "signs for testnet", "`[venue] url` in guard.toml"] {
            assert!(told[0].contains(part), "{part} is not in {told:?}");
        }
        assert!(!told[0].contains("key replace"), "{told:?}");
    }
}

#[test]
fn a_refused_signer_is_told_of_once_with_the_way_out_until_something_is_taken() {
    for text in REFUSALS {
        let mut desk = Desk::live();
        desk.now += 1;
        desk.hold("ETH", dec!(1));
        let effects = desk.read_orders(desk.now);
        let protect = sending(&effects).unwrap();
        let effects = desk.answer(protect["seq"].as_u64().unwrap(), 0, refused(text));
        let told = errors(&effects);
        assert_eq!(told.len(), 1, "{told:?}");
        let command = "`svc-guard --home /home/owner key replace --key-stdin < FILE`";
        for part in [text, "0xa9a9", &ACCOUNT.to_string(), "approve", command] {
            assert!(told[0].contains(part), "{part} is not in {told:?}");
        }
        let shown = alert(&desk).unwrap();
        assert_eq!((&shown["text"], &shown["since_ms"]), (&json!(told[0]), &json!(desk.now)));
        assert!(desk.guard.problems(desk.now).contains(&told[0]), "it can cover nothing, and is not well");
        assert!(!desk.guard.gauges(desk.now).is_healthy);

        // Refused again, and refused for another reason: nothing new.
        let order = desk.order(buy(SOL, "100", "1"));
        assert!(errors(&desk.answer(order.seq(), 0, refused(text))).is_empty());
        let order = desk.order(buy(SOL, "99", "1"));
        desk.answer(order.seq(), 0, refused("Invalid nonce: duplicate nonce 1"));
        assert!(alert(&desk).is_some());

        // Refused on its own merits is taken from this signer.
        let order = desk.order(buy(SOL, "98", "1"));
        desk.answer(order.seq(), 0, statuses(json!([{"error": "Insufficient margin to place order. asset=2"}])));
        assert_eq!((alert(&desk), desk.guard.gauges(desk.now).is_healthy), (None, true));
    }
}

#[test]
fn another_refusal_says_nothing_of_the_signer() {
    let mut desk = Desk::live();
    for text in ["Action already expired", "Too many cumulative requests sent (2 > 1) for cumulative volume traded $1."]
    {
        let order = desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 1}]}));
        assert!(errors(&desk.answer(order.seq(), 0, refused(text))).is_empty());
        assert_eq!(alert(&desk), None);
    }
}

#[test]
fn the_way_out_of_a_vaults_guard_names_its_leader() {
    let mut desk = Desk::live();
    desk.step(Input::ActsFor(Some(ACCOUNT)));
    let order = desk.order(buy(ETH, "2000", "0.1"));
    desk.answer(order.seq(), 0, refused(REFUSALS[3]));
    assert!(alert(&desk).unwrap()["text"].as_str().unwrap().contains("a vault's leader"));
}

#[test]
fn a_stop_refused_for_its_signer_is_tried_again_and_closes_nothing() {
    let mut desk = Desk::live();
    desk.now += 1;
    desk.hold("ETH", dec!(1));
    let mut tried = sending(&desk.read_orders(desk.now));
    for _ in 0..5 {
        let sent = tried.unwrap_or_else(|| panic!("nothing is tried"));
        let order = sent.pointer("/actions/0/orders/0").or(sent.pointer("/action/orders/0")).unwrap();
        assert!(order["t"].get("trigger").is_some(), "the position is covered, not closed: {sent}");
        desk.answer(sent["seq"].as_u64().unwrap(), 0, refused(REFUSALS[0]));
        desk.now += 10_000;
        let now = desk.now;
        let read = [desk.read_mids(now), desk.read_account(now), desk.read_orders(now), desk.step(Input::Tick)];
        tried = read.iter().find_map(sending);
    }
}
