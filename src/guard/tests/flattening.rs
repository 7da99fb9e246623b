//! Everything goes: what is cancelled and closed, in which rounds, and that it stays so.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Effects, Input, Read, SendOutcome, Urgency};
use crate::venue::info::OpenOrder;

pub(super) fn kill() -> Input {
    Input::Kill { reason: "enough".into(), by: None, write_file: false, request: None }
}

fn of_kind(effects: &Effects, kind: &str) -> Vec<Value> {
    events(effects).into_iter().filter(|event| event["kind"] == kind).collect()
}

fn flatten(effects: &Effects) -> Value {
    of_kind(effects, "flatten").pop().unwrap_or_else(|| panic!("no flatten in {:?}", events(effects)))
}

/// A desk with a covered long, an entry and a target.
fn busy() -> Desk {
    let mut desk = Desk::live();
    let target = OpenOrder { order_type: "Take Profit Market".into(), ..open_stop("ETH", "A", "2200", "1", 3) };
    desk.orders = vec![open_stop("ETH", "A", "1950", "1", 1), open("SOL", "B", "90", "2", 2), target];
    desk.hold("ETH", dec!(1));
    desk.read_orders(desk.now);
    desk
}

fn cancelled(statuses: &[&str]) -> Value {
    json!({"status": "ok", "response": {"type": "cancel", "data": {"statuses": statuses}}})
}

/// Everything is read again a moment later; what came of it.
fn look(desk: &mut Desk, ms: u64) -> Effects {
    desk.now += ms;
    let mut effects = Effects::default();
    for more in [desk.read_mids(desk.now), desk.read_account(desk.now), desk.read_orders(desk.now)] {
        effects.records.extend(more.records);
        effects.after_commit.extend(more.after_commit);
        effects.immediate.extend(more.immediate);
    }
    effects
}

#[test]
fn a_kill_cancels_all_but_cover_and_closes_all() {
    let mut desk = busy();
    let effects = desk.step(kill());
    let told = flatten(&effects);
    assert_eq!(
        (&told["reason"], &told["sent"], &told["problems"]),
        (&json!("kill switch: enough"), &json!(true), &json!([]))
    );
    let cancels = json!([{"a": SOL, "o": 2}, {"a": ETH, "o": 3}]);
    assert_eq!(told["actions"][1], json!({"type": "cancel", "cancels": cancels}));
    let mut order = told["actions"][0]["orders"][0].clone();
    order.as_object_mut().unwrap().remove("c");
    assert_eq!(order, close(ETH, false, "1960", "1"));
    assert_eq!(told["nonces"].as_array().unwrap().len(), 2);
    let sent = sends(&effects);
    let seq = told["seq"].as_u64().unwrap();
    let places: Vec<_> = sent.iter().map(|send| (send.intent, send.index, send.urgency)).collect();
    assert_eq!(places, [(seq, 0, Urgency::Own), (seq, 1, Urgency::Own)], "neither waits for the other");
    assert!(reads(&effects).contains(&&Read::Twaps));
    // What the closes did is not known, what the cancels did is: both are told of before it is done.
    let effects = desk.step(Input::Sent { intent: seq, index: 0, outcome: SendOutcome::NoAnswer("cut".into()) });
    assert!(of_kind(&effects, "done").is_empty(), "{effects:?}");
    let effects = desk.step(Input::Sent { intent: seq, index: 1, outcome: SendOutcome::NotSent("HTTP 429".into()) });
    assert_eq!(of_kind(&effects, "done").len(), 1, "{effects:?}");
}

#[test]
fn cover_that_no_read_has_shown_yet_is_no_order_to_cancel() {
    let mut desk = Desk::live();
    desk.now += 1;
    desk.hold("ETH", dec!(1));
    let told = of_kind(&desk.read_orders(desk.now), "protect").pop().unwrap();
    desk.now += 10;
    desk.answer(told["seq"].as_u64().unwrap(), 0, statuses(json!([{"resting": {"oid": 500}}])));
    let told = flatten(&desk.step(kill()));
    assert_eq!(told["actions"].as_array().unwrap().len(), 1);
    assert_eq!(told["actions"][0]["type"], "order");
}

