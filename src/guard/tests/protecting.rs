//! No position stays bare: where the guard's stop goes, when, and what happens when it cannot be had.

mod answering;
mod changed;
mod hanging;
mod resizing;
mod room;

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::state::own_cloid::{OrderOwner, derived_cloid};
use crate::guard::{Effects, Input, SendOutcome, Urgency};
use crate::venue::info::OpenOrder;

/// The first event of a kind.
fn event(effects: &Effects, kind: &str) -> Option<Value> {
    events(effects).into_iter().find(|event| event["kind"] == kind)
}

fn protect(effects: &Effects) -> Value {
    event(effects, "protect").unwrap_or_else(|| panic!("no protect in {:?}", events(effects)))
}

/// Holds a position that every read has shown, and gives the effects of the read that settles it.
fn bare(desk: &mut Desk, coin: &'static str, szi: Decimal) -> Effects {
    desk.now += 1;
    desk.hold(coin, szi);
    desk.read_orders(desk.now)
}

/// The order that the venue shows for a stop that the guard sent.
fn shown(action: &Value, coin: &str, oid: u64) -> OpenOrder {
    let order = &action["orders"][0];
    let side = if order["b"] == true { "B" } else { "A" };
    let text = |pointer: &str| order.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    let stop = open_stop(coin, side, &text("/t/trigger/triggerPx"), &text("/s"), oid);
    OpenOrder { cloid: Some(text("/c").parse().unwrap()), ..stop }
}

/// Lets the guard protect a bare position and the venue take the stop; gives the desk a moment later with all read.
pub(super) fn protected(coin: &'static str, szi: Decimal) -> Desk {
    let mut desk = Desk::live();
    let told = protect(&bare(&mut desk, coin, szi));
    desk.now += 10;
    desk.answer(told["seq"].as_u64().unwrap(), 0, statuses(json!([{"resting": {"oid": 500}}])));
    desk.orders.push(shown(&told["actions"][0], coin, 500));
    desk.now += 10;
    desk.read();
    desk
}

fn refusal(text: &str) -> Value {
    statuses(json!([{"error": text}]))
}

#[test]
fn a_bare_position_gets_a_stop_on_its_losing_side() {
    for (szi, is_buy, trigger, limit) in [(dec!(1), false, "1960", "1764"), (dec!(-1), true, "2040", "2244")] {
        let mut desk = Desk::live();
        let effects = bare(&mut desk, "ETH", szi);
        let told = protect(&effects);
        assert_eq!((&told["coins"], &told["problems"], &told["sent"]), (&json!(["ETH"]), &json!([]), &json!(true)));
        let mut order = told["actions"][0]["orders"][0].clone();
        assert!(order.as_object_mut().unwrap().remove("c").unwrap().as_str().unwrap().starts_with("0x737663677264"));
        let trigger = json!({"isMarket": true, "triggerPx": trigger, "tpsl": "sl"});
        let wanted = json!({"a": ETH, "b": is_buy, "p": limit, "s": "1", "r": true, "t": {"trigger": trigger}});
        assert_eq!(order, wanted);
        let sent = sends(&effects);
        assert_eq!((sent.len(), sent[0].urgency, sent[0].terms.expires_after_ms), (1, Urgency::Own, None));
        assert_eq!(json!([sent[0].terms.nonce]), told["nonces"]);
    }
}

#[test]
fn the_stop_stands_inside_liquidation() {
    // The limit is a tenth of the way from liquidation to the mark; the rule's own distance is 1960.
    for (liquidation, trigger) in [("1955", "1960"), ("1956", "1960.4"), ("1980", "1982")] {
        let mut desk = Desk::live();
        desk.positions.insert("ETH", dec!(1));
        desk.now += 1;
        let mut state = desk.state(desk.now);
        state.asset_positions[0].position.liquidation_px = Some(liquidation.parse().unwrap());
        desk.step(Input::Account { state, equity: dec!(10000), begun_ms: desk.now });
        let told = protect(&desk.read_orders(desk.now));
        assert_eq!(told["actions"][0]["orders"][0]["t"]["trigger"]["triggerPx"], trigger, "{liquidation}");
    }
}

