//! Entries that nobody knows of, and that may rest all the same: they count until the venue's own word ends them.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use super::settling::{asked, duplicate, in_doubt, kind, seq, status};
use crate::guard::{Effects, Input, Mode, SendOutcome};
use crate::venue::info::OpenOrder;

const GONE: &str = "Order was never placed, already canceled, or filled.";

fn unknown() -> Value {
    json!({"status": "unknownOid"})
}

fn exposure(desk: &Desk) -> Decimal {
    desk.guard.exposure().totals().notional
}

/// The cancel among what is sent: its event, and what it names.
fn taken_back(effects: &Effects) -> Option<(u64, Value)> {
    let send =
        sends(effects).into_iter().find(|send| json_of(&send.action)["type"].as_str().unwrap().contains("cancel"))?;
    Some((send.intent, json_of(&send.action)["cancels"][0].clone()))
}

fn tick(desk: &mut Desk) -> Option<(u64, Value)> {
    desk.read();
    taken_back(&desk.step(Input::Tick))
}

/// An entry without an answer, whose nonce is used up, and that the venue has not known three times; the last time so long
/// after.
fn unknown_for(ms: u64) -> (Desk, Decided) {
    let (mut desk, decided, burn) = in_doubt();
    desk.answer(seq(&burn), 0, duplicate(&burn));
    for pause_ms in [0, 0, ms] {
        desk.now += pause_ms;
        assert!(kind(&status(&mut desk, &decided, unknown()), "recovered").is_none());
    }
    (desk, decided)
}

/// The same, with the cancel that asks for it under way.
fn asked_for() -> (Desk, Decided, u64) {
    let (mut desk, decided) = unknown_for(30_000);
    let (cancel, _) = tick(&mut desk).expect("a cancel");
    (desk, decided, cancel)
}

#[test]
fn an_entry_that_nobody_knows_is_taken_back_by_its_own_id_and_no_sooner() {
    for (ms, is_due) in [(29_999, false), (30_000, true)] {
        let (mut desk, decided) = unknown_for(ms);
        let found = tick(&mut desk);
        assert_eq!(found.is_some(), is_due, "{ms}");
        assert_eq!(exposure(&desk), dec!(2000));
        if let Some((_, cancel)) = found {
            assert_eq!(cancel, json!({"asset": ETH, "cloid": decided.sent_order(0)["c"]}));
        }
    }
}

/// Whatever reads show, and for however long.
#[test]
fn time_alone_frees_nothing() {
    let (mut desk, decided, mut cancel) = asked_for();
    let mut last_ms = desk.now;
    let lost = || SendOutcome::NoAnswer("cut".to_owned());
    desk.step(Input::Sent { intent: cancel, index: 0, outcome: lost() });
    for _ in 0..600 {
        desk.now += 1_000;
        desk.read();
        let effects = desk.step(Input::Tick);
        if asked(&effects) > 0 {
            status(&mut desk, &decided, unknown());
        }
        if let Some((again, _)) = taken_back(&effects) {
            assert!(again != cancel && desk.now - last_ms >= 2_000);
            (cancel, last_ms) = (again, desk.now);
            desk.step(Input::Sent { intent: cancel, index: 0, outcome: lost() });
        }
        assert_eq!(exposure(&desk), dec!(2000));
    }
    assert!(desk.now - last_ms <= 60_000, "it goes on");
    let alerts = desk.guard.gauges(desk.now).alerts;
    assert!(alerts.iter().any(|code| code == "unsettled"), "{alerts:?}");
}

