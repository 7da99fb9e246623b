//! A venue that fails while an order is on its way: what the client is told, what is on disk, and what stays reserved.

use serde_json::{Value, json};

use crate::signing::{BTC, limit, place, resting};
use crate::stand::{Mode, Stand, until};

/// The value of the order in [`resting`].
const VALUE: &str = "598";

/// A stand whose next order needs nothing else sent first.
fn ready() -> Stand {
    let stand = Stand::up(Mode::Testnet, "");
    let reply = stand.send(&json!({"type": "updateLeverage", "asset": BTC, "isCross": true, "leverage": 5}));
    assert_eq!(reply["status"], "ok");
    stand
}

/// What became of one decision.
struct Told {
    reply: Value,
    sent: Value,
}

/// Sends the order into a fault that lasts.
fn send_into(stand: &Stand, kind: &str, times: u64) -> Told {
    // Whoever settles what became of the order gets no answer either, as long as the fault stands.
    for on in ["order", "noop"] {
        let fault = json!({"op": "fault", "on": on, "kind": kind, "times": times, "ms": 500});
        stand.venue.control(&fault).unwrap();
    }
    outcome_of(stand)
}

/// Sends the order, and gathers what is told of it.
fn outcome_of(stand: &Stand) -> Told {
    let reply = stand.send(&resting());
    assert_eq!(reply["guard"]["verdict"], "resize", "the decision stands: {reply}");
    let seq = &reply["guard"]["seq"];
    let sent = until("the sent event", || stand.events_of("sent").into_iter().find(|event| event["decision"] == *seq));
    until("the done event", || stand.events_of("done").into_iter().find(|event| event["intent"] == *seq));
    assert_eq!((&sent["index"], &sent["nonce"]), (&json!(0), &stand.event(seq)["nonces"][0]));
    Told { reply, sent }
}

fn is_in_doubt(told: &Told) {
    assert_eq!((&told.reply["status"], &told.sent["ok"]), (&json!("err"), &json!(false)));
    let text = told.reply["response"].as_str().unwrap();
    assert!(text.starts_with("svc-guard: ") && text.contains("may have acted on it"), "{text}");
    let reply = told.sent["reply"].as_object().unwrap();
    assert!(reply.len() == 1 && reply["error"].as_str().is_some_and(|text| !text.is_empty()), "{reply:?}");
}

fn orders_at_the_venue(stand: &Stand) -> usize {
    stand.venue.truth()["orders"].as_array().unwrap().iter().filter(|order| order["isTrigger"] == false).count()
}

fn exposure(stand: &Stand) -> Value {
    stand.status()["risk"]["exposure"].clone()
}

/// The orders are read again and again, and show nothing: that proves nothing.
fn reads_go_by(stand: &Stand) {
    let reads = || stand.venue.truth()["reads"]["frontendOpenOrders"].as_u64().unwrap();
    let before = reads();
    until("more reads of the open orders", || (reads() >= before + 2).then_some(()));
}

#[test]
fn no_answer_and_nothing_done_stays_reserved() {
    for kind in ["drop_before", "http_502"] {
        let stand = ready();
        let told = send_into(&stand, kind, 1_000);
        is_in_doubt(&told);
        assert_eq!(orders_at_the_venue(&stand), 0);
        reads_go_by(&stand);
        assert_eq!(exposure(&stand), VALUE, "{kind}");
        let placed = stand.venue_saw().into_iter().filter(|request| request["type"] == "order").count();
        assert_eq!(placed, 1, "never sent again blindly");
        assert!(stand.events_of("recovered").is_empty(), "no answer proves nothing");
    }
}

/// How the order's end was found out: one event, on the decision's first action, with the venue's answers.
fn recovered(stand: &Stand, told: &Told, outcome: &str) {
    let event = until("the recovered event", || stand.events_of("recovered").pop());
    let seq = &told.reply["guard"]["seq"];
    assert_eq!((&event["intent"], &event["index"], &event["outcome"]), (seq, &json!(0), &json!(outcome)));
    assert_eq!(event["action"], stand.event(seq)["forward"]);
    let evidence = event["evidence"].as_array().unwrap();
    assert!(!evidence.is_empty() && evidence.iter().all(|one| one["request"].is_object()), "{event}");
    let intent = stand.events_of("intent").pop().unwrap();
    assert_eq!((&intent["of"], &intent["action"]), (seq, &json!({"type": "noop"})));
    assert!(intent["seq"].as_u64() < event["seq"].as_u64());
}

