//! A batch whose entries go as groups, one after the other, at a venue that takes its time: none of them expires on the way.

use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::Mode;

/// Half of the life of what is forwarded.
const HALF_MS: u64 = 7_500;

fn batch() -> (Desk, Decided) {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let order = |at: u8| with(buy(ETH, &(1_900 + u32::from(at)).to_string(), "0.1"), "/c", cloid(at));
    let decided = desk.orders((0..4).map(order).collect());
    assert_eq!(decided.resized().actions().len(), 4);
    (desk, decided)
}

fn rests(oid: u64) -> Value {
    json!({"resting": {"oid": oid}})
}

#[test]
fn what_is_left_at_half_its_life_goes_together() {
    let (mut desk, decided) = batch();
    desk.wait(HALF_MS - 1);
    let effects = desk.answer(decided.seq(), 0, statuses(json!([rests(7), "waitingForFill"])));
    assert_eq!((sends(&effects)[0].intent, sends(&effects)[0].index), (decided.seq(), 1), "there is time");
    desk.wait(1);
    let effects = desk.answer(decided.seq(), 1, statuses(json!([rests(9), "waitingForFill"])));
    let intent = events(&effects).into_iter().find(|event| event["kind"] == "intent").unwrap();
    assert_eq!((&intent["of"], &intent["action"]["grouping"]), (&json!(decided.seq()), &json!("na")));
    let ids: Vec<Value> =
        intent["action"]["orders"].as_array().unwrap().iter().map(|order| order["c"].clone()).collect();
    assert_eq!(ids, [cloid(2), cloid(3)]);
    let send = sends(&effects)[0];
    assert_eq!(json!(send.intent), intent["seq"]);
    // They count as before, where they are stopped out too.
    assert_eq!(desk.guard.sent.open().filter(|order| order.stop.is_some()).count(), 4);
    let effects = desk.answer(send.intent, 0, statuses(json!([rests(11), rests(12)])));
    let told = answers(&effects).remove(0);
    assert_eq!(told["response"]["data"]["statuses"], json!([rests(7), rests(9), rests(11), rests(12)]));
    let text = told["guard"]["text"].as_str().unwrap();
    assert!(text.contains("the last 2 stops are placed when their entries fill"), "{text}");
    assert!(!text.contains("stop attached"), "{text}");
}

#[test]
fn the_last_one_keeps_its_stop() {
    let (mut desk, decided) = batch();
    for index in 0..2 {
        desk.answer(decided.seq(), index, statuses(json!([rests(7), "waitingForFill"])));
    }
    desk.wait(HALF_MS);
    let effects = desk.answer(decided.seq(), 2, statuses(json!([rests(11), "waitingForFill"])));
    assert_eq!((sends(&effects)[0].intent, sends(&effects)[0].index), (decided.seq(), 3));
}

#[test]
fn what_a_cancel_named_meanwhile_is_left_out() {
    let (mut desk, decided) = batch();
    desk.ask(json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": cloid(2)}]})).reduces();
    desk.wait(HALF_MS);
    let effects = desk.answer(decided.seq(), 0, statuses(json!([rests(7), "waitingForFill"])));
    let send = sends(&effects)[0].intent;
    let effects = desk.answer(send, 0, statuses(json!([rests(9), rests(11)])));
    let told = answers(&effects).remove(0)["response"]["data"]["statuses"].clone();
    assert!(told[2]["error"].as_str().unwrap().contains("a cancel named it"), "{told}");
    assert_eq!((&told[1], &told[3]), (&rests(9), &rests(11)));
}

/// A client that gives them little time has them go one by one for half of that.
#[test]
fn half_of_a_life_that_a_client_gave_counts() {
    for (waited_ms, sent) in [(0, 1), (1_499, 1), (1_500, 2)] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        let orders = (0..4).map(|at| buy(ETH, &(1_900 + at).to_string(), "0.1")).collect();
        let expires_ms = desk.now + 3_000;
        let request = with(body(&place(orders), desk.now), "/expiresAfter", json!(expires_ms));
        let decided = Decided::of(desk.post_body(request));
        assert_eq!(decided.resized().actions().len(), 4);
        desk.wait(waited_ms);
        let effects = desk.answer(decided.seq(), 0, statuses(json!([rests(7), "waitingForFill"])));
        let is_alone = sends(&effects)[0].intent == decided.seq();
        assert_eq!(if is_alone { 1 } else { 2 }, sent, "after {waited_ms} ms");
    }
}
