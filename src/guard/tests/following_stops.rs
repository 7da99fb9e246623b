//! Stops beside others. Those that follow entries of a batch: one for each side of what fills at once, before anything else of the batch.

use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Input, Mode, SendOutcome};

/// However many there are, what they open is covered with one send: at the nearest of their triggers.
#[test]
fn entries_that_fill_at_once_have_one_stop_a_side() {
    let ioc = |order: Value| with(order, "/t/limit/tif", json!("Ioc"));
    let mut desk = Desk::new(Mode::Testnet, wide());
    let mut orders: Vec<Value> = (0..50).map(|at| ioc(buy(ETH, &(2_000 + at % 3).to_string(), "0.02"))).collect();
    orders.push(ioc(sell(SOL, "100", "1")));
    let decided = desk.orders(orders.clone());
    let actions = decided.resized().actions();
    assert_eq!((actions.len(), actions[0]["orders"].as_array().unwrap().len()), (3, 51));
    let stop =
        |action: &Value| (action["orders"][0]["t"]["trigger"]["triggerPx"].clone(), action["orders"][0]["s"].clone());
    assert_eq!(stop(&actions[1]), (json!("1962"), json!("1")));
    assert_eq!(stop(&actions[2]), (json!("102"), json!("1")));
    assert!(
        decided.event["changes"].as_array().unwrap().iter().all(|change| !change.as_str().unwrap().contains("1960"))
    );
    // One that was taken is enough for its stop to follow; with none it does not.
    let (filled, refused) = (json!({"filled": {"totalSz": "0.02", "avgPx": "2000", "oid": 7}}), json!({"error": "no"}));
    let mut told = vec![refused; 51];
    told[33] = filled;
    let effects = desk.answer(decided.seq(), 0, statuses(json!(told)));
    assert_eq!(sends(&effects)[0].index, 1);
    let effects = desk.answer(decided.seq(), 1, statuses(json!([{"resting": {"oid": 8}}])));
    assert!(sends(&effects).iter().all(|send| send.intent != decided.seq()), "no stop for what was refused");
}

/// A stop that got no answer ends the request: the groups behind it are not sent, and their client is told.
#[test]
fn what_waits_behind_an_unanswered_stop_is_not_sent() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let ioc = with(buy(SOL, "100", "1"), "/t/limit/tif", json!("Ioc"));
    let sold = with(sell(ETH, "2000", "0.1"), "/t/limit/tif", json!("Ioc"));
    let decided = desk.orders(vec![ioc, sold, buy(ETH, "1990", "1")]);
    let seq = decided.seq();
    let filled = json!({"filled": {"totalSz": "1", "avgPx": "100", "oid": 7}});
    desk.answer(seq, 0, statuses(json!([filled, filled])));
    let effects = desk.step(Input::Sent { intent: seq, index: 1, outcome: SendOutcome::NoAnswer("time-out".into()) });
    let told = answers(&effects).remove(0)["response"]["data"]["statuses"].clone();
    assert!(told[2]["error"].as_str().unwrap().contains("not sent"), "{told}");
    assert!(sends(&effects).iter().any(|send| (send.intent, send.index) == (seq, 2)), "the other stop goes");
    let effects = desk.answer(seq, 2, statuses(json!([{"resting": {"oid": 8}}])));
    assert!(sends(&effects).iter().all(|send| send.intent != seq));
}

/// Whichever child fills first, the venue takes the others away.
#[test]
fn a_child_smaller_than_its_entry_comes_beside_no_stop() {
    let group = |children: Vec<Value>| {
        let orders: Vec<Value> = std::iter::once(buy(ETH, "2000", "1")).chain(children).collect();
        json!({"type": "order", "orders": orders, "grouping": "normalTpsl"})
    };
    let profit = |size: &str| with(stop(ETH, false, "2100", size), "/t/trigger/tpsl", json!("tp"));
    let sl = |px: &str, size: &str| stop(ETH, false, px, size);
    for (children, is_refused) in [
        (vec![profit("0.9999")], true),
        (vec![profit("1")], false),
        (vec![profit("1.5"), sl("1980", "1")], false),
        (vec![profit("0.5"), sl("1980", "1")], true),
        // The only stop is made as large as the entry; one of two is not.
        (vec![profit("1"), sl("1980", "0.5")], false),
        (vec![sl("1990", "0.5"), sl("1980", "1")], true),
    ] {
        let decided = Desk::new(Mode::Testnet, wide()).ask(group(children));
        assert_eq!(decided.code() == "stop_loosened", is_refused, "{}", decided.event);
        assert_eq!(decided.verdict() == "veto", is_refused, "{}", decided.event);
    }
}