/// An answer that is about something else says nothing of the order.
#[test]
fn only_the_venues_word_on_the_order_ends_it() {
    let refusals = [
        json!({"status": "err", "response": GONE}),
        statuses(json!([{"error": "Too many cumulative requests sent"}])),
        json!({"status": "err", "response": "User or API Wallet does not exist."}),
    ];
    let endings = [(statuses(json!([{"error": GONE}])), "did_not_happen"), (statuses(json!(["success"])), "happened")];
    let all = refusals.into_iter().map(|reply| (reply, None));
    for (reply, outcome) in all.chain(endings.map(|(reply, outcome)| (reply, Some(outcome)))) {
        let (mut desk, decided, cancel) = asked_for();
        desk.answer(cancel, 0, reply.clone());
        assert_eq!(exposure(&desk), dec!(2000), "until the account is read from after that");
        desk.now += 1_000;
        desk.read_account(desk.now);
        assert_eq!(exposure(&desk).is_zero(), outcome.is_some(), "{reply}");
        let told = kind(&status(&mut desk, &decided, unknown()), "recovered").map(|event| event["outcome"].clone());
        assert_eq!(told, outcome.map(|outcome| json!(outcome)), "{reply}");
        desk.now += 1_000;
        assert_eq!(tick(&mut desk).is_some(), outcome.is_none(), "{reply}");
    }
}

/// What it filled before that is in the position.
#[test]
fn what_it_filled_counts_once() {
    let (mut desk, decided, cancel) = asked_for();
    desk.answer(cancel, 0, statuses(json!([{"error": GONE}])));
    desk.now += 1_000;
    desk.hold("ETH", dec!(1));
    assert_eq!(exposure(&desk), dec!(2000));
    assert!(kind(&status(&mut desk, &decided, unknown()), "recovered").is_some());
    assert_eq!(exposure(&desk), dec!(2000));
}

/// The reads of open orders know what the status of an order does not.
#[test]
fn one_that_rests_for_all_to_see_is_left_alone() {
    let (mut desk, decided, burn) = in_doubt();
    desk.answer(seq(&burn), 0, duplicate(&burn));
    let id = decided.sent_order(0)["c"].as_str().unwrap().parse().unwrap();
    desk.now += 1_000;
    desk.show(vec![OpenOrder { cloid: Some(id), ..open("ETH", "B", "2000", "1", 7) }]);
    for pause_ms in [0, 0, 30_000] {
        desk.now += pause_ms;
        let told = kind(&status(&mut desk, &decided, unknown()), "recovered");
        assert_eq!(told.map(|event| event["outcome"].clone()), (pause_ms > 0).then(|| json!("happened")));
    }
    assert_eq!((tick(&mut desk), exposure(&desk)), (None, dec!(2000)));
}

/// By its client order id a stop would go.
#[test]
fn no_stop_goes_in_its_place() {
    for (is_stop, goes) in [(true, false), (false, true)] {
        let (mut desk, decided) = unknown_for(30_000);
        let id = decided.sent_order(0)["c"].as_str().unwrap().parse().unwrap();
        let other = if is_stop { open_stop("SOL", "A", "98", "1", 7) } else { open("SOL", "B", "98", "1", 7) };
        desk.now += 1_000;
        desk.show(vec![OpenOrder { cloid: Some(id), ..other }]);
        assert_eq!(taken_back(&desk.step(Input::Tick)).is_some(), goes, "{is_stop}");
    }
}

/// What the venue said rests, and neither shows nor knows.
#[test]
fn one_that_was_said_to_rest_is_taken_back_by_its_order_id() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let decided = desk.order(buy(ETH, "2000", "1"));
    desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 7}}])));
    desk.now += 30_000;
    for answers in 0..3 {
        assert!(tick(&mut desk).is_none(), "after {answers}");
        status(&mut desk, &decided, unknown());
        desk.now += 5_000;
        desk.read();
        assert_eq!(exposure(&desk), dec!(2000));
    }
    let (cancel, named) = tick(&mut desk).expect("a cancel");
    assert_eq!(named, json!({"a": ETH, "o": 7}));
    desk.answer(cancel, 0, statuses(json!(["success"])));
    desk.now += 10;
    desk.read_account(desk.now);
    assert!(exposure(&desk).is_zero());
}
