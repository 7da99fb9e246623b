//! Recovery at a restart: everything that may have gone out, told apart by order and nonce.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Command, Config, Effects, Guard, Input, Mode, Read, SendOutcome};
use crate::venue::info::{Leverage, MarginMode};
use crate::venue::signing::Source;

fn kind(effects: &Effects, kind: &str) -> Vec<Value> {
    events(effects).into_iter().filter(|event| event["kind"] == kind).collect()
}

/// A guard of the next life, from the events of the last and, where there is one, a checkpoint before them.
fn reborn(desk: &Desk, checkpoint: Option<&Value>, journal: &[Value]) -> Guard {
    let seq = |record: &Value| record["seq"].as_u64().unwrap();
    let mut guard = Guard::new(desk.guard.config.clone(), journal.last().or(checkpoint).map_or(0, seq));
    checkpoint.into_iter().for_each(|record| guard.restore_checkpoint_json(record));
    journal.iter().for_each(|event| guard.restore_json(event));
    guard
}

/// What the next life asks its venue at once, by intent and place: noops' nonces.
fn burnt(effects: &Effects) -> Vec<Value> {
    kind(effects, "intent").iter().map(|intent| intent["nonces"][0].clone()).collect()
}

fn doubts(guard: &Guard) -> Vec<(u64, usize)> {
    guard.doubts.keys().copied().collect()
}

/// The answer to the first action was on its way to disk when the second had gone out already.
#[test]
fn whatever_may_have_gone_out_is_in_doubt() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.leverage(ETH, Some(Leverage { mode: MarginMode::Cross, value: 20 }));
    let decided = desk.order(buy(ETH, "2000", "1"));
    let mut guard = reborn(&desk, None, std::slice::from_ref(&decided.event));
    assert!(kind(&guard.start(desk.now), "done").is_empty());
    assert_eq!(doubts(&guard), [(decided.seq(), 0), (decided.seq(), 1)]);
    assert_eq!(guard.sent.orders.len(), 1, "the entry is reserved");
    guard.step(Input::ActsFor(None), desk.now);
    assert_eq!(json!(burnt(&guard.step(Input::Tick, desk.now))), decided.event["nonces"]);
}

#[test]
fn a_noop_without_an_answer_ends_too() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let decided = desk.ask(json!({"type": "noop"}));
    let mut guard = reborn(&desk, None, std::slice::from_ref(&decided.event));
    let effects = guard.start(desk.now);
    let recovered = kind(&effects, "recovered").pop().unwrap();
    assert_eq!((&recovered["intent"], &recovered["outcome"]), (&json!(decided.seq()), &json!("moot")));
    assert_eq!(kind(&effects, "done")[0]["intent"], decided.seq());
}

fn unanswered(desk: &mut Desk, intent: u64, index: usize) -> Effects {
    let outcome = SendOutcome::NoAnswer("cut".to_owned());
    desk.step(Input::Sent { intent, index, outcome })
}

#[test]
fn a_checkpoint_keeps_what_is_being_sent_apart_from_what_is_in_doubt() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    // Two stops of one event: the first without an answer, the second on its way.
    desk.positions.insert("ETH", dec!(1));
    desk.positions.insert("SOL", dec!(-10));
    desk.now += 10;
    desk.read_account(desk.now);
    desk.now += 10;
    let protect = kind(&desk.read_orders(desk.now), "protect").pop().unwrap();
    let seq = protect["seq"].as_u64().unwrap();
    unanswered(&mut desk, seq, 0);
    let checkpoint: Value = serde_json::from_str(&desk.guard.checkpoint(desk.now)).unwrap();
    let mut guard = reborn(&desk, Some(&checkpoint), &[]);
    guard.start(desk.now);
    assert_eq!(doubts(&guard), [(seq, 0), (seq, 1)]);
    // Both without an answer, and the event done.
    unanswered(&mut desk, seq, 1);
    let checkpoint: Value = serde_json::from_str(&desk.guard.checkpoint(desk.now)).unwrap();
    let mut guard = reborn(&desk, Some(&checkpoint), &[]);
    let effects = guard.start(desk.now);
    assert_eq!(doubts(&guard), [(seq, 0), (seq, 1)]);
    assert!(kind(&effects, "done").is_empty(), "it was told before");
}