#[test]
fn only_what_stands_for_the_position_covers_it() {
    let stop = |size: &str| open_stop("ETH", "A", "1950", size, 1);
    let whole = OpenOrder { is_position_tpsl: true, ..stop("0") };
    let limit_stop = OpenOrder { order_type: "Stop Limit".into(), ..stop("1") };
    let target = OpenOrder { order_type: "Take Profit Market".into(), ..stop("1") };
    let other_side = open_stop("ETH", "B", "2050", "1", 1);
    let loose = OpenOrder { reduce_only: false, ..stop("1") };
    for (order, missing) in [
        (stop("1"), None),
        (stop("1.5"), None),
        (whole, None),
        (stop("0.9999"), Some("0.0001")),
        (limit_stop, Some("1")),
        (target, Some("1")),
        (other_side, Some("1")),
        (loose, Some("1")),
        (open_stop("BTC", "A", "1950", "1", 1), Some("1")),
    ] {
        let mut desk = Desk::live();
        desk.orders = vec![order.clone()];
        let told = event(&bare(&mut desk, "ETH", dec!(1)), "protect");
        let size = told.as_ref().and_then(|told| told["actions"][0]["orders"][0]["s"].as_str());
        assert_eq!(size, missing, "{order:?}");
    }
}

#[test]
fn a_stop_that_comes_with_the_fill_is_waited_for() {
    let mut desk = Desk::live();
    desk.now += 100;
    desk.hold("ETH", dec!(1));
    // An orders read that began before the fill was seen proves nothing.
    assert!(event(&desk.read_orders(desk.now - 1), "protect").is_none());
    desk.orders = vec![open_stop("ETH", "A", "1950", "1", 7)];
    desk.now += 50;
    assert!(event(&desk.read_orders(desk.now - 10), "protect").is_none());
    // Not for ever: without a read the position counts as bare.
    let mut desk = Desk::live();
    desk.now += 100;
    desk.hold("ETH", dec!(1));
    desk.now += 2_000;
    assert!(event(&desk.step(Input::Tick), "protect").is_none());
    desk.now += 1;
    assert!(event(&desk.step(Input::Tick), "protect").is_some());
}

#[test]
fn a_stop_that_fired_leaves_nothing_bare_before_the_account_is_read() {
    let mut desk = Desk::live();
    desk.orders = vec![open_stop("ETH", "A", "1950", "1", 7)];
    bare(&mut desk, "ETH", dec!(1));
    desk.now += 100;
    desk.orders.clear();
    assert!(event(&desk.read_orders(desk.now - 5), "protect").is_none());
    desk.now += 100;
    desk.positions.clear();
    assert!(event(&desk.read_account(desk.now - 5), "protect").is_none());
}

#[test]
fn a_stop_on_its_way_is_not_placed_again() {
    let mut desk = Desk::live();
    let told = protect(&bare(&mut desk, "ETH", dec!(1)));
    for _ in 0..5 {
        desk.now += 1_000;
        assert!(event(&desk.read_account(desk.now), "protect").is_none());
        assert!(event(&desk.read_orders(desk.now), "protect").is_none());
    }
    // Accepted, and an orders read that began before that does not show it yet.
    desk.answer(told["seq"].as_u64().unwrap(), 0, statuses(json!([{"resting": {"oid": 500}}])));
    let began = desk.now - 1;
    desk.now += 10;
    assert!(event(&desk.read_orders(began + 1), "protect").is_none_or(|_| false));
    desk.orders = vec![shown(&told["actions"][0], "ETH", 500)];
    desk.now += 10;
    desk.read();
    assert!(sends(&desk.step(Input::Tick)).is_empty());
}