#[test]
fn what_did_not_happen_is_settled_and_freed() {
    for kind in ["drop_before", "http_502"] {
        let stand = ready();
        stand.venue.fault("order", kind, 1).unwrap();
        let told = outcome_of(&stand);
        is_in_doubt(&told);
        recovered(&stand, &told, "did_not_happen");
        until("the exposure to be free", || (exposure(&stand) == "0").then_some(()));
        assert_eq!(orders_at_the_venue(&stand), 0);
    }
}

#[test]
fn no_answer_but_done_is_found_and_counted_once() {
    for kind in ["apply_then_drop", "garbage"] {
        let stand = ready();
        stand.venue.fault("order", kind, 1).unwrap();
        let told = outcome_of(&stand);
        is_in_doubt(&told);
        recovered(&stand, &told, "happened");
        assert_eq!(orders_at_the_venue(&stand), 1);
        let seen = |stand: &Stand| {
            let status = stand.status();
            let orders = status["open_orders"].as_array().unwrap();
            orders.iter().find(|order| order["owner"] == "bot" && order["side"] == "buy").cloned()
        };
        until("the order to be seen", || seen(&stand));
        until("it to count once", || (exposure(&stand) == VALUE).then_some(()));
        let placed = stand.venue_saw().into_iter().filter(|request| request["type"] == "order").count();
        assert_eq!(placed, 1, "{kind}: never sent again");
    }
}

#[test]
fn a_refusal_is_an_answer() {
    let stand = ready();
    stand
        .venue
        .control(&json!({"op": "fault", "on": "order", "kind": "error", "times": 1, "text": "Not enough margin."}))
        .unwrap();
    let reply = stand.send(&resting());
    assert_eq!(reply["response"]["data"]["statuses"][0]["error"], "Not enough margin.", "{reply}");
    until("the exposure to be free", || (exposure(&stand) == "0").then_some(()));
    assert_eq!(orders_at_the_venue(&stand), 0);
}

#[test]
fn a_late_answer_is_an_answer() {
    let stand = ready();
    let told = send_into(&stand, "delay", 1);
    assert_eq!((&told.reply["status"], &told.sent["ok"]), (&json!("ok"), &json!(true)));
    assert!(told.reply["response"]["data"]["statuses"][0]["resting"]["oid"].is_u64(), "{}", told.reply);
    assert_eq!(exposure(&stand), VALUE);
}

/// Where what must go first fails, the order never goes.
#[test]
fn a_failed_pre_stops_the_rest() {
    let stand = Stand::up(Mode::Testnet, "");
    let text = "Cannot decrease leverage with open positions.";
    stand
        .venue
        .control(&json!({"op": "fault", "on": "updateLeverage", "kind": "error", "times": 1, "text": text}))
        .unwrap();
    let reply = stand.send(&resting());
    assert_eq!(reply["status"], "err");
    assert!(reply["response"].as_str().unwrap().contains(text), "{reply}");
    let seq = &reply["guard"]["seq"];
    until("the done event", || stand.events_of("done").into_iter().find(|event| event["intent"] == *seq));
    let sent: Vec<Value> = stand.events_of("sent");
    assert_eq!(sent.len(), 1);
    assert_eq!((&sent[0]["index"], &sent[0]["ok"]), (&json!(0), &json!(false)));
    assert_eq!(exposure(&stand), "0");
    assert_eq!(orders_at_the_venue(&stand), 0);
}

/// A venue that is not there, or turns requests away unread: nothing is reserved, and nothing counts as sent.
#[test]
fn what_was_not_taken_in_is_not_sent() {
    let mut stand = ready();
    stand.venue.fault("order", "http_429", 1).unwrap();
    is_not_sent(&stand, &resting(), "429: too many requests from this address; where several guards or bots share");
    assert_eq!(orders_at_the_venue(&stand), 0);
    stand.venue_gone();
    is_not_sent(&stand, &place(&limit(BTC, true, "59700", "0.01")), "");
}

fn is_not_sent(stand: &Stand, order: &Value, why: &str) {
    let reply = stand.send(order);
    assert_eq!(reply["status"], "err", "{reply}");
    assert!(reply["response"].as_str().unwrap().contains("nothing was sent"), "{reply}");
    assert!(reply["response"].as_str().unwrap().contains(why), "{reply}");
    let seq = &reply["guard"]["seq"];
    until("the done event", || stand.events_of("done").into_iter().find(|event| event["intent"] == *seq));
    assert!(stand.events_of("sent").iter().all(|event| event["decision"] != *seq));
    let told = format!("of intent {seq} was not sent");
    assert!(stand.events_of("error").iter().any(|event| event["text"].as_str().unwrap().contains(&told)), "{told}");
    assert_eq!(exposure(stand), "0");
}