/// An entry in doubt whose noop showed that it reached the venue.
fn reached(action: Value) -> (Desk, Decided) {
    let mut desk = Desk::new(Mode::Testnet, wide());
    // It may have filled: then there is something to reduce.
    desk.show(vec![open("ETH", "A", "2500", "1", 99)]);
    let decided = desk.ask(action);
    unanswered(&mut desk, decided.seq(), 0);
    let noop = kind(&desk.step(Input::Tick), "intent").pop().unwrap();
    let text = format!("Invalid nonce: duplicate nonce {}", noop["nonces"][0]);
    desk.answer(noop["seq"].as_u64().unwrap(), 0, json!({"status": "err", "response": text}));
    (desk, decided)
}

/// The venue's status of the order in `place` of what was forwarded.
fn shown(order: &Value, status: &str) -> Value {
    let side = if order["b"] == true { "B" } else { "A" };
    let shown = json!({"side": side, "limitPx": order["p"], "origSz": order["s"], "reduceOnly": order["r"]});
    json!({"status": "order", "order": {"order": shown, "status": status}})
}

fn status(desk: &mut Desk, decided: &Decided, order: &Value, answer: Value) -> Option<Value> {
    let cloid = order["c"].as_str().unwrap().parse().unwrap();
    let answer = Some(answer);
    let effects = desk.step(Input::OrderStatus { intent: decided.seq(), index: 0, cloid, answer });
    kind(&effects, "recovered").pop().map(|event| event["outcome"].clone())
}

/// Exits go out as the one batch that they were asked as.
fn exits(count: u32) -> Value {
    place((0..count).map(|n| close(ETH, true, &format!("{}", 1900 + n), "0.1")).collect())
}

#[test]
fn a_batch_happened_if_any_order_of_it_did() {
    let (mut desk, decided) = reached(exits(2));
    let orders = decided.forward()["orders"].as_array().unwrap().clone();
    assert_eq!(orders.len(), 2);
    for _ in 0..5 {
        assert_eq!(status(&mut desk, &decided, &orders[0], json!({"status": "unknownOid"})), None);
    }
    assert_eq!(status(&mut desk, &decided, &orders[1], shown(&orders[1], "open")), Some(json!("happened")));
}

/// One question is at the venue at a time; the next one follows as soon as it is answered.
#[test]
fn every_order_of_a_batch_is_asked_for() {
    let (mut desk, decided) = reached(exits(6));
    let orders = decided.forward()["orders"].as_array().unwrap().clone();
    desk.now += 1_000;
    let mut asked = std::collections::BTreeSet::new();
    for _ in &orders {
        let effects = desk.step(Input::Tick);
        let questions: Vec<_> = reads(&effects)
            .into_iter()
            .filter_map(|read| match read {
                Read::OrderStatus { cloid, .. } => Some(cloid.to_string()),
                _ => None,
            })
            .collect();
        assert_eq!(questions.len(), 1);
        let order = orders.iter().find(|order| order["c"] == questions[0]).unwrap();
        assert_eq!(status(&mut desk, &decided, order, json!({"status": "unknownOid"})), None);
        asked.extend(questions);
    }
    assert_eq!(asked.len(), 6);
}

#[test]
fn a_record_of_a_refusal_is_no_happening() {
    let (mut desk, decided) = reached(place(vec![close(ETH, true, "2000", "1")]));
    let order = decided.sent_order(0).clone();
    let outcome = status(&mut desk, &decided, &order, shown(&order, "reduceOnlyRejected"));
    assert_eq!(outcome, Some(json!("did_not_happen")));
    // A stop that fired in vain was taken.
    let (mut desk, decided) = reached(place(vec![stop(ETH, false, "1900", "1")]));
    let order = decided.sent_order(0).clone();
    let outcome = status(&mut desk, &decided, &order, shown(&order, "marketOrderNoLiquidityRejected"));
    assert_eq!(outcome, Some(json!("happened")));
}