#[test]
fn a_new_stop_follows_the_price_but_never_back() {
    let mut desk = protected("ETH", dec!(1));
    desk.mids.insert("ETH".into(), dec!(2100));
    desk.positions.insert("ETH", dec!(1.5));
    desk.now += 1_000;
    desk.read_account(desk.now);
    let told = protect(&desk.read_orders(desk.now));
    assert_eq!(told["actions"][0]["orders"][0]["t"]["trigger"]["triggerPx"], "2058");
}

#[test]
fn the_guards_stop_goes_when_one_at_least_as_tight_rests() {
    for (trigger, size, goes) in
        [("1960", "1", true), ("1970", "1", true), ("1959.9", "1", false), ("1970", "0.9999", false)]
    {
        let mut desk = protected("ETH", dec!(1));
        desk.orders.push(open_stop("ETH", "A", trigger, size, 600));
        desk.now += 1_000;
        desk.read_account(desk.now);
        let intent = event(&desk.read_orders(desk.now), "intent");
        let cancelled = intent.is_some_and(|intent| intent["action"]["type"] == "cancel");
        assert_eq!(cancelled, goes, "{size} at {trigger}");
    }
}

#[test]
fn a_stop_without_a_position_goes_once_the_account_was_read_after_it() {
    let mut desk = protected("ETH", dec!(1));
    desk.positions.clear();
    desk.now += 500;
    assert!(event(&desk.read_account(desk.now), "intent").is_none(), "one read may be wrong");
    desk.now += 500;
    let effects = desk.read_account(desk.now);
    assert_eq!(event(&effects, "intent").unwrap()["action"]["cancels"], json!([{"a": ETH, "o": 500}]));
    // A stop first seen after the account was read may be that of a fill since.
    let mut desk = Desk::live();
    desk.now += 1_000;
    let guards =
        OpenOrder { cloid: Some(derived_cloid(OrderOwner::Guard, 9, 0)), ..open_stop("ETH", "A", "1960", "1", 500) };
    desk.orders = vec![guards];
    assert!(event(&desk.read_orders(desk.now - 1), "intent").is_none());
    desk.now += 10;
    assert!(event(&desk.read_account(desk.now), "intent").is_some());
}

#[test]
fn a_stop_refused_twice_closes_the_position() {
    let mut desk = Desk::live();
    let told = protect(&bare(&mut desk, "ETH", dec!(1)));
    let of = told["seq"].as_u64().unwrap();
    desk.now += 10;
    desk.answer(of, 0, refusal("Invalid TP/SL price."));
    // Once more at a new price, and not before two seconds are over.
    desk.mids.insert("ETH".into(), dec!(1900));
    desk.now += 1_999;
    desk.read_account(desk.now);
    assert!(event(&desk.read_orders(desk.now), "intent").is_none());
    desk.now += 1;
    let effects = desk.step(Input::Tick);
    let again = event(&effects, "intent").expect("a second try");
    assert_eq!((again["of"].as_u64(), sends(&effects).len()), (Some(of), 1));
    assert_eq!(again["action"]["orders"][0]["t"]["trigger"]["triggerPx"], "1862");
    desk.now += 10;
    desk.answer(again["seq"].as_u64().unwrap(), 0, refusal("Invalid TP/SL price."));
    desk.now += 10;
    desk.read_mids(desk.now);
    desk.read_account(desk.now);
    let effects = desk.read_orders(desk.now);
    let close = event(&effects, "intent").expect("a close");
    let mut order = close["action"]["orders"][0].clone();
    order.as_object_mut().unwrap().remove("c");
    assert_eq!(order, super::wire::close(ETH, false, "1862", "1"));
    assert_eq!((close["of"].as_u64(), &close["nonces"].as_array().unwrap().len()), (Some(of), &1));
    // A refused close is told of, and tried again further from the price.
    desk.now += 10;
    let effects = desk.answer(close["seq"].as_u64().unwrap(), 0, refusal("Order could not immediately match"));
    assert!(event(&effects, "error").unwrap()["text"].as_str().unwrap().starts_with("the close of ETH was refused"));
    desk.now += 1_000;
    desk.read_mids(desk.now);
    desk.read_account(desk.now);
    let close = event(&desk.read_orders(desk.now), "intent").expect("another close");
    assert_eq!(close["action"]["orders"][0]["p"], "1805");
}

