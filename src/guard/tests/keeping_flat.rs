//! While the account must be flat: TWAP orders, pauses, dust, cover for what cannot be closed, and what is told meanwhile.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use super::flattening::kill;
use crate::guard::flow::flatten::is_flat;
use crate::guard::{Effects, Input, Read, SendOutcome};

fn of_kind(effects: &Effects, kind: &str) -> Vec<Value> {
    events(effects).into_iter().filter(|event| event["kind"] == kind).collect()
}

fn alerts(desk: &Desk) -> Vec<String> {
    let status = desk.guard.status_json(desk.now, (1_200, 0));
    let alerts = status["alerts"].as_array().unwrap();
    alerts.iter().map(|alert| alert["code"].as_str().unwrap().to_owned()).collect()
}

/// Lets `ms` pass in which everything is read, and gives all that came of it.
pub(super) fn pass(desk: &mut Desk, ms: u64) -> Effects {
    desk.now += ms;
    let mut all = Effects::default();
    for more in [desk.read_mids(desk.now), desk.read_account(desk.now), desk.read_orders(desk.now)] {
        all.records.extend(more.records);
        all.after_commit.extend(more.after_commit);
        all.immediate.extend(more.immediate);
    }
    all
}

fn asks_for_twaps(effects: &Effects) -> bool {
    reads(effects).contains(&&Read::Twaps)
}

/// Two answers in a row that no TWAP order runs.
pub(super) fn none_runs(desk: &mut Desk) -> Effects {
    desk.step(Input::Twaps(Ok(Vec::new())));
    desk.step(Input::Twaps(Ok(Vec::new())))
}

/// The events of closes among what came, with their place in time.
pub(super) fn closes(effects: &Effects) -> Vec<u64> {
    let is_close = |event: &Value| event["action"]["orders"][0]["t"]["limit"]["tif"] == "Ioc";
    of_kind(effects, "intent")
        .iter()
        .filter(|event| is_close(event))
        .map(|event| event["seq"].as_u64().unwrap())
        .collect()
}

/// A killed desk with one position, and the event and place of its close.
pub(super) fn killed(size: Decimal) -> (Desk, u64) {
    let mut desk = Desk::live();
    desk.orders = vec![open_stop("ETH", "A", "1970", "1000", 1)];
    desk.hold("ETH", size);
    desk.read_orders(desk.now);
    let told = of_kind(&desk.step(kill()), "flatten").pop().unwrap();
    (desk, told["seq"].as_u64().unwrap())
}

#[test]
fn twaps_are_read_until_none_runs_and_again_and_again_after() {
    let mut desk = Desk::live();
    assert!(asks_for_twaps(&desk.step(kill())));
    assert!(!asks_for_twaps(&pass(&mut desk, 9_999)));
    assert!(asks_for_twaps(&pass(&mut desk, 1)), "nobody has answered");
    desk.step(Input::Twaps(Ok(vec![("ETH".into(), 77)])));
    assert!(!is_flat(&desk.guard));
    assert!(asks_for_twaps(&pass(&mut desk, 10_000)), "one ran");
    // One answer alone may be wrong, or of a moment before one began.
    desk.step(Input::Twaps(Ok(Vec::new())));
    assert!(!asks_for_twaps(&pass(&mut desk, 1_999)));
    assert!(!is_flat(&desk.guard));
    assert!(asks_for_twaps(&pass(&mut desk, 1)));
    desk.step(Input::Twaps(Ok(Vec::new())));
    pass(&mut desk, 1_000);
    assert!(is_flat(&desk.guard));
    assert!(!asks_for_twaps(&pass(&mut desk, 28_999)));
    assert!(asks_for_twaps(&pass(&mut desk, 1)));
}

/// Lets everything be closed: what the guard sends is done, and nothing is left.
pub(super) fn come_to_rest(desk: &mut Desk) {
    come_to_rest_telling(desk, &mut Vec::new());
}

/// The same, and what goes on record of the account being flat.
fn come_to_rest_telling(desk: &mut Desk, told: &mut Vec<Value>) {
    desk.positions.clear();
    desk.orders.clear();
    for _ in 0..6 {
        told.extend(of_kind(&pass(desk, 1_000), "flat"));
        let flying: Vec<u64> = desk.guard.intents.keys().copied().collect();
        flying.into_iter().for_each(|seq| told.extend(of_kind(&desk.answer(seq, 0, done()), "flat")));
    }
}