/// A modify may keep the id of the order that it replaces: what is shown under it may be the old one.
#[test]
fn the_old_order_under_the_same_id_proves_no_modify() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let mut resting = open("ETH", "B", "1950", "1", 7);
    resting.cloid = Some(cloid(9).as_str().unwrap().parse().unwrap());
    desk.show(vec![resting]);
    let changed = with(buy(ETH, "1960", "1"), "/c", cloid(9));
    let decided = desk.ask(json!({"type": "modify", "oid": 7, "order": changed.clone()}));
    assert_ne!(decided.verdict(), "veto", "{}", decided.event);
    unanswered(&mut desk, decided.seq(), 0);
    let noop = kind(&desk.step(Input::Tick), "intent").pop().unwrap();
    let text = format!("Invalid nonce: duplicate nonce {}", noop["nonces"][0]);
    desk.answer(noop["seq"].as_u64().unwrap(), 0, json!({"status": "err", "response": text}));
    let old = with(changed.clone(), "/p", json!("1950"));
    for _ in 0..3 {
        assert_eq!(status(&mut desk, &decided, &changed, shown(&old, "open")), None);
    }
    desk.now += 30_000;
    assert_eq!(status(&mut desk, &decided, &changed, shown(&old, "open")), None, "that may be from before");
    // What neither rests nor filled did not happen, whichever of the two it was.
    let effects = desk.step(Input::Tick);
    let [cancel] = &sends(&effects)[..] else { panic!("{effects:?}") };
    let gone = statuses(json!([{"error": "Order was never placed, already canceled, or filled."}]));
    desk.answer(cancel.intent, 0, gone);
    desk.now += 1_000;
    desk.read();
    assert_eq!(status(&mut desk, &decided, &changed, shown(&old, "open")), Some(json!("did_not_happen")));
}

#[test]
fn what_a_noop_proved_is_known_to_the_next_life() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    // It may have filled.
    desk.show(vec![open("ETH", "A", "2500", "1", 99)]);
    let decided = desk.order(close(ETH, true, "2000", "1"));
    let mut journal = vec![decided.event.clone()];
    journal.extend(events(&unanswered(&mut desk, decided.seq(), 0)));
    journal.extend(events(&desk.step(Input::Tick)));
    let noop = journal.last().unwrap().clone();
    assert_eq!(noop["action"], json!({"type": "noop"}));
    let text = format!("Invalid nonce: duplicate nonce {}", noop["nonces"][0]);
    let reply = json!({"status": "err", "response": text});
    journal.extend(events(&desk.answer(noop["seq"].as_u64().unwrap(), 0, reply)));
    let checkpoint: Value = serde_json::from_str(&desk.guard.checkpoint(desk.now)).unwrap();
    for mut guard in [reborn(&desk, None, &journal), reborn(&desk, Some(&checkpoint), &[])] {
        guard.start(desk.now);
        let cloid = decided.sent_order(0)["c"].as_str().unwrap().parse().unwrap();
        let mut told = Vec::new();
        for later_ms in [0, 0, 30_000] {
            let answer = Some(json!({"status": "unknownOid"}));
            let input = Input::OrderStatus { intent: decided.seq(), index: 0, cloid, answer };
            told.extend(kind(&guard.step(input, desk.now + later_ms), "recovered"));
        }
        assert_eq!(told.pop().expect("settled")["outcome"], "did_not_happen");
    }
}

fn proves_nothing() -> Value {
    json!({"status": "err", "response": "Invalid nonce: nonce too low 5 < 7"})
}