#[test]
fn rates_and_silence_are_no_refusals() {
    let outcomes = [
        SendOutcome::Answered(refusal("Too many cumulative requests sent (10001 > 10000)")),
        SendOutcome::Answered(json!({"status": "err", "response": "HTTP 429: rate limited"})),
        SendOutcome::NotSent("the venue answered 429".into()),
        SendOutcome::NoAnswer("timed out".into()),
    ];
    for outcome in outcomes {
        let mut desk = Desk::live();
        let mut seq = protect(&bare(&mut desk, "ETH", dec!(1)))["seq"].as_u64().unwrap();
        for round in 0..6 {
            desk.now += 10;
            desk.step(Input::Sent { intent: seq, index: 0, outcome: outcome.clone() });
            desk.now += 10;
            desk.read_account(desk.now);
            assert!(event(&desk.read_orders(desk.now), "intent").is_none_or(|event| event["action"]["type"] == "noop"));
            desk.now += 8_000;
            let later = [desk.read_account(desk.now), desk.read_orders(desk.now), desk.step(Input::Tick)];
            let is_order = |event: &Value| event["kind"] == "intent" && event["action"]["type"] == "order";
            let next = later.iter().flat_map(events).find(is_order);
            let next = next.unwrap_or_else(|| panic!("not tried again after {outcome:?}, round {round}"));
            assert_eq!(next["action"]["orders"][0]["t"]["trigger"]["tpsl"], "sl", "{outcome:?}, round {round}");
            seq = next["seq"].as_u64().unwrap();
        }
    }
}

#[test]
fn a_full_book_makes_room_for_a_stop_farthest_first_and_cover_stays() {
    let mut desk = Desk::live();
    desk.hold("SOL", dec!(1));
    let far = open("ETH", "A", "3000", "0.1", 1);
    let near = open("ETH", "A", "2001", "0.1", 2);
    desk.show(vec![far, near, open_stop("SOL", "A", "98", "1", 3)]);
    let told = protect(&bare(&mut desk, "ETH", dec!(1)));
    desk.now += 10;
    desk.answer(told["seq"].as_u64().unwrap(), 0, refusal("Too many open orders."));
    desk.now += 10;
    desk.read_account(desk.now);
    let room = event(&desk.read_orders(desk.now), "intent").expect("room");
    assert_eq!(room["of"], told["seq"]);
    assert_eq!(room["action"]["cancels"], json!([{"a": ETH, "o": 1}, {"a": ETH, "o": 2}]), "no cover goes");
    let done = statuses(json!(["success", "success"]));
    desk.answer(room["seq"].as_u64().unwrap(), 0, done);
    desk.orders.drain(..2);
    // The venue said that there is room: the first read after the pause places the stop.
    desk.now += 500;
    let again = event(&desk.read_account(desk.now), "intent").expect("the stop again");
    assert_eq!(again["action"]["orders"][0]["t"]["trigger"]["tpsl"], "sl");
    // Nothing is left that could go: the position is closed.
    desk.now += 10;
    desk.answer(again["seq"].as_u64().unwrap(), 0, refusal("Too many open orders."));
    let closing = (0..4).find_map(|_| {
        desk.now += 600;
        let by_account = event(&desk.read_account(desk.now), "intent");
        by_account.or_else(|| event(&desk.read_orders(desk.now), "intent"))
    });
    assert_eq!(closing.expect("a close")["action"]["orders"][0]["r"], true);
}