/// Whoever looks too late for the status finds it in the journal: once a closing, by reads after the last close.
#[test]
fn that_it_is_flat_goes_on_record_once_a_closing() {
    let (mut desk, seq) = killed(dec!(1));
    let mut told = of_kind(&none_runs(&mut desk), "flat");
    told.extend(of_kind(&pass(&mut desk, 1_000), "flat"));
    assert_eq!(told, [Value::Null; 0], "a position is held");
    let closed_ms = desk.now;
    come_to_rest_telling(&mut desk, &mut told);
    let [flat] = &told[..] else { panic!("{told:?}") };
    let checked_ms = flat["checked_ms"].as_u64().unwrap();
    assert!(checked_ms > closed_ms && checked_ms <= flat["at_ms"].as_u64().unwrap(), "{flat}");
    let fields = (&flat["flatten"], &flat["positions"], &flat["orders"], &flat["equity"]);
    assert_eq!(fields, (&json!(seq), &json!(0), &json!(0), &json!("10000")));
    assert!(desk.guard.status_json(desk.now, (0, 0))["closing"]["flat"].as_bool().unwrap(), "both say the same");
    for _ in 0..40 {
        told.extend(of_kind(&pass(&mut desk, 1_000), "flat"));
        told.extend(of_kind(&none_runs(&mut desk), "flat"));
    }
    assert_eq!(told.len(), 1, "once");
    // Another hand opens something: closed as well, that is on record again.
    desk.positions.insert("ETH", dec!(1));
    told.extend(of_kind(&pass(&mut desk, 3_000), "flat"));
    assert_eq!(told.len(), 1, "a position is held");
    none_runs(&mut desk);
    come_to_rest_telling(&mut desk, &mut told);
    assert_eq!((told.len(), &told[1]["flatten"]), (2, &json!(seq)));
    assert!(told[1]["checked_ms"].as_u64() > told[0]["checked_ms"].as_u64(), "{told:?}");
}

#[test]
fn nothing_is_on_record_while_nobody_can_say_whether_a_twap_order_runs() {
    let (mut desk, _) = killed(dec!(1));
    let mut told = Vec::new();
    come_to_rest_telling(&mut desk, &mut told);
    assert_eq!(told, [Value::Null; 0]);
    told = of_kind(&none_runs(&mut desk), "flat");
    come_to_rest_telling(&mut desk, &mut told);
    assert_eq!(told.len(), 1);
}

#[test]
fn a_position_in_a_market_that_nobody_knows_is_not_flat() {
    let (mut desk, _) = killed(dec!(1));
    none_runs(&mut desk);
    come_to_rest(&mut desk);
    assert!(is_flat(&desk.guard));
    desk.positions.insert("NEWC", dec!(1));
    pass(&mut desk, 1);
    assert!(!is_flat(&desk.guard));
    pass(&mut desk, 10_001);
    assert!(desk.guard.problems(desk.now).iter().any(|text| text.contains("1 position, ")), "told of");
}

#[test]
fn what_comes_back_is_no_end_before_its_twaps_were_read() {
    let (mut desk, _) = killed(dec!(1));
    none_runs(&mut desk);
    come_to_rest(&mut desk);
    assert!(is_flat(&desk.guard));
    desk.positions.insert("ETH", dec!(1));
    pass(&mut desk, 6_000);
    come_to_rest(&mut desk);
    desk.step(Input::Twaps(Err("HTTP 502".into())));
    come_to_rest(&mut desk);
    assert!(!is_flat(&desk.guard), "one may run");
    none_runs(&mut desk);
    come_to_rest(&mut desk);
    assert!(is_flat(&desk.guard));
}

#[test]
fn what_comes_back_has_twaps_read_at_once() {
    let mut desk = Desk::live();
    desk.step(kill());
    none_runs(&mut desk);
    pass(&mut desk, 6_000);
    desk.positions.insert("ETH", dec!(1));
    assert!(asks_for_twaps(&pass(&mut desk, 10)));
}

#[test]
fn a_twap_cancel_without_an_answer_is_repeated_and_one_on_its_way_is_not() {
    let mut desk = Desk::live();
    desk.step(kill());
    let runs = || Input::Twaps(Ok(vec![("ETH".into(), 77)]));
    let cancel = of_kind(&desk.step(runs()), "intent").pop().unwrap();
    assert!(of_kind(&desk.step(runs()), "intent").is_empty());
    let seq = cancel["seq"].as_u64().unwrap();
    desk.step(Input::Sent { intent: seq, index: 0, outcome: SendOutcome::NoAnswer("cut".into()) });
    let again = of_kind(&desk.step(runs()), "intent");
    assert_eq!(again.last().unwrap()["action"]["type"], "twapCancel", "{again:?}");
}

