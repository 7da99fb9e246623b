//! The flow of a live decision: disk first, then its actions one after the other, then the client's own reply.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::base::address::Address;
use crate::guard::{Command, Effects, Input, Mode, Read, SendOutcome, Urgency};
use crate::venue::info::{Leverage, MarginMode};

fn desk() -> Desk {
    Desk::new(Mode::Testnet, wide())
}

fn kinds(effects: &Effects) -> Vec<String> {
    events(effects).iter().map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
}

/// An order that needs a leverage update first.
fn with_pre() -> (Desk, Decided) {
    let mut desk = desk();
    desk.leverage(ETH, Some(Leverage { mode: MarginMode::Cross, value: 20 }));
    let decided = desk.order(buy(ETH, "2000", "1"));
    (desk, decided)
}

fn accepted() -> Value {
    statuses(json!([{"resting": {"oid": 1, "cloid": "0x73766367726400000000000000000001"}}, "waitingForFill"]))
}

#[test]
fn the_decision_is_on_disk_before_the_first_action_goes() {
    let decided = desk().order(buy(ETH, "2000", "1"));
    assert!(decided.effects.immediate.is_empty());
    let [Command::Send(send)] = &decided.effects.after_commit[..] else { panic!("{:?}", decided.effects) };
    assert_eq!((send.intent, send.index, send.batch_len, send.urgency), (decided.seq(), 0, 2, Urgency::Entry));
    assert_eq!(&json_of(&send.action), decided.forward());
    assert_eq!(json!([send.terms.nonce]), decided.event["nonces"]);
}

#[test]
fn exits_are_marked_for_the_ledger() {
    let mut desk = desk();
    desk.hold("ETH", dec!(-1));
    desk.show(vec![open("ETH", "B", "1900", "1", 1)]);
    let decided = desk.order(close(ETH, true, "2000", "1"));
    assert_eq!(sends(&decided.effects)[0].urgency, Urgency::Exit);
    let decided = desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 1}]}));
    assert_eq!(sends(&decided.effects)[0].urgency, Urgency::Exit);
}

#[test]
fn each_action_goes_when_the_one_before_was_answered() {
    let (mut desk, decided) = with_pre();
    let pre = sends(&decided.effects)[0];
    assert_eq!((pre.index, json_of(&pre.action)["type"].clone()), (0, json!("updateLeverage")));
    desk.now += 50;
    let effects = desk.answer(decided.seq(), 0, done());
    assert_eq!(kinds(&effects), ["sent"]);
    assert!(effects.after_commit.is_empty() && answers(&effects).is_empty());
    let forward = sends(&effects)[0];
    assert_eq!((forward.index, &json_of(&forward.action)), (1, decided.forward()));
    let effects = desk.answer(decided.seq(), 1, accepted());
    assert_eq!(kinds(&effects), ["sent", "done"]);
    assert!(sends(&effects).is_empty());
    assert_eq!(answers(&effects).len(), 1);
    assert!(desk.guard.is_idle());
}

#[test]
fn sent_and_done_tell_what_they_serve() {
    let (mut desk, decided) = with_pre();
    let effects = desk.answer(decided.seq(), 0, done());
    let mut event = events(&effects).remove(0);
    let nonces = &decided.event["nonces"];
    let tail = json!({"kind": "sent", "decision": decided.seq(), "index": 0, "nonce": nonces[0], "ok": true,
        "reply": done(), "seq": decided.seq() + 1, "at_ms": NOW});
    assert_eq!(event.take(), tail);
    assert_eq!(effects.records[0].keys.serves, Some(decided.seq()));
    let refusal = json!({"status": "err", "response": "no"});
    let effects = desk.answer(decided.seq(), 1, refusal.clone());
    let told = events(&effects);
    assert_eq!((&told[0]["index"], &told[0]["nonce"]), (&json!(1), &nonces[1]));
    assert_eq!((&told[0]["ok"], &told[0]["reply"]), (&json!(false), &refusal));
    assert_eq!(told[1], json!({"seq": decided.seq() + 3, "at_ms": NOW, "kind": "done", "intent": decided.seq()}));
    assert_eq!(effects.records[1].keys.serves, Some(decided.seq()));
}

#[test]
fn a_refused_pre_stops_the_rest() {
    let (mut desk, decided) = with_pre();
    let effects = desk.answer(decided.seq(), 0, json!({"status": "err", "response": "no leverage"}));
    assert_eq!(kinds(&effects), ["sent", "done"]);
    assert!(sends(&effects).is_empty());
    let reply = answers(&effects).remove(0);
    assert_eq!(reply["status"], "err");
    assert!(reply["response"].as_str().unwrap().contains("no leverage"), "{reply}");
    assert_eq!(reply["guard"]["seq"], decided.seq());
    assert_eq!(desk.guard.status_json(desk.now, (0, 0))["risk"]["exposure"], "0");
}

