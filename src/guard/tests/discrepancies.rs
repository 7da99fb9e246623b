//! Discrepancies: a contradiction between the venue's answers and its reads is told of, and nothing else is.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Effects, Input, Mode, SendOutcome};

/// A read of the account that began now and shows the block of now, and one of the open orders after it.
fn look(desk: &mut Desk) -> Vec<Effects> {
    desk.now += 100;
    let account = desk.read_account(desk.now);
    desk.now += 100;
    vec![account, desk.read_orders(desk.now)]
}

/// The discrepancies as the alert tells them.
fn told(desk: &Desk) -> Vec<String> {
    let status = desk.guard.status_json(desk.now, (0, 0));
    let alerts = status["alerts"].as_array().unwrap().iter().filter(|alert| alert["code"] == "discrepancy");
    alerts.map(|alert| alert["text"].as_str().unwrap().to_owned()).collect()
}

/// The discrepancies of the last `risk` event among these effects.
fn in_event(effects: &[Effects]) -> Option<Value> {
    let risk = effects.iter().flat_map(events).rfind(|event| event["kind"] == "risk");
    risk.map(|event| event["discrepancies"].clone())
}

fn immediate(order: Value) -> Value {
    with(order, "/t/limit/tif", json!("Ioc"))
}

fn filled(size: &str, oid: u64) -> Value {
    statuses(json!([{"filled": {"totalSz": size, "avgPx": "2000.0", "oid": oid}}, "waitingForTrigger"]))
}

/// A guard whose client's buy of 1 ETH the venue told to have filled.
fn bought() -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let seq = desk.order(immediate(buy(ETH, "2000", "1"))).seq();
    desk.now += 100;
    desk.answer(seq, 0, filled("1.0", 1));
    desk
}

#[test]
fn a_fill_that_no_position_shows_is_told_of_until_one_does() {
    let mut desk = bought();
    let answered_ms = desk.now;
    desk.now = answered_ms + 4_700;
    look(&mut desk);
    assert_eq!(told(&desk), [""; 0], "five seconds are not over");
    desk.now = answered_ms + 5_000;
    let account = desk.read_account(desk.now);
    assert_eq!(
        (told(&desk), in_event(&[account])),
        (vec![], None),
        "no later read of the orders says that nothing left"
    );
    desk.now += 1;
    let orders = desk.read_orders(desk.now);
    let text = "the venue said that 1 ETH were bought, and the account does not show it";
    assert_eq!(in_event(&[orders]), Some(json!([text])));
    assert_eq!(told(&desk), [format!("{text}; compare it with the venue's own page")]);
    assert!(desk.guard.problems(desk.now).iter().any(|problem| problem.contains(text)), "ill health");
    desk.hold("ETH", dec!(1));
    assert_eq!(told(&desk), [""; 0]);
    assert_eq!(in_event(&[desk.read_account(desk.now + 1)]), None, "told once");
}

#[test]
fn the_end_of_it_is_an_event_too() {
    let mut desk = bought();
    desk.now += 5_000;
    look(&mut desk);
    assert_eq!(told(&desk).len(), 1);
    desk.positions.insert("ETH", dec!(1));
    assert_eq!(in_event(&look(&mut desk)), Some(json!([])));
}

#[test]
fn a_close_that_no_position_shows_is_told_of() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.orders = vec![open_stop("ETH", "A", "1960", "1", 9)];
    desk.positions.insert("ETH", dec!(1));
    desk.read();
    let seq = desk.order(close(ETH, false, "1990", "1")).seq();
    desk.answer(seq, 0, filled("1.0", 2));
    desk.now += 5_000;
    look(&mut desk);
    assert_eq!(told(&desk).len(), 1);
    assert!(told(&desk)[0].starts_with("the venue said that 1 ETH were sold,"), "{:?}", told(&desk));
}

/// What may have undone the fill, or is not known, is no contradiction.
#[test]
fn what_something_else_may_explain_is_not_told_of() {
    // The whole is shown, at once or in parts, or set off by a close that was told as well.
    let mut desk = bought();
    desk.hold("ETH", dec!(0.4));
    desk.now += 2_000;
    desk.hold("ETH", dec!(1));
    desk.now += 5_000;
    look(&mut desk);
    assert_eq!(told(&desk), [""; 0]);
    let mut desk = bought();
    let seq = desk.order(close(ETH, false, "1990", "1")).seq();
    desk.answer(seq, 0, filled("1.0", 2));
    desk.now += 6_000;
    look(&mut desk);
    assert_eq!(told(&desk), [""; 0]);
    // An order left the market: it may have filled against it, also where the read that shows that comes later.
    for first in [true, false] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        desk.show(vec![open_stop("ETH", "A", "1960", "1", 9)]);
        let seq = desk.order(immediate(buy(ETH, "2000", "1"))).seq();
        desk.answer(seq, 0, filled("1.0", 1));
        desk.orders.clear();
        desk.now += 5_000;
        if first {
            desk.read_orders(desk.now);
        }
        look(&mut desk);
        assert_eq!(told(&desk), [""; 0], "{first}");
    }
    // Another action in the market is in doubt.
    let mut desk = bought();
    let seq = desk.order(sell(ETH, "2000", "1")).seq();
    desk.step(Input::Sent { intent: seq, index: 0, outcome: SendOutcome::NoAnswer("time-out".into()) });
    desk.now += 5_000;
    look(&mut desk);
    assert_eq!(told(&desk), [""; 0]);
}

#[test]
fn a_fill_that_is_never_shown_is_told_of_for_ten_minutes() {
    let mut desk = bought();
    desk.now += 5_000;
    look(&mut desk);
    let begun = desk.now - 100;
    for (after_ms, count) in [(599_999, 1), (600_000, 0)] {
        desk.now = begun + after_ms;
        desk.read_account(desk.now);
        assert_eq!(told(&desk).len(), count, "{after_ms}");
    }
}

#[test]
fn an_order_that_goes_on_resting_is_told_of_until_it_is_gone() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![open("ETH", "B", "1900", "1", 5)]);
    let cancel = json!({"type": "cancel", "cancels": [{"a": ETH, "o": 5}]});
    let seq = desk.ask(cancel).seq();
    desk.now += 100;
    desk.answer(seq, 0, json!({"status": "ok", "response": {"type": "cancel", "data": {"statuses": ["success"]}}}));
    let answered_ms = desk.now;
    for (after_ms, count) in [(29_999, 0), (30_000, 1)] {
        desk.now = answered_ms + after_ms;
        desk.read_orders(desk.now);
        assert_eq!(told(&desk).len(), count, "{after_ms}");
    }
    assert!(told(&desk)[0].starts_with("the venue said that order 5 in ETH is cancelled,"), "{:?}", told(&desk));
    desk.orders.clear();
    assert_eq!(in_event(&look(&mut desk)), Some(json!([])));
    assert_eq!(told(&desk), [""; 0]);
    assert_eq!(desk.guard.view.position(ETH), Decimal::ZERO);
}