/// An empty view says nothing about the orders that a cancel named.
#[test]
fn a_cancel_is_not_settled_before_the_orders_are_read() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![open("ETH", "B", "1950", "1", 7)]);
    let decided = desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}]}));
    let mut journal = vec![decided.event.clone()];
    journal.extend(events(&unanswered(&mut desk, decided.seq(), 0)));
    journal.extend(events(&desk.step(Input::Tick)));
    let mut guard = reborn(&desk, None, &journal);
    guard.start(desk.now);
    guard.step(Input::Universe(universe()), desk.now);
    guard.step(Input::ActsFor(None), desk.now);
    let noop = kind(&guard.step(Input::Tick, desk.now), "intent").pop().unwrap();
    let (intent, outcome) = (noop["seq"].as_u64().unwrap(), SendOutcome::Answered(proves_nothing()));
    guard.step(Input::Sent { intent, index: 0, outcome }, desk.now);
    desk.now += 1_000;
    assert!(kind(&guard.step(Input::Tick, desk.now), "recovered").is_empty());
    let orders = vec![open("ETH", "B", "1950", "1", 7)];
    guard.step(Input::Orders { orders, begun_ms: desk.now }, desk.now);
    desk.now += 1_000;
    assert!(kind(&guard.step(Input::Tick, desk.now), "recovered").is_empty(), "it may still be on its way");
    guard.step(Input::Orders { orders: Vec::new(), begun_ms: desk.now }, desk.now);
    desk.now += 1_000;
    let told = kind(&guard.step(Input::Tick, desk.now), "recovered");
    assert_eq!(told[0]["outcome"], "moot", "it may have filled as well");
}

#[test]
fn a_cancel_that_is_past_and_shows_no_effect_did_not_happen() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![open("ETH", "B", "1950", "1", 7)]);
    let decided = desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}]}));
    unanswered(&mut desk, decided.seq(), 0);
    let noop = kind(&desk.step(Input::Tick), "intent").pop().unwrap();
    desk.answer(noop["seq"].as_u64().unwrap(), 0, proves_nothing());
    desk.now += 5_000;
    desk.read();
    assert!(kind(&desk.step(Input::Tick), "recovered").is_empty());
    for _ in 0..9 {
        // The machine's clock alone proves nothing.
        desk.now += 9_000;
        desk.read();
    }
    let told = kind(&desk.step(Input::Tick), "recovered");
    assert_eq!(told[0]["outcome"], "did_not_happen");
}

#[test]
fn a_veto_for_the_network_burns_the_nonce_over_a_restart_too() {
    let config = Config { require_network: true, ..config(Mode::Testnet, wide()) };
    let mut desk = Desk::of(config);
    let body = |nonce: u64| json!({"action": {"type": "noop"}, "nonce": nonce, "signature": {"r": "0x1", "s": "0x1", "v": 27}});
    let far = NOW + 3 * 86_400_000;
    let vetoes: Vec<Decided> =
        [NOW + 7, far].map(|nonce| Decided::of(desk.post_signed(body(nonce), Source::Mainnet))).into();
    for veto in &vetoes {
        veto.vetoed("wrong_network");
    }
    Decided::of(desk.post_signed(body(NOW + 7), Source::Testnet)).vetoed("nonce_reused");
    let journal: Vec<Value> = vetoes.into_iter().map(|veto| veto.event).collect();
    desk.guard = reborn(&desk, None, &journal);
    desk.guard.step(Input::ActsFor(None), desk.now);
    desk.guard.step(Input::RequestsLeft(PLENTY), desk.now);
    Decided::of(desk.post_signed(body(NOW + 7), Source::Testnet)).vetoed("nonce_reused");
    // What was out of the window binds nothing.
    Decided::of(desk.post_signed(body(NOW + 8), Source::Testnet)).allowed();
}

