//! One read of the account may be wrong: it closes nothing, and no stop moves to the price for it.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use super::protecting::protected;
use crate::guard::{Effects, Input};
use crate::venue::info::OpenOrder;

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
    let sent = all.iter().flat_map(sends).map(|send| json_of(&send.action));
    let sent: Vec<Value> = sent.filter_map(|action| Some(action.get("orders")?[0].clone())).collect();
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
    // An entry that was judged with a stop of its own: what may have come of it has its line there.
    let child = open_stop("ETH", "A", "1955", "19", 10);
    desk.orders.push(OpenOrder { children: vec![child], ..open("ETH", "B", "1990", "19", 9) });
    desk.read();
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

/// What changed since the open orders were read may have got its stop with the change: it waits for those of after it, and for so
/// long at most.
#[test]
fn what_changed_waits_for_the_orders_of_after_that() {
    for (after_ms, are_read, is_closed) in
        [(2_100, false, false), (2_100, true, true), (2_499, false, false), (2_500, false, true)]
    {
        let mut desk = protected("ETH", dec!(1));
        desk.orders.clear();
        desk.mids.insert("ETH".into(), dec!(1950));
        desk.read_mids(desk.now);
        desk.now += 1_000;
        let bare_ms = desk.now;
        desk.read_orders(bare_ms);
        desk.positions.insert("ETH", dec!(1.1));
        for later_ms in [1, 600] {
            desk.now = bare_ms + later_ms;
            desk.read_account(desk.now);
        }
        desk.now = bare_ms + after_ms;
        let all = [if are_read { desk.read_orders(desk.now) } else { Effects::default() }, desk.step(Input::Tick)];
        let sent = all.iter().flat_map(sends).map(|send| json_of(&send.action));
        let closes = sent.filter(|action| action["orders"][0]["t"]["limit"]["tif"] == "Ioc").count();
        assert_eq!(closes > 0, is_closed, "{after_ms} {are_read}");
    }
}

/// The nearest trigger that the position is known to be covered at.
fn line(desk: &Desk) -> Decimal {
    desk.guard.lines.get(ETH).unwrap().covered_parts().first().unwrap().px
}

/// A long of one whose client's stop at 1960 was shown twice.
fn with_client_stop() -> Desk {
    let mut desk = Desk::live();
    desk.now += 1;
    desk.orders = vec![open_stop("ETH", "A", "1960", "1", 7)];
    desk.hold("ETH", dec!(1));
    desk.wait(500);
    desk.wait(500);
    assert_eq!(line(&desk), dec!(1960));
    desk
}

/// The trigger of the same stop, one stop more, or another size of a small one near the price.
#[test]
fn a_trigger_of_one_read_moves_no_line() {
    let stop = |px: &str, size: &str, oid: u64| open_stop("ETH", "A", px, size, oid);
    let usual = || vec![stop("1960", "1", 7)];
    for wrong in [vec![stop("1990", "1", 7)], vec![stop("1960", "1", 7), stop("1990", "1", 8)]] {
        let mut desk = with_client_stop();
        for (orders, px) in [(&wrong, "1960"), (&usual(), "1960"), (&wrong, "1960"), (&wrong, "1990")] {
            desk.now += 500;
            desk.show(orders.clone());
            assert_eq!(line(&desk), px.parse::<Decimal>().unwrap());
        }
    }
    // Of two that differ the farther one and the smaller size.
    let mut desk = with_client_stop();
    for (px, size, nearest) in [("1990", "1", "1960"), ("1980", "0.5", "1980"), ("1995", "1", "1980")] {
        desk.now += 500;
        desk.show(vec![stop("1960", "1", 7), stop(px, size, 8)]);
        assert_eq!(line(&desk), nearest.parse::<Decimal>().unwrap(), "{px}");
        let parts = desk.guard.lines.get(ETH).unwrap().covered_parts();
        assert!(parts.iter().filter(|part| part.px > dec!(1960)).all(|part| part.size == dec!(0.5)), "{parts:?}");
    }
}

/// The venue's own answer told of it before.
#[test]
fn a_stop_that_the_venue_took_counts_at_once() {
    let mut desk = with_client_stop();
    let placed = desk.order(stop(ETH, false, "1990", "1"));
    desk.answer(placed.seq(), 0, statuses(json!([{"resting": {"oid": 8}}])));
    desk.now += 500;
    let own = placed.sent_order(0)["c"].as_str().unwrap().parse().unwrap();
    let shown = OpenOrder { cloid: Some(own), ..open_stop("ETH", "A", "1990", "1", 8) };
    desk.show(vec![open_stop("ETH", "A", "1960", "1", 7), shown]);
    assert_eq!(line(&desk), dec!(1990));
}