#[test]
fn unread_twaps_are_told_of_after_ten_seconds_and_once_in_the_journal() {
    let mut desk = Desk::live();
    desk.step(kill());
    let mut told = 0;
    for _ in 0..3 {
        told += of_kind(&desk.step(Input::Twaps(Err("HTTP 502".into()))), "error").len();
    }
    assert_eq!(told, 1);
    desk.now += 10_000;
    assert!(!alerts(&desk).contains(&"twaps_unread".to_owned()));
    desk.now += 1;
    assert!(alerts(&desk).contains(&"twaps_unread".to_owned()));
    none_runs(&mut desk);
    assert!(!alerts(&desk).contains(&"twaps_unread".to_owned()));
}

#[test]
fn not_flat_is_told_of_after_ten_seconds_and_until_it_is() {
    let (mut desk, seq) = killed(dec!(1));
    none_runs(&mut desk);
    desk.answer(seq, 0, statuses(json!([{"error": "Order could not immediately match against any resting orders."}])));
    desk.now = NOW + 10_000;
    assert!(!alerts(&desk).contains(&"not_flat".to_owned()));
    desk.now += 1;
    assert!(alerts(&desk).contains(&"not_flat".to_owned()));
    assert!(desk.guard.problems(desk.now).iter().any(|text| text.contains("1 position, ")), "ill health");
    desk.positions.clear();
    desk.orders.clear();
    for _ in 0..4 {
        pass(&mut desk, 60_000);
        let flying: Vec<u64> = desk.guard.intents.keys().copied().collect();
        for seq in flying {
            desk.answer(seq, 0, done());
        }
    }
    assert!(!alerts(&desk).contains(&"not_flat".to_owned()));
}

/// How long after the last close was answered the next one goes out.
fn pause_after(outcome: &SendOutcome, rounds: usize) -> u64 {
    let (mut desk, mut seq) = killed(dec!(1));
    none_runs(&mut desk);
    let mut pause_ms = 0;
    for _ in 0..rounds {
        desk.now += 10;
        desk.step(Input::Sent { intent: seq, index: 0, outcome: outcome.clone() });
        pause_ms = 0;
        seq = loop {
            pause_ms += 500;
            assert!(pause_ms < 120_000, "never again");
            if let Some(seq) = closes(&pass(&mut desk, 500)).pop() {
                break seq;
            }
        };
    }
    pause_ms
}

#[test]
fn only_refusals_grow_the_pause_beyond_five_seconds() {
    let refused = SendOutcome::Answered(statuses(json!([{"error": "Order has invalid price."}])));
    let unheard = [
        // An empty book may be full again the next moment.
        SendOutcome::Answered(statuses(
            json!([{"error": "Order could not immediately match against any resting orders."}]),
        )),
        SendOutcome::NotSent("the venue answered 429".into()),
        SendOutcome::Answered(json!({"status": "err", "response": "Too many cumulative requests sent"})),
    ];
    for outcome in unheard {
        assert!(pause_after(&outcome, 7) <= 5_500, "{outcome:?}");
    }
    assert!(pause_after(&refused, 7) >= 30_000);
}

#[test]
fn another_price_ends_a_long_pause() {
    let (mut desk, mut seq) = killed(dec!(1));
    none_runs(&mut desk);
    let refused = statuses(json!([{"error": "Order has invalid price."}]));
    for _ in 0..6 {
        desk.now += 10;
        desk.answer(seq, 0, refused.clone());
        seq = (0..200).find_map(|_| closes(&pass(&mut desk, 500)).pop()).unwrap();
    }
    desk.answer(seq, 0, refused);
    assert!(closes(&pass(&mut desk, 2_000)).is_empty());
    desk.mids.insert("ETH".to_owned(), dec!(1975));
    assert!(!closes(&pass(&mut desk, 1_000)).is_empty(), "1.25% away");
}

#[test]
fn dust_is_small_and_named_by_its_own_status() {
    const SMALL: &str = "Order must have minimum value of $10.";
    // 2000 USDC each: 19.98 is under twice the minimum, 20 is not.
    for (size, is_dust) in [(dec!(0.00999), true), (dec!(0.01), false)] {
        let (mut desk, seq) = killed(size);
        desk.answer(seq, 0, statuses(json!([{"error": SMALL}])));
        assert_eq!(alerts(&desk).contains(&"dust".to_owned()), is_dust, "{size}");
    }
    let mut desk = Desk::live();
    desk.hold("ETH", dec!(0.004));
    desk.hold("SOL", dec!(0.05));
    desk.read_orders(desk.now);
    let seq = of_kind(&desk.step(kill()), "flatten")[0]["seq"].as_u64().unwrap();
    desk.answer(seq, 0, statuses(json!([{"error": SMALL}])));
    assert!(!alerts(&desk).contains(&"dust".to_owned()), "one status for two orders");
}