/// The venue may be away when the service comes back: exits must not wait for it.
#[test]
fn whom_actions_are_for_is_known_to_the_next_life() {
    for vault in [None, Some(ACCOUNT)] {
        let mut desk = Desk::blank(config(Mode::Testnet, wide()));
        desk.guard = Guard::new(config(Mode::Testnet, wide()), 0);
        let effects = desk.step(Input::ActsFor(vault));
        let records: Vec<Value> =
            effects.risk.iter().map(|record| serde_json::from_str(&record.text).unwrap()).collect();
        assert_eq!(records.len(), 1);
        assert!(desk.step(Input::ActsFor(vault)).risk.is_empty(), "once");
        desk.guard = Guard::new(config(Mode::Testnet, wide()), 0);
        records.iter().for_each(|record| desk.guard.restore_risk_json(record));
        desk.guard.start(desk.now);
        let decided = desk.order(close(ETH, true, "2000", "1"));
        assert_eq!(sends(&decided.effects)[0].terms.vault, vault, "{}", decided.event);
    }
}

#[test]
fn nonces_and_expiries_are_of_the_venues_time() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    // The machine is two hours ahead, and is set right while the service is away.
    let right = desk.now;
    desk.now += 7_200_000;
    let (equity, begun_ms) = (desk.equity, desk.now);
    let state = desk.state(right + 1);
    desk.step(Input::Account { state, equity, begun_ms });
    desk.read_mids(begun_ms);
    desk.read_orders(begun_ms);
    desk.leverage(ETH, Some(Leverage { mode: MarginMode::Cross, value: 5 }));
    let decided = desk.order(buy(ETH, "2000", "1"));
    let terms = sends(&decided.effects)[0].terms;
    assert!(terms.nonce >= right && terms.nonce <= right + 60_000, "{}", terms.nonce - right);
    let life = terms.expires_after_ms.unwrap() - right;
    assert!((15_000..=20_000).contains(&life), "{life}");
    // An exit lives by the later clock: that it is taken matters more than when.
    let decided = desk.order(close(ETH, true, "2000", "1"));
    assert_eq!(sends(&decided.effects)[0].terms.expires_after_ms, Some(begun_ms + 15_000));
}

/// A client is told of no decision that is not on disk, and may ask again.
#[test]
fn a_decision_that_could_not_be_written_is_not_told() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let decided = desk.order(buy(ETH, "2000", "1"));
    let intent = sends(&decided.effects)[0].intent;
    let outcome = SendOutcome::Unrecorded("the disk is full".to_owned());
    let effects = desk.step(Input::Sent { intent, index: 0, outcome });
    let answers: Vec<_> = effects
        .immediate
        .iter()
        .filter_map(|deed| match deed {
            Command::Answer(answer) => Some(answer),
            _ => None,
        })
        .collect();
    let [answer] = answers[..] else { panic!("{effects:?}") };
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!((answer.http_status, &body["code"], &body["status"]), (503, &json!("journal_error"), &json!("err")));
    assert!(body["msg"].as_str().unwrap().contains("the disk is full") && body.get("guard").is_none(), "{body}");
}

/// What a failing disk does not name must not go out either: nothing follows the actions that waited for it.
#[test]
fn nothing_follows_what_could_not_be_written() {
    for outcome in [SendOutcome::Unrecorded as fn(String) -> SendOutcome, SendOutcome::NotSent] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        desk.positions.insert("ETH", dec!(1));
        desk.positions.insert("SOL", dec!(-10));
        desk.now += 10;
        desk.read_account(desk.now);
        desk.now += 10;
        let effects = desk.read_orders(desk.now);
        let protect = kind(&effects, "protect").pop().unwrap();
        assert_eq!((protect["actions"].as_array().unwrap().len(), sends(&effects).len()), (2, 2));
        let intent = protect["seq"].as_u64().unwrap();
        for (index, done) in [(0, 0), (1, 1)] {
            let effects = desk.step(Input::Sent { intent, index, outcome: outcome("the disk is full".to_owned()) });
            assert!(!sends(&effects).iter().any(|send| send.intent == intent), "{effects:?}");
            assert_eq!(kind(&effects, "done").len(), done);
        }
    }
}