#[test]
fn an_unanswered_pre_stops_the_rest() {
    let (mut desk, decided) = with_pre();
    let outcome = SendOutcome::NoAnswer("time-out".into());
    let effects = desk.step(Input::Sent { intent: decided.seq(), index: 0, outcome });
    assert_eq!(kinds(&effects), ["sent", "done"]);
    assert!(sends(&effects).is_empty());
    // The order itself never went.
    assert_eq!(desk.guard.status_json(desk.now, (0, 0))["risk"]["exposure"], "0");
}

#[test]
fn the_posts_go_one_after_the_other_for_what_was_accepted() {
    let mut desk = desk();
    let orders = [buy(ETH, "2000", "1"), buy(SOL, "100", "1"), buy(BTC, "60000", "0.01"), sell(ISO, "0.5", "100")];
    let orders = orders.into_iter().map(|order| with(order, "/t/limit/tif", json!("Ioc"))).collect();
    let decided = desk.orders(orders);
    assert_eq!(decided.event["post"].as_array().unwrap().len(), 4);
    let reply = statuses(json!([
        {"filled": {"totalSz": "1.0", "avgPx": "2000.0", "oid": 1}},
        {"error": "Insufficient margin"},
        {"filled": {"totalSz": "0.01", "avgPx": "60000.0", "oid": 2}},
        {"resting": {"oid": 3}}
    ]));
    let mut effects = desk.answer(decided.seq(), 0, reply);
    assert_eq!(answers(&effects).len(), 1);
    for index in [1, 3, 4] {
        let went = sends(&effects);
        assert_eq!(went.iter().map(|send| send.index).collect::<Vec<_>>(), [index]);
        effects = desk.answer(decided.seq(), index, statuses(json!([{"resting": {"oid": 9}}])));
    }
    assert!(sends(&effects).is_empty());
    assert_eq!(kinds(&effects), ["sent", "done"]);
}

#[test]
fn a_refused_post_does_not_stop_the_next() {
    let mut desk = desk();
    let ioc = |order: Value| with(order, "/t/limit/tif", json!("Ioc"));
    let decided = desk.orders(vec![ioc(buy(ETH, "2000", "1")), ioc(buy(SOL, "100", "1"))]);
    desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 1}}, {"resting": {"oid": 2}}])));
    let effects =
        desk.answer(decided.seq(), 1, statuses(json!([{"error": "Reduce only order would increase position."}])));
    assert_eq!(sends(&effects)[0].index, 2);
}

#[test]
fn after_a_send_orders_and_account_are_read() {
    let (mut desk, decided) = with_pre();
    let effects = desk.answer(decided.seq(), 0, done());
    assert_eq!(reads(&effects), [&Read::Orders, &Read::Account]);
}

#[test]
fn the_client_sees_its_own_orders_only() {
    let mut desk = desk();
    let decided = desk.order(buy(ETH, "2000", "1"));
    let reply = answers(&desk.answer(decided.seq(), 0, accepted())).remove(0);
    assert_eq!(reply["status"], "ok");
    assert_eq!(reply["response"]["data"]["statuses"], json!([{"resting": {"oid": 1}}]));
    assert_eq!(reply["guard"]["seq"], decided.seq());
    assert_eq!(reply["guard"]["verdict"], "resize");
    assert!(reply["guard"].get("paper").is_none());
}

#[test]
fn the_clients_own_id_is_kept_and_shown() {
    let mut desk = desk();
    let orders = vec![with(buy(ETH, "2000", "1"), "/c", cloid(1)), stop(ETH, false, "1960", "1")];
    let decided = desk.orders(orders);
    assert_eq!(decided.sent_order(0)["c"], cloid(1));
    let derived = decided.sent_order(1)["c"].clone();
    assert!(derived.as_str().unwrap().starts_with("0x73766367726400"), "a client's order, not the guard's: {derived}");
    let answer =
        statuses(json!([{"resting": {"oid": 1, "cloid": cloid(1)}}, {"resting": {"oid": 2, "cloid": derived}}]));
    let reply = answers(&desk.answer(decided.seq(), 0, answer)).remove(0);
    let wanted = json!([{"resting": {"oid": 1, "cloid": cloid(1)}}, {"resting": {"oid": 2}}]);
    assert_eq!(reply["response"]["data"]["statuses"], wanted);
}

#[test]
fn a_refusal_of_the_venue_reaches_the_client_as_it_is() {
    let mut desk = desk();
    let decided = desk.order(buy(ETH, "2000", "1"));
    let reply = answers(&desk.answer(decided.seq(), 0, json!({"status": "err", "response": "Action already expired"})));
    assert_eq!((&reply[0]["status"], &reply[0]["response"]), (&json!("err"), &json!("Action already expired")));
}