#[test]
fn it_goes_on_until_flat_and_takes_the_stops_last() {
    let mut desk = busy();
    let told = flatten(&desk.step(kill()));
    let of = told["seq"].as_u64().unwrap();
    desk.now += 10;
    desk.answer(of, 0, cancelled(&["success", "success"]));
    let effects = desk.answer(of, 1, statuses(json!([{"filled": {"totalSz": "0.6", "avgPx": "1990", "oid": 9}}])));
    assert_eq!(of_kind(&effects, "done").len(), 1);
    desk.orders.truncate(1);
    desk.positions.insert("ETH", dec!(0.4));
    // Within the first pause nothing is sent, then the rest is closed further from the price.
    assert!(sends(&look(&mut desk, 10)).is_empty());
    let effects = look(&mut desk, 1_000);
    let intents = of_kind(&effects, "intent");
    assert_eq!(
        (intents.len(), &intents[0]["of"], &intents[0]["action"]["orders"][0]["p"]),
        (1, &json!(of), &json!("1900"))
    );
    assert_eq!(intents[0]["action"]["orders"][0]["s"], "0.4");
    desk.now += 10;
    desk.answer(
        intents[0]["seq"].as_u64().unwrap(),
        0,
        statuses(json!([{"filled": {"totalSz": "0.4", "avgPx": "1990", "oid": 10}}])),
    );
    desk.positions.clear();
    let effects = look(&mut desk, 2_000);
    let intents = of_kind(&effects, "intent");
    desk.now += 10;
    assert_eq!(intents[0]["action"], json!({"type": "cancel", "cancels": [{"a": ETH, "o": 1}]}));
    desk.now += 10;
    desk.answer(intents[0]["seq"].as_u64().unwrap(), 0, cancelled(&["success"]));
    desk.orders.clear();
    (0..60).for_each(|_| assert!(sends(&look(&mut desk, 1_000)).is_empty()));
    // What appears goes as well, at once.
    desk.positions.insert("BTC", dec!(-0.1));
    let effects = look(&mut desk, 1_000);
    assert_eq!(of_kind(&effects, "intent")[0]["action"]["orders"][0]["b"], true);
    assert!(of_kind(&effects, "flatten").is_empty() && of_kind(&effects, "protect").is_empty());
}

