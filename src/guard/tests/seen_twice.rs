//! One read of the account may be wrong: it closes nothing, and no stop moves to the price for it.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use super::protecting::protected;
use crate::guard::Input;

/// The sizes of the closes and the triggers of the stops that go out once the account was read so.
fn read(desk: &mut Desk, change: &Value) -> (Vec<String>, Vec<String>) {
    desk.now += 600;
    let mut state = desk.state(desk.now);
    let mut position = json!({"coin": "ETH", "szi": "1", "leverage": {"type": "cross", "value": 5}, "entryPx": null,
        "positionValue": "2000", "unrealizedPnl": "0", "liquidationPx": null, "marginUsed": "0"});
    position.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    state.asset_positions[0].position = serde_json::from_value(position).unwrap();
    let mids = desk.read_mids(desk.now);
    let account = desk.step(Input::Account { state, equity: dec!(10000), begun_ms: desk.now });
    let all = [mids, account, desk.read_orders(desk.now), desk.step(Input::Tick)];
    let sent: Vec<Value> = all.iter().flat_map(sends).map(|send| json_of(&send.action)["orders"][0].clone()).collect();
    let orders = sent.into_iter();
    let (stops, closes): (Vec<Value>, Vec<Value>) = orders.partition(|order| !order["t"]["trigger"].is_null());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let trigger = |stop: &Value| text(&stop["t"]["trigger"]["triggerPx"]);
    (closes.iter().map(|close| text(&close["s"])).collect(), stops.iter().map(trigger).collect())
}

fn nothing() -> (Vec<String>, Vec<String>) {
    (Vec::new(), Vec::new())
}

/// The stop is at 1960.
#[test]
fn a_liquidation_price_of_one_read_moves_nothing() {
    for (px, closes, stops) in [("2100", vec!["1"], vec![]), ("1990", vec![], vec!["1991"])] {
        let mut desk = protected("ETH", dec!(1));
        let (usual, near) = (json!({"liquidationPx": "1500"}), json!({"liquidationPx": px}));
        for now in [&usual, &near, &usual, &near] {
            assert_eq!(read(&mut desk, now), nothing(), "{px} once");
        }
        let mut sent = nothing();
        for _ in 0..2 {
            let (more_closes, more_stops) = read(&mut desk, &near);
            sent.0.extend(more_closes);
            sent.1.extend(more_stops);
        }
        assert_eq!(
            sent,
            (closes.into_iter().map(str::to_owned).collect(), stops.into_iter().map(str::to_owned).collect()),
            "{px}"
        );
    }
}

/// Twenty in the place of one, at their old value: the mark would be 100.
#[test]
fn a_mark_of_one_read_closes_nothing() {
    let (usual, wrong) = (json!({}), json!({"szi": "20"}));
    let mut desk = protected("ETH", dec!(1));
    for now in [&usual, &wrong, &usual] {
        assert_eq!(read(&mut desk, now).0, Vec::<String>::new());
    }
}

/// Without a second read a position that has lost its stop, with the price beyond that, is closed all the same.
#[test]
fn what_no_other_read_denies_is_closed() {
    for (after_ms, is_closed) in [(2_499, false), (2_500, true)] {
        let mut desk = protected("ETH", dec!(1));
        desk.orders.clear();
        desk.mids.insert("ETH".into(), dec!(1950));
        desk.wait(600);
        desk.now += after_ms;
        let effects = desk.step(Input::Tick);
        let sent = sends(&effects);
        assert_eq!(sent.iter().any(|send| json_of(&send.action)["orders"][0]["t"]["limit"]["tif"] == "Ioc"), is_closed);
    }
}
