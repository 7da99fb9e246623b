//! Settlement of an action that the venue gave no answer to, with and without a restart.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Effects, Guard, Input, Mode, Read, SendOutcome};

fn desk() -> Desk {
    Desk::new(Mode::Testnet, wide())
}

fn no_answer() -> SendOutcome {
    SendOutcome::NoAnswer("the connection broke".to_owned())
}

pub(super) fn kind(effects: &Effects, kind: &str) -> Option<Value> {
    events(effects).into_iter().find(|event| event["kind"] == kind)
}

/// An entry without an answer, and the noop that goes out for it.
pub(super) fn in_doubt() -> (Desk, Decided, Value) {
    let mut desk = desk();
    let decided = desk.order(buy(ETH, "2000", "1"));
    let effects = desk.step(Input::Sent { intent: decided.seq(), index: 0, outcome: no_answer() });
    assert_eq!(kind(&effects, "sent").unwrap()["ok"], false);
    assert!(sends(&effects).is_empty(), "nothing is sent again");
    let effects = desk.step(Input::Tick);
    let burn = kind(&effects, "intent").unwrap();
    assert_eq!((&burn["of"], &burn["action"]), (&json!(decided.seq()), &json!({"type": "noop"})));
    assert_eq!(burn["nonces"], decided.event["nonces"], "the same nonce, or nothing would be proved");
    let [send] = &sends(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!((json!(send.terms.nonce), send.terms.expires_after_ms), (burn["nonces"][0].clone(), None));
    (desk, decided, burn)
}

pub(super) fn seq(event: &Value) -> u64 {
    event["seq"].as_u64().unwrap()
}

pub(super) fn duplicate(burn: &Value) -> Value {
    json!({"status": "err", "response": format!("Invalid nonce: duplicate nonce {}", burn["nonces"][0])})
}

pub(super) fn status(desk: &mut Desk, decided: &Decided, answer: Value) -> Effects {
    let mut effects = Effects::default();
    for order in decided.forward()["orders"].as_array().unwrap() {
        let cloid = order["c"].as_str().unwrap().parse().unwrap();
        let answer = Some(answer.clone());
        effects = desk.step(Input::OrderStatus { intent: decided.seq(), index: 0, cloid, answer });
        if kind(&effects, "recovered").is_some() {
            break;
        }
    }
    effects
}

fn asks_for_status(effects: &Effects) -> bool {
    reads(effects).iter().any(|read| matches!(read, Read::OrderStatus { .. }))
}

fn reserved(desk: &Desk) -> usize {
    desk.guard.sent.orders.len()
}

#[test]
fn a_burnt_nonce_proves_that_it_never_happened() {
    let (mut desk, decided, burn) = in_doubt();
    assert_eq!(reserved(&desk), 1);
    let effects = desk.answer(seq(&burn), 0, done());
    let recovered = kind(&effects, "recovered").unwrap();
    assert_eq!((&recovered["intent"], &recovered["index"]), (&json!(decided.seq()), &json!(0)));
    assert_eq!(recovered["outcome"], "did_not_happen");
    assert_eq!(&recovered["action"], decided.forward());
    assert_eq!(recovered["evidence"][0]["reply"], done());
    assert_eq!(reserved(&desk), 0);
}

/// The venue takes one request in ten seconds then.
#[test]
fn an_account_without_requests_covers_what_is_bare_before_it_burns_a_nonce() {
    for (left, burns) in [(10, true), (0, false)] {
        let mut desk = desk();
        let decided = desk.order(buy(ETH, "2000", "1"));
        desk.hold("SOL", dec!(1));
        desk.step(Input::Sent { intent: decided.seq(), index: 0, outcome: no_answer() });
        desk.step(Input::RequestsLeft(left));
        let burn = kind(&desk.step(Input::Tick), "intent");
        assert_eq!(burn.is_some_and(|event| event["of"] == decided.seq()), burns, "{left}");
        if !burns {
            desk.now += 1_000;
            desk.show(vec![open_stop("SOL", "A", "98", "1", 7)]);
            let burn = kind(&desk.step(Input::Tick), "intent").unwrap();
            assert_eq!(burn["of"], decided.seq(), "covered");
        }
    }
}

/// A doubt must have its end, whatever keeps the stop from going.
#[test]
fn an_account_without_requests_burns_a_nonce_after_half_a_minute_in_any_case() {
    for (last_ms, burns) in [(29_999, false), (30_000, true)] {
        let mut desk = desk();
        let decided = desk.order(buy(ETH, "2000", "1"));
        desk.hold("SOL", dec!(1));
        desk.step(Input::Sent { intent: decided.seq(), index: 0, outcome: no_answer() });
        desk.step(Input::RequestsLeft(0));
        let doubted_ms = desk.now;
        for (after_ms, burns) in [(0, false), (last_ms - 1_000, false), (last_ms, burns)] {
            desk.now = doubted_ms + after_ms;
            let intents = events(&desk.step(Input::Tick)).into_iter().filter(|event| event["kind"] == "intent");
            let has_burnt = intents.into_iter().any(|intent| intent["of"] == decided.seq());
            assert_eq!(has_burnt, burns, "after {after_ms} ms");
        }
    }
}

#[test]
fn a_duplicate_nonce_and_a_known_order_prove_that_it_happened() {
    let (mut desk, decided, burn) = in_doubt();
    desk.answer(seq(&burn), 0, duplicate(&burn));
    desk.now += 1_000;
    assert!(asks_for_status(&desk.step(Input::Tick)));
    let effects = status(&mut desk, &decided, json!({"status": "order", "order": {"status": "open"}}));
    assert_eq!(kind(&effects, "recovered").unwrap()["outcome"], "happened");
    assert_eq!(reserved(&desk), 1, "until reads that begin late enough show it or its absence");
    desk.now += 29_999;
    desk.read();
    assert_eq!(reserved(&desk), 1, "the open orders may lag behind the answer");
    desk.now += 1;
    desk.read();
    desk.now += 1;
    desk.read();
    assert_eq!(reserved(&desk), 0);
}

/// What nobody knows is asked for by a cancel, and the answer to that settles it.
pub(super) fn taken_back(desk: &mut Desk, decided: &Decided) -> Value {
    let effects = desk.step(Input::Tick);
    let [cancel] = &sends(&effects)[..] else { panic!("{effects:?}") };
    let gone = statuses(json!([{"error": "Order was never placed, already canceled, or filled."}]));
    desk.answer(cancel.intent, 0, gone);
    assert_eq!(reserved(desk), 1, "what it filled the account tells");
    desk.now += 1_000;
    desk.read();
    assert_eq!(reserved(desk), 0);
    kind(&status(desk, decided, json!({"status": "unknownOid"})), "recovered").unwrap()
}

#[test]
fn a_duplicate_nonce_and_an_order_that_nobody_knows_or_holds_prove_a_refusal() {
    let (mut desk, decided, burn) = in_doubt();
    desk.answer(seq(&burn), 0, duplicate(&burn));
    // However often: reads may lag behind answers by so much, and what was read of the open orders too.
    for pause_ms in [0, 0, 29_999] {
        desk.now += pause_ms;
        let effects = status(&mut desk, &decided, json!({"status": "unknownOid"}));
        assert!(kind(&effects, "recovered").is_none(), "it may not be known yet");
        assert_eq!(reserved(&desk), 1);
    }
    desk.now += 1;
    let effects = status(&mut desk, &decided, json!({"status": "unknownOid"}));
    assert!(kind(&effects, "recovered").is_none(), "reads may be older than that");
    assert_eq!(taken_back(&mut desk, &decided)["outcome"], "did_not_happen");
}

/// The next noop for the same nonce; each pause is twice as long.
fn next_noop(desk: &mut Desk, burn: &Value) -> Value {
    for _ in 0..60 {
        desk.now += 1_000;
        if let Some(again) = kind(&desk.step(Input::Tick), "intent") {
            assert_eq!((&again["nonces"], &again["action"]), (&burn["nonces"], &burn["action"]));
            return again;
        }
    }
    panic!("no further noop");
}

#[test]
fn an_unanswered_noop_is_sent_again_until_one_is_answered() {
    for (answer, outcome) in [(done(), Some("did_not_happen")), (json!("duplicate"), None)] {
        let (mut desk, decided, mut burn) = in_doubt();
        for _ in 0..4 {
            desk.step(Input::Sent { intent: seq(&burn), index: 0, outcome: no_answer() });
            assert_eq!(reserved(&desk), 1);
            burn = next_noop(&mut desk, &burn);
        }
        let answer = if outcome.is_some() { answer } else { duplicate(&burn) };
        let effects = desk.answer(seq(&burn), 0, answer);
        assert_eq!(kind(&effects, "recovered").map(|event| event["outcome"].clone()), outcome.map(|text| json!(text)));
        if outcome.is_none() {
            // The order or an earlier noop used it up: nothing more can come of it.
            for _ in 0..2 {
                assert!(kind(&status(&mut desk, &decided, json!({"status": "unknownOid"})), "recovered").is_none());
            }
            desk.now += 30_000;
            status(&mut desk, &decided, json!({"status": "unknownOid"}));
            assert_eq!(taken_back(&mut desk, &decided)["outcome"], "did_not_happen");
        }
        assert_eq!(reserved(&desk), 0);
    }
}

#[test]
fn where_a_noop_proves_nothing_only_expiry_settles() {
    let (mut desk, decided, burn) = in_doubt();
    let text = format!("Invalid nonce: nonce too low {}", burn["nonces"][0]);
    desk.answer(seq(&burn), 0, json!({"status": "err", "response": text}));
    for _ in 0..10 {
        desk.now += 1_000;
        let effects = desk.step(Input::Tick);
        assert!(sends(&effects).is_empty());
        let effects = status(&mut desk, &decided, json!({"status": "unknownOid"}));
        assert!(kind(&effects, "recovered").is_none());
        assert_eq!(reserved(&desk), 1);
    }
    for _ in 0..9 {
        // More at once would be a leap of the clock.
        desk.now += 9_000;
        desk.read();
    }
    assert!(kind(&status(&mut desk, &decided, json!({"status": "unknownOid"})), "recovered").is_none());
    assert_eq!(taken_back(&mut desk, &decided)["outcome"], "did_not_happen");
}

#[test]
fn a_noop_that_was_never_sent_is_tried_again() {
    let (mut desk, _, burn) = in_doubt();
    let never = SendOutcome::NotSent("connection refused".to_owned());
    desk.step(Input::Sent { intent: seq(&burn), index: 0, outcome: never });
    desk.now += 1_000;
    let effects = desk.step(Input::Tick);
    assert_eq!(kind(&effects, "intent").unwrap()["nonces"], burn["nonces"]);
}

/// A new guard that has read the journal of an earlier one.
fn restarted(desk: &Desk, journal: &[Value]) -> Guard {
    let last = journal.last().map_or(0, seq);
    let mut guard = Guard::new(desk.guard.config.clone(), last);
    journal.iter().for_each(|event| guard.restore_json(event));
    guard
}

#[test]
fn a_crash_before_the_answer_is_settled_at_the_next_start() {
    let mut desk = desk();
    let decided = desk.order(buy(ETH, "2000", "1"));
    let mut guard = restarted(&desk, std::slice::from_ref(&decided.event));
    let effects = guard.start(desk.now + 5);
    assert_eq!(kind(&effects, "done"), None, "nothing tells yet what became of it");
    guard.step(Input::ActsFor(None), desk.now + 5);
    let effects = guard.step(Input::Tick, desk.now + 5);
    let burn = kind(&effects, "intent").unwrap();
    assert_eq!((&burn["of"], &burn["nonces"]), (&json!(decided.seq()), &decided.event["nonces"]));
    let answered = Input::Sent { intent: seq(&burn), index: 0, outcome: SendOutcome::Answered(done()) };
    let effects = guard.step(answered, desk.now + 6);
    assert_eq!(kind(&effects, "recovered").unwrap()["outcome"], "did_not_happen");
    assert_eq!(kind(&effects, "done").unwrap()["intent"], decided.seq());
}

#[test]
fn a_second_crash_forgets_no_doubt() {
    let mut desk = desk();
    let decided = desk.order(buy(ETH, "2000", "1"));
    let mut journal = vec![decided.event.clone()];
    let mut second = restarted(&desk, &journal);
    journal.extend(events(&second.start(desk.now + 5)));
    second.step(Input::ActsFor(None), desk.now + 5);
    journal.extend(events(&second.step(Input::Tick, desk.now + 5)));
    let checkpoint: Value = serde_json::from_str(&second.checkpoint(desk.now + 6)).unwrap();
    let from_checkpoint = {
        let mut guard = Guard::new(desk.guard.config.clone(), 100);
        guard.restore_checkpoint_json(&checkpoint);
        guard
    };
    for mut third in [restarted(&desk, &journal), from_checkpoint] {
        third.start(desk.now + 10);
        third.step(Input::ActsFor(None), desk.now + 10);
        let burn = kind(&third.step(Input::Tick, desk.now + 10), "intent").unwrap();
        assert_eq!(burn["nonces"], decided.event["nonces"]);
        let known = json!({"status": "order", "order": {"status": "open"}});
        let cloid = decided.sent_order(0)["c"].as_str().unwrap().parse().unwrap();
        let answer = Input::OrderStatus { intent: decided.seq(), index: 0, cloid, answer: Some(known) };
        let effects = third.step(answer, desk.now + 11);
        assert_eq!(kind(&effects, "recovered").unwrap()["outcome"], "happened");
        assert_eq!(kind(&effects, "done").unwrap()["intent"], decided.seq());
    }
}

#[test]
fn what_is_answered_or_recovered_is_not_taken_up_again() {
    let mut desk = desk();
    let decided = desk.order(buy(ETH, "2000", "1"));
    let (of, done) = (decided.seq(), json!({"seq": 9, "kind": "done", "intent": decided.seq()}));
    let answered = json!({"seq": 8, "kind": "sent", "decision": of, "index": 0, "reply": {"status": "ok"}});
    let vain = json!({"seq": 8, "kind": "sent", "decision": of, "index": 0, "reply": {"error": "cut"}});
    let recovered = json!({"seq": 9, "kind": "recovered", "intent": of, "index": 0, "outcome": "happened"});
    for (journal, settled) in [
        (vec![decided.event.clone(), answered, done.clone()], true),
        (vec![decided.event.clone(), vain.clone(), done.clone(), recovered], true),
        (vec![decided.event, vain, done], false),
    ] {
        let mut guard = restarted(&desk, &journal);
        guard.start(desk.now + 5);
        guard.step(Input::ActsFor(None), desk.now + 5);
        let effects = guard.step(Input::Tick, desk.now + 5);
        assert_eq!(sends(&effects).is_empty(), settled, "{journal:?}");
    }
}

#[test]
fn a_checkpoint_carries_what_is_open_and_what_is_in_doubt() {
    let (desk, decided, _) = in_doubt();
    let checkpoint: Value = serde_json::from_str(&desk.guard.checkpoint(desk.now)).unwrap();
    let mut guard = Guard::new(desk.guard.config.clone(), 100);
    guard.restore_checkpoint_json(&checkpoint);
    guard.start(desk.now + 5);
    guard.step(Input::ActsFor(None), desk.now + 5);
    let effects = guard.step(Input::Tick, desk.now + 5);
    assert_eq!(kind(&effects, "intent").unwrap()["nonces"], decided.event["nonces"], "its noop may be lost");

    let mut desk = Desk::new(Mode::Testnet, wide());
    let decided = desk.order(buy(ETH, "2000", "1"));
    let checkpoint: Value = serde_json::from_str(&desk.guard.checkpoint(desk.now)).unwrap();
    let mut guard = Guard::new(desk.guard.config.clone(), 100);
    guard.restore_checkpoint_json(&checkpoint);
    guard.start(desk.now + 5);
    guard.step(Input::ActsFor(None), desk.now + 5);
    let effects = guard.step(Input::Tick, desk.now + 5);
    assert_eq!(kind(&effects, "intent").unwrap()["of"], decided.seq());
}

/// The orders asked about in these effects.
pub(super) fn asked(effects: &Effects) -> usize {
    reads(effects).iter().filter(|read| matches!(read, Read::OrderStatus { .. })).count()
}

#[test]
fn one_question_a_doubt_is_at_the_venue_and_the_next_follows_its_end() {
    let (mut desk, decided, burn) = in_doubt();
    desk.answer(seq(&burn), 0, duplicate(&burn));
    desk.now += 1_000;
    assert_eq!(asked(&desk.step(Input::Tick)), 1);
    for _ in 0..20 {
        desk.now += 1_000;
        assert_eq!(asked(&desk.step(Input::Tick)), 0, "the last one is not answered");
    }
    let cloid = decided.sent_order(0)["c"].as_str().unwrap().parse().unwrap();
    desk.step(Input::OrderStatus { intent: decided.seq(), index: 0, cloid, answer: None });
    desk.now += 999;
    assert_eq!(asked(&desk.step(Input::Tick)), 0);
    desk.now += 1;
    assert_eq!(asked(&desk.step(Input::Tick)), 1);
}

#[test]
fn a_few_questions_are_at_the_venue_however_many_doubts_there_are() {
    let mut desk = desk();
    for round in 0..7 {
        let decided = desk.order(buy(ETH, &format!("{}", 1_900 + round), "0.1"));
        desk.step(Input::Sent { intent: decided.seq(), index: 0, outcome: no_answer() });
        let burn = kind(&desk.step(Input::Tick), "intent").unwrap();
        desk.answer(seq(&burn), 0, duplicate(&burn));
    }
    desk.now += 1_000;
    let effects = desk.step(Input::Tick);
    assert_eq!(asked(&effects), 4);
    desk.now += 29_999;
    assert_eq!(asked(&desk.step(Input::Tick)), 0);
    desk.now += 1;
    assert_eq!(asked(&desk.step(Input::Tick)), 4, "what was never heard of again is no longer waited for");
}