#[test]
fn a_venue_that_refuses_is_asked_less_and_less_often() {
    let mut desk = Desk::live();
    desk.hold("ETH", dec!(1));
    let mut seq = flatten(&desk.step(kill()))["seq"].as_u64().unwrap();
    let (mut last, mut pauses) = (desk.now, Vec::new());
    for _ in 0..400 {
        desk.answer(
            seq,
            0,
            statuses(json!([{"error": "Order price cannot be more than 80% away from the reference price"}])),
        );
        let effects = look(&mut desk, 500);
        if let Some(intent) = of_kind(&effects, "intent").pop() {
            seq = intent["seq"].as_u64().unwrap();
            pauses.push((desk.now - last) / 1_000);
            last = desk.now;
        }
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
}

#[test]
fn batches_are_bounded_and_go_one_by_one_where_refused_as_a_whole() {
    let mut desk = Desk::live();
    desk.show((0..150).map(|oid| open("SOL", "B", "90", "1", oid)).collect());
    desk.hold("ETH", dec!(1));
    desk.hold("BTC", dec!(-1));
    let told = flatten(&desk.step(kill()));
    let sizes: Vec<usize> = (1..3).map(|place| told["actions"][place]["cancels"].as_array().unwrap().len()).collect();
    assert_eq!((sizes, told["actions"].as_array().unwrap().len()), (vec![100, 50], 3));
    let of = told["seq"].as_u64().unwrap();
    desk.now += 10;
    desk.answer(of, 0, statuses(json!([{"error": "Order price cannot be more than 80% away"}])));
    desk.answer(of, 1, cancelled(&[]));
    desk.answer(of, 2, cancelled(&[]));
    desk.orders.clear();
    let intents = of_kind(&look(&mut desk, 1_000), "intent");
    assert_eq!(intents.len(), 2);
    assert!(intents.iter().all(|intent| intent["action"]["orders"].as_array().unwrap().len() == 1));
}

#[test]
fn what_cannot_be_priced_or_is_too_small_is_told() {
    let mut desk = Desk::live();
    desk.show(vec![open("PURR/USDC", "B", "1", "20", 5)]);
    desk.positions.insert("ETH", dec!(0.004));
    desk.positions.insert("xyz:GOLD", dec!(1));
    desk.read_account(desk.now);
    let told = flatten(&desk.step(kill()));
    let coins: Vec<&Value> = told["problems"].as_array().unwrap().iter().map(|problem| &problem["coin"]).collect();
    assert_eq!(coins, ["PURR/USDC", "ETH", "xyz:GOLD"]);
    // Dust is tried; refused for its size, it is let be.
    let of = told["seq"].as_u64().unwrap();
    assert_eq!(told["actions"].as_array().unwrap().len(), 1);
    desk.answer(of, 0, statuses(json!([{"error": "Order must have minimum value of $10. asset=1"}])));
    assert!(sends(&look(&mut desk, 100_000)).is_empty());
    desk.positions.insert("ETH", dec!(0.005));
    assert_eq!(sends(&look(&mut desk, 1_000)).len(), 1, "another size is another try");
}

#[test]
fn a_flatten_waits_for_the_account_and_happens_at_start() {
    let mut desk = Desk::blank(config(crate::guard::Mode::Testnet, crate::rules::Rules::default()));
    assert!(of_kind(&desk.step(kill()), "flatten").is_empty());
    desk.read_mids(desk.now);
    desk.positions.insert("ETH", dec!(1));
    assert!(of_kind(&desk.read_account(desk.now), "flatten").is_empty());
    let told = flatten(&desk.read_orders(desk.now));
    assert_eq!(told["actions"][0]["orders"][0]["s"], "1");
}

#[test]
fn paper_mode_tells_of_a_flatten_once() {
    let mut desk = Desk::paper();
    desk.hold("ETH", dec!(1));
    desk.read_orders(desk.now);
    let effects = desk.step(kill());
    let told = flatten(&effects);
    assert_eq!((&told["sent"], told.get("nonces")), (&json!(false), None));
    assert!(sends(&effects).is_empty() && of_kind(&effects, "done").is_empty());
    let effects = look(&mut desk, 120_000);
    assert!(of_kind(&effects, "flatten").is_empty() && of_kind(&effects, "intent").is_empty());
}

#[test]
fn an_entry_decided_on_before_is_not_sent_after() {
    let mut desk = Desk::live();
    desk.leverage(ETH, Some(crate::venue::info::Leverage { mode: crate::venue::info::MarginMode::Cross, value: 20 }));
    let decided = desk.order(buy(ETH, "2000", "0.1"));
    assert_eq!(decided.event["pre"].as_array().unwrap().len(), 1);
    desk.step(kill());
    let effects = desk.answer(decided.seq(), 0, done());
    assert!(sends(&effects).iter().all(|send| send.urgency == Urgency::Own));
    assert!(answers(&effects)[0]["response"].as_str().unwrap().contains("being closed"));
}

#[test]
fn an_entry_on_its_way_is_cancelled_by_its_client_order_id() {
    let mut desk = Desk::live();
    let decided = desk.order(buy(ETH, "1900", "0.1"));
    let told = flatten(&desk.step(kill()));
    let cloid = &decided.sent_order(0)["c"];
    assert_eq!(told["actions"][0], json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": cloid}]}));
}

#[test]
fn running_twaps_are_stopped_and_unread_ones_told_of() {
    let mut desk = Desk::live();
    let of = flatten(&desk.step(kill()))["seq"].clone();
    let effects = desk.step(Input::Twaps(Ok(vec![("ETH".into(), 77)])));
    let intent = of_kind(&effects, "intent").pop().unwrap();
    assert_eq!((&intent["of"], &intent["action"]), (&of, &json!({"type": "twapCancel", "a": ETH, "t": 77})));
    let effects = desk.step(Input::Twaps(Err("HTTP 500".into())));
    assert!(of_kind(&effects, "error")[0]["text"].as_str().unwrap().contains("TWAP orders could not be read"));
}

/// Reads that go on showing an order that the venue has cancelled: it is asked again after pauses that double. One whose cancel
/// is refused for another reason is asked again with every round.
#[test]
fn what_is_gone_by_the_venues_word_is_cancelled_again_ever_more_seldom() {
    const GONE: &str = "Order was never placed, already canceled, or filled.";
    for (error, at_most) in [(GONE, 8), ("Something went wrong.", 60)] {
        let mut desk = Desk::live();
        desk.orders = vec![open("SOL", "B", "90", "2", 2)];
        desk.read();
        let told = flatten(&desk.step(kill()));
        desk.now += 10;
        desk.answer(told["seq"].as_u64().unwrap(), 0, cancelled(&["success"]));
        let mut cancels = 1;
        for _ in 0..600 {
            let effects = look(&mut desk, 100);
            let intents = of_kind(&effects, "intent");
            assert!(!desk.guard.status_json(desk.now, (0, 0))["flatten"]["is_flat"].as_bool().unwrap_or_default());
            for intent in intents.iter().filter(|intent| intent["action"]["type"] == "cancel") {
                cancels += 1;
                desk.answer(intent["seq"].as_u64().unwrap(), 0, statuses(json!([{"error": error}])));
            }
        }
        assert!(cancels <= at_most && cancels >= at_most / 6, "{error}: {cancels} in a minute");
    }
}

/// What the venue told to have filled is held although no read shows it yet: the stop that stands for it goes last.
#[test]
fn the_stop_of_a_fill_that_no_read_shows_stays() {
    for (filled, stays) in [("1", true), ("0", false)] {
        let mut desk = Desk::new(crate::guard::Mode::Testnet, wide());
        let seq = desk.order(with(buy(ETH, "2000", "1"), "/t/limit/tif", json!("Ioc"))).seq();
        desk.now += 100;
        let status = match filled {
            "0" => json!({"error": "Order could not immediately match against any resting orders."}),
            _ => json!({"filled": {"totalSz": filled, "avgPx": "2000.0", "oid": 1}}),
        };
        desk.answer(seq, 0, statuses(json!([status, "waitingForTrigger"])));
        desk.now += 100;
        desk.show(vec![open_stop("ETH", "A", "1960", "1", 2)]);
        let effects = desk.step(kill());
        let cancels = sends(&effects).iter().filter(|send| json_of(&send.action)["type"] == "cancel").count();
        assert_eq!(cancels, usize::from(!stays), "{filled}: {:?}", events(&effects));
    }
}

/// What cancels of a kill name.
fn cancelled_oids(effects: &Effects) -> Vec<Value> {
    let cancels =
        sends(effects).into_iter().map(|send| json_of(&send.action)).filter(|action| action["type"] == "cancel");
    cancels.flat_map(|action| action["cancels"].as_array().unwrap().clone()).map(|cancel| cancel["o"].clone()).collect()
}

/// An entry at rest, or one that has just gone, may have filled: the stop that waited for it stands until a read of the account
/// tells, and goes then.
#[test]
fn the_stop_of_an_entry_that_may_have_filled_stays() {
    for (rests, is_read_since, doomed) in
        [(true, false, vec![2]), (false, false, vec![]), (false, true, vec![3]), (true, true, vec![2])]
    {
        let mut desk = Desk::new(crate::guard::Mode::Testnet, wide());
        let (entry, stop) = (open("ETH", "B", "1990", "1", 2), open_stop("ETH", "A", "1950", "1", 3));
        desk.show(vec![entry.clone(), stop.clone()]);
        desk.now += 100;
        desk.show(if rests { vec![entry, stop] } else { vec![stop] });
        desk.now += 100;
        if is_read_since {
            desk.read_account(desk.now);
        }
        let effects = desk.step(kill());
        assert_eq!(cancelled_oids(&effects), doomed, "{rests} {is_read_since}");
        desk.orders.retain(|order| order.oid == 3);
        let later: Vec<Value> = (0..10).flat_map(|_| cancelled_oids(&look(&mut desk, 1_000))).collect();
        assert!(doomed == [3] || later.contains(&json!(3)), "{rests} {is_read_since}: it goes last, {later:?}");
    }
}

/// Who closes bit by bit has the close of all be larger than what is left: where the venue refuses that, the next one leaves out what is
/// being closed.
#[test]
fn a_close_that_was_refused_as_too_large_leaves_out_what_others_close() {
    for (text, expected) in
        [("Reduce only order would increase position.", "0.9"), ("Order could not immediately match", "1")]
    {
        let mut desk = Desk::live();
        desk.hold("ETH", dec!(1));
        desk.show(vec![open_stop("ETH", "A", "1960", "1", 1)]);
        let told = flatten(&desk.step(kill()));
        desk.now += 50;
        desk.answer(told["seq"].as_u64().unwrap(), 0, statuses(json!([{"error": text}])));
        desk.order(with(close(ETH, false, "1990", "0.1"), "/t/limit/tif", json!("Ioc"))).reduces();
        let size = (0..20).find_map(|_| {
            let again = of_kind(&look(&mut desk, 200), "intent");
            again.iter().find_map(|event| Some(event["action"]["orders"].get(0)?["s"].clone()))
        });
        assert_eq!(size, Some(json!(expected)), "{text}");
    }
}
