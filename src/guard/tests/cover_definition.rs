//! Cover has one definition: whoever asks what a stop covers gets the same answer.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::state::cover::total;
use crate::guard::state::standing_stops::stops_for;
use crate::guard::{Input, Mode, SendOutcome};
use crate::venue::info::OpenOrder;
use crate::venue::side::PositionSide;

fn long(szi: Decimal, orders: Vec<OpenOrder>) -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", szi);
    desk.show(orders);
    desk
}

fn guards(mut order: OpenOrder) -> OpenOrder {
    order.cloid = Some("0x73766367726401000000000000000001".parse().unwrap());
    order
}

fn positions(mut order: OpenOrder) -> OpenOrder {
    order.is_position_tpsl = true;
    order
}

fn cancel(oid: u64) -> Value {
    json!({"type": "cancel", "cancels": [{"a": ETH, "o": oid}]})
}

fn grouped(orders: Vec<Value>, grouping: &str) -> Value {
    json!({"type": "order", "orders": orders, "grouping": grouping})
}

/// How much of a long the stops of clients cover; the guard places its own beside them.
fn covered(desk: &Desk, held: Decimal) -> Decimal {
    let stops = stops_for(&desk.guard, 1, PositionSide::Long);
    total(stops.iter().filter(|stop| !stop.is_own).map(|stop| stop.size), held).min(held)
}

/// The order ids that the actions after the client's own cancel.
fn released(decided: &Decided) -> Vec<u64> {
    let posts = decided.event["post"].as_array().unwrap().iter();
    let cancels = posts.flat_map(|post| post["cancels"].as_array().cloned().unwrap_or_default());
    cancels.map(|cancel| cancel["o"].as_u64().unwrap()).collect()
}

#[test]
fn a_sized_stop_of_the_position_covers_its_size_alone() {
    // What is left covers 0.01 of 2, so nearly all of the stop that goes is put first.
    for (left, missing) in [("0.01", Some("1.99")), ("2", None), ("0", None)] {
        let orders = vec![open_stop("ETH", "A", "1950", "2", 2), positions(open_stop("ETH", "A", "1950", left, 3))];
        let decided = long(dec!(2), orders).ask(cancel(2));
        let first = decided.event["pre"].as_array().unwrap().first().map(|action| action["orders"][0]["s"].clone());
        assert_eq!(first, missing.map(|size| json!(size)), "{left}");
    }
}

#[test]
fn the_child_of_an_entry_releases_nothing_before_the_entry_fills() {
    let child = stop(ETH, false, "1970", "2");
    let orders = || vec![guards(open_stop("ETH", "A", "1960", "2", 2))];
    let entry = with(buy(ETH, "1990", "0.01"), "/t/limit/tif", json!("Alo"));
    let waiting = long(dec!(2), orders()).ask(grouped(vec![entry, child.clone()], "normalTpsl"));
    assert_eq!(released(&waiting), [] as [u64; 0], "{}", waiting.event);
    for grouping in ["na", "positionTpsl"] {
        assert_eq!(released(&long(dec!(2), orders()).ask(grouped(vec![child.clone()], grouping))), [2], "{grouping}");
    }
}

#[test]
fn only_a_whole_position_stop_without_a_size_releases_a_larger_one() {
    let orders = || vec![guards(open_stop("ETH", "A", "1960", "2", 2))];
    for (grouping, size, freed) in
        [("positionTpsl", "0", true), ("positionTpsl", "1.9999", false), ("na", "2", true), ("na", "1.9999", false)]
    {
        let decided = long(dec!(2), orders()).ask(grouped(vec![stop(ETH, false, "1970", size)], grouping));
        assert_eq!(!released(&decided).is_empty(), freed, "{grouping} {size}: {}", decided.event);
    }
}

#[test]
fn a_stop_counts_from_the_moment_it_is_sent_until_it_is_refused_or_cancelled() {
    let mut desk = long(dec!(2), vec![]);
    let asked = desk.ask(grouped(vec![stop(ETH, false, "1970", "2")], "na"));
    assert_eq!(covered(&desk, dec!(2)), dec!(2), "on its way");
    desk.answer(asked.seq(), 0, statuses(json!([{"resting": {"oid": 7}}])));
    assert_eq!(covered(&desk, dec!(2)), dec!(2), "accepted, and no read has shown it");
    // A cancel by an id that only the reply has told takes it away as one by any other name.
    desk.post(cancel(7));
    assert_eq!(covered(&desk, dec!(2)), dec!(0), "a cancel of it is on its way");

    let mut desk = long(dec!(2), vec![]);
    let asked = desk.ask(grouped(vec![stop(ETH, false, "1970", "2")], "na"));
    desk.answer(asked.seq(), 0, statuses(json!([{"error": "Invalid TP/SL price. asset=1"}])));
    assert_eq!(covered(&desk, dec!(2)), dec!(0), "refused");
}

#[test]
fn a_stop_sent_again_without_the_builder_counts_as_the_first_did() {
    let mut desk = long(dec!(2), vec![]);
    let builder = json!({"b": "0x8c967e73e7b15087c42a10d344cff4c96d877f1d", "f": 10});
    let asked = desk.ask(with(grouped(vec![stop(ETH, false, "1970", "2")], "na"), "/builder", builder));
    desk.answer(asked.seq(), 0, statuses(json!([{"error": "Builder fee has not been approved"}])));
    assert_eq!(covered(&desk, dec!(2)), dec!(2));
}

#[test]
fn a_stop_that_was_surely_not_sent_covers_nothing() {
    let mut desk = long(dec!(2), vec![]);
    let asked = desk.ask(grouped(vec![stop(ETH, false, "1970", "2")], "na"));
    let outcome = SendOutcome::NotSent("no connection".to_owned());
    desk.step(Input::Sent { intent: asked.seq(), index: 0, outcome });
    assert_eq!(covered(&desk, dec!(2)), dec!(0));
}