#[test]
fn an_old_doubt_holds_up_no_cover() {
    let mut desk = Desk::live();
    let decided = desk.order(buy(ETH, "1990", "0.1"));
    desk.step(Input::Sent { intent: decided.seq(), index: 0, outcome: SendOutcome::NoAnswer("cut".into()) });
    desk.now += 10_000;
    desk.read();
    let told = protect(&bare(&mut desk, "ETH", dec!(1)));
    desk.now += 10;
    desk.answer(told["seq"].as_u64().unwrap(), 0, statuses(json!([{"resting": {"oid": 500}}])));
    desk.orders.push(shown(&told["actions"][0], "ETH", 500));
    desk.now += 10;
    desk.read();
    // What became of the entry is still not known when the position grows.
    desk.now += 500;
    assert!(event(&bare(&mut desk, "ETH", dec!(1.5)), "protect").is_some());
}

#[test]
fn doubt_after_doubt_holds_up_cover_for_two_seconds_at_most() {
    let mut desk = Desk::live();
    let doubt = |desk: &mut Desk, px: u32| {
        let decided = desk.order(buy(ETH, &px.to_string(), "0.01"));
        desk.step(Input::Sent { intent: decided.seq(), index: 0, outcome: SendOutcome::NoAnswer("cut".into()) });
    };
    doubt(&mut desk, 1_980);
    assert!(event(&bare(&mut desk, "ETH", dec!(1)), "protect").is_none());
    for second in 1..=2 {
        desk.now += 1_000;
        doubt(&mut desk, 1_980 + second);
        desk.read_account(desk.now);
        assert!(event(&desk.read_orders(desk.now), "protect").is_none(), "second {second}");
    }
    desk.now += 1;
    protect(&desk.read_account(desk.now));
}

#[test]
fn paper_mode_tells_of_every_change_of_what_is_bare_once() {
    let mut desk = Desk::paper();
    let told = protect(&bare(&mut desk, "ETH", dec!(1)));
    assert_eq!((&told["sent"], told.get("nonces")), (&json!(false), None));
    assert_eq!(told["actions"][0]["orders"][0]["t"]["trigger"]["triggerPx"], "1960");
    desk.wait(1_000);
    desk.positions.insert("ETH", dec!(2));
    desk.wait(1_000);
    assert!(event(&desk.step(Input::Tick), "protect").is_none());
    desk.positions.insert("BTC", dec!(-0.01));
    desk.now += 1_000;
    desk.read_account(desk.now);
    let effects = desk.read_orders(desk.now);
    assert_eq!(protect(&effects)["coins"], json!(["BTC", "ETH"]));
    assert!(sends(&effects).is_empty());
    desk.now += 1_000;
    desk.read_account(desk.now);
    assert!(event(&desk.read_orders(desk.now), "protect").is_none());
}

#[test]
fn while_a_client_cancels_its_stop_the_guards_own_is_not_spare() {
    let mut desk = Desk::live();
    desk.orders = vec![open_stop("ETH", "A", "1960", "1", 7)];
    bare(&mut desk, "ETH", dec!(1));
    let decided = desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}]}));
    let pre = decided.resized().event["pre"][0].clone();
    desk.now += 10;
    desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 500}}])));
    desk.orders.push(shown(&pre, "ETH", 500));
    desk.now += 10;
    desk.read();
    assert!(sends(&desk.step(Input::Tick)).is_empty());
    desk.answer(
        decided.seq(),
        1,
        json!({"status": "ok", "response": {"type": "cancel", "data": {"statuses": ["success"]}}}),
    );
    desk.read_account(desk.now);
    assert!(sends(&desk.step(Input::Tick)).is_empty());
    desk.orders.remove(0);
    desk.now += 10;
    desk.read();
    assert!(sends(&desk.step(Input::Tick)).is_empty());
}