#[test]
fn dust_is_forgotten_when_it_grows_past_the_minimum() {
    let (mut desk, seq) = killed(dec!(0.004));
    desk.answer(seq, 0, statuses(json!([{"error": "Order must have minimum value of $10."}])));
    desk.mids.insert("ETH".to_owned(), dec!(2499));
    pass(&mut desk, 1_000);
    assert!(alerts(&desk).contains(&"dust".to_owned()));
    desk.mids.insert("ETH".to_owned(), dec!(2500));
    pass(&mut desk, 1_000);
    assert!(!alerts(&desk).contains(&"dust".to_owned()));
}

#[test]
fn the_stop_of_what_is_held_stays_also_where_it_is_dust() {
    let (mut desk, seq) = killed(dec!(0.004));
    none_runs(&mut desk);
    desk.answer(seq, 0, statuses(json!([{"error": "Order must have minimum value of $10."}])));
    for _ in 0..5 {
        let intents = of_kind(&pass(&mut desk, 60_000), "intent");
        assert!(intents.iter().all(|intent| intent["action"]["type"] != "cancel"), "{intents:?}");
    }
    assert!(is_flat(&desk.guard), "nothing is left to do");
}

#[test]
fn what_cannot_be_closed_is_covered_beside_the_closes() {
    let mut desk = Desk::live();
    desk.step(kill());
    desk.positions.insert("ETH", dec!(1));
    let refused = statuses(json!([{"error": "Order could not immediately match."}]));
    let has_stop = (0..40).any(|_| {
        let effects = pass(&mut desk, 500);
        for seq in closes(&effects) {
            desk.answer(seq, 0, refused.clone());
        }
        !of_kind(&effects, "protect").is_empty()
    });
    assert!(has_stop);
}

#[test]
fn a_coin_that_no_market_has_calls_for_the_markets() {
    let mut desk = Desk::live();
    desk.positions.insert("NEWC", dec!(1));
    desk.now += 1_000;
    assert!(reads(&desk.read_account(desk.now)).contains(&&Read::Universe));
    // A list that lacks it may be an old one: it is asked for again, for a minute.
    let mut asked = Vec::new();
    for seconds in 1..=70 {
        desk.now += 1_000;
        if reads(&desk.read_account(desk.now)).contains(&&Read::Universe) {
            asked.push(seconds);
        }
    }
    assert_eq!(asked, (1..=15).map(|time| time * 4).collect::<Vec<_>>());
    let universe = desk.guard.view.universe.clone();
    assert!(reads(&desk.step(Input::Universe(universe))).contains(&&Read::AccountNow));
}

/// What the status says of closing everything.
fn closing(desk: &Desk) -> Value {
    desk.guard.status_json(desk.now, (1_200, 0))["closing"].clone()
}

#[test]
fn flat_is_said_when_all_that_can_be_left_was_read_since_and_is_not() {
    let mut desk = Desk::live();
    assert_eq!(closing(&desk), Value::Null, "nothing has to be closed");
    desk.orders = vec![open_stop("ETH", "A", "1970", "1000", 1)];
    desk.hold("ETH", dec!(1));
    desk.read_orders(desk.now);
    desk.step(kill());
    assert_eq!((&closing(&desk)["flat"], &closing(&desk)["twaps"]), (&json!(false), &Value::Null));
    come_to_rest(&mut desk);
    assert_eq!(closing(&desk)["flat"], json!(false), "no TWAP order was read");
    desk.step(Input::Twaps(Err("HTTP 500".into())));
    come_to_rest(&mut desk);
    assert_eq!((&closing(&desk)["flat"], &closing(&desk)["twaps"]), (&json!(false), &Value::Null));
    desk.step(Input::Twaps(Ok(vec![("ETH".into(), 7), ("@107".into(), 8)])));
    come_to_rest(&mut desk);
    assert_eq!((&closing(&desk)["flat"], &closing(&desk)["twaps"]), (&json!(false), &json!(2)));
    desk.step(Input::Twaps(Ok(vec![("@107".into(), 8)])));
    come_to_rest(&mut desk);
    assert_eq!((&closing(&desk)["flat"], &closing(&desk)["twaps"]), (&json!(false), &json!(1)), "it trades elsewhere");
    none_runs(&mut desk);
    come_to_rest(&mut desk);
    assert_eq!(closing(&desk), json!({"flat": true, "checked_ms": desk.now, "twaps": 0}));
    // What was read long ago says nothing of now, and what comes back is no end.
    desk.now += 60_000;
    assert_eq!(closing(&desk)["flat"], json!(false), "{}", closing(&desk));
    pass(&mut desk, 1);
    assert_eq!(closing(&desk)["flat"], json!(true));
    desk.hold("BTC", dec!(0.001));
    assert_eq!(closing(&desk)["flat"], json!(false));
}