#[test]
fn no_answer_is_an_error_that_says_so() {
    let mut desk = desk();
    let decided = desk.order(buy(ETH, "2000", "1"));
    let outcome = SendOutcome::NoAnswer("time-out".into());
    let effects = desk.step(Input::Sent { intent: decided.seq(), index: 0, outcome });
    assert_eq!(kinds(&effects), ["sent", "done"]);
    let told = &events(&effects)[0];
    assert_eq!((&told["ok"], &told["reply"]), (&json!(false), &json!({"error": "time-out"})));
    let reply = answers(&effects).remove(0);
    assert_eq!(reply["status"], "err");
    assert!(reply["response"].as_str().unwrap().contains("may have acted"), "{reply}");
}

#[test]
fn what_was_not_sent_has_no_sent_event() {
    let mut desk = desk();
    let decided = desk.order(buy(ETH, "2000", "1"));
    let outcome = SendOutcome::NotSent("connection refused".into());
    let effects = desk.step(Input::Sent { intent: decided.seq(), index: 0, outcome });
    assert_eq!(kinds(&effects), ["error", "done"]);
    let reply = answers(&effects).remove(0);
    assert!(reply["response"].as_str().unwrap().contains("connection refused"), "{reply}");
}

#[test]
fn nothing_lands_late() {
    let body = |expires: Option<u64>| {
        let body = json!({"action": {"type": "noop"}, "nonce": NOW, "signature": {"r": "0x1", "s": "0x1", "v": 27}});
        expires.map_or(body.clone(), |expires| with(body, "/expiresAfter", json!(expires)))
    };
    for (asked, sent) in [(None, NOW + 15_000), (Some(NOW + 20_000), NOW + 15_000), (Some(NOW + 3), NOW + 3)] {
        let decided = Decided::of(desk().post_body(body(asked)));
        assert_eq!(sends(&decided.effects)[0].terms.expires_after_ms, Some(sent));
    }
    // The guard's own actions carry none.
    let (_, decided) = with_pre();
    assert_eq!(sends(&decided.effects)[0].terms.expires_after_ms, None);
}

#[test]
fn nonces_increase_over_actions_and_decisions() {
    let mut desk = desk();
    desk.leverage(ETH, Some(Leverage { mode: MarginMode::Cross, value: 20 }));
    let mut last = 0;
    for px in ["2000", "1999", "1998"] {
        let decided = desk.order(buy(ETH, px, "1"));
        let nonces: Vec<u64> = serde_json::from_value(decided.event["nonces"].clone()).unwrap();
        assert_eq!(nonces.len(), 2);
        for nonce in nonces {
            assert!(nonce > last);
            last = nonce;
        }
    }
    assert!(last >= NOW);
}

#[test]
fn what_is_sent_names_the_sub_account() {
    for vault in [None, Some(ACCOUNT)] {
        let mut desk = desk();
        desk.step(Input::ActsFor(vault));
        desk.hold("ETH", dec!(-1));
        let decided = desk.order(close(ETH, true, "2000", "1"));
        assert_eq!(sends(&decided.effects)[0].terms.vault, vault);
    }
    let mut desk = Desk::blank(config(Mode::Testnet, wide()));
    desk.guard = crate::guard::Guard::new(config(Mode::Testnet, wide()), 0);
    desk.order(close(ETH, true, "2000", "1")).vetoed("starting");
}

#[test]
fn a_builder_is_kept() {
    let mut desk = desk();
    desk.hold("ETH", dec!(-1));
    let builder = json!({"b": Address([0xb0; 20]), "f": 10});
    let action =
        json!({"type": "order", "orders": [close(ETH, true, "2000", "1")], "grouping": "na", "builder": builder});
    assert_eq!(desk.ask(action).reduces().forward()["builder"], builder);
}

#[test]
fn a_position_change_asks_for_the_orders() {
    let mut desk = desk();
    assert!(reads(&desk.read_account(NOW)).is_empty());
    desk.positions.insert("ETH", dec!(1));
    desk.now += 1;
    assert_eq!(reads(&desk.read_account(NOW + 1)), [&Read::OrdersNow]);
}

#[test]
fn an_order_stands_in_the_status_from_its_acceptance_on_and_once() {
    let mut desk = Desk::live();
    let decided = desk.order(buy(ETH, "1990", "0.1"));
    let forward = decided.event["pre"].as_array().unwrap().len();
    desk.answer(decided.seq(), forward, statuses(json!([{"resting": {"oid": 7}}, "waitingForFill"])));
    let shown = |desk: &Desk| -> Vec<u64> {
        let status = desk.guard.status_json(desk.now, (0, 0));
        status["open_orders"].as_array().unwrap().iter().map(|order| order["oid"].as_u64().unwrap()).collect()
    };
    assert_eq!(shown(&desk), [7]);
    desk.now += 10;
    desk.show(vec![open("ETH", "B", "1990", "0.1", 7)]);
    assert_eq!(shown(&desk), [7]);
    desk.now += 10;
    desk.show(vec![]);
    assert_eq!(shown(&desk), [0_u64; 0]);
}
