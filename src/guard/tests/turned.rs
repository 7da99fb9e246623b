//! Positions that turn around, grow or shrink between two reads: what is known of them by answers alone.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::covering_line::{client_stop, closes, desk, stops};
use super::fixture::*;
use crate::guard::{Effects, Mode};
use crate::rules::Rules;
use crate::venue::info::OpenOrder;

fn ioc(order: Value) -> Value {
    with(order, "/t/limit/tif", json!("Ioc"))
}

fn cancel(oid: u64) -> Value {
    json!({"type": "cancel", "cancels": [{"a": ETH, "o": oid}]})
}

fn filled(size: &str, oid: u64) -> Value {
    statuses(json!([{"filled": {"totalSz": size, "avgPx": "2000", "oid": oid}}]))
}

/// Size and trigger of each stop that goes in front of a cancel.
fn in_front(decided: &Decided) -> Vec<(String, String)> {
    let pre = decided.event["pre"].as_array().unwrap().iter().map(|action| action["orders"][0].clone());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    pre.map(|order| (text(&order["s"]), text(&order["t"]["trigger"]["triggerPx"]))).collect()
}

/// The venue takes the stops of a side away that has ended, and the open orders are read a moment later.
#[test]
fn a_stop_from_before_a_side_may_have_ended_is_no_cover_to_go_by() {
    for (closed, counts) in [("0.9999", true), ("1", false)] {
        let (mut desk, _) =
            desk(wide(), dec!(1), vec![client_stop("1980", "4"), open_stop("ETH", "A", "1970", "4", 8)]);
        let close = desk.order(close(ETH, false, "1990", closed));
        desk.answer(close.seq(), 0, filled(closed, 9));
        let entry = desk.order(ioc(buy(ETH, "2000", "1")));
        desk.answer(entry.seq(), 0, filled("1", 10));
        let sizes = in_front(&desk.ask(cancel(8)));
        assert_eq!(sizes.is_empty(), counts, "{closed}: {sizes:?}");
    }
}

/// The venue takes the stops of a side away that has ended: those that were read, or answered, before that cover nothing of the
/// position that comes next, until the open orders are read again.
#[test]
fn a_stop_from_before_a_position_ended_is_no_cover_of_the_next() {
    for (between, is_read_again, counts) in
        [(dec!(0.0001), false, true), (dec!(0), false, false), (dec!(0), true, true), (dec!(-1), false, false)]
    {
        let (mut desk, _) =
            desk(wide(), dec!(1), vec![client_stop("1980", "4"), open_stop("ETH", "A", "1970", "4", 8)]);
        for szi in [between, dec!(1)] {
            desk.now += 10;
            desk.hold("ETH", szi);
        }
        if is_read_again {
            desk.now += 10;
            desk.read_orders(desk.now);
        }
        let sizes = in_front(&desk.ask(cancel(8)));
        assert_eq!(sizes.is_empty(), counts, "{between} {is_read_again}: {sizes:?}");
    }
}

/// The same where no read has shown the one that ended: it was opened and closed between two of them, or turned within one.
#[test]
fn a_stop_of_a_position_that_no_read_has_shown_is_no_cover_of_the_next() {
    for (opened, closed, counts) in [("1", "1", false), ("1", "", true)] {
        let (mut desk, _) =
            desk(wide(), dec!(0), vec![client_stop("1980", "4"), open_stop("ETH", "A", "1970", "4", 8)]);
        let sell = ioc(with(sell(ETH, "2000", closed), "/r", json!(true)));
        let orders = [(ioc(buy(ETH, "2000", opened)), opened), (sell, closed)];
        for (oid, (order, size)) in (9..).zip(orders.into_iter().filter(|(_, size)| !size.is_empty())) {
            let decided = desk.order(order);
            desk.now += 10;
            desk.answer(decided.seq(), 0, filled(size, oid));
        }
        for szi in [dec!(0), dec!(1)].into_iter().filter(|szi| !counts || !szi.is_zero()) {
            desk.now += 10;
            desk.hold("ETH", szi);
        }
        let sizes = in_front(&desk.ask(cancel(8)));
        assert_eq!(sizes.is_empty(), counts, "{closed}: {sizes:?}");
    }
}

/// A cancel that was decided on with a stop of the guard's in front of it, which the venue takes now.
fn cancel_under_way(szi: Decimal, size: &str) -> (Desk, u64) {
    let (mut desk, _) = desk(wide(), szi, vec![client_stop("1980", size)]);
    let decided = desk.ask(cancel(7));
    assert_eq!(in_front(&decided), [(szi.abs().to_string(), "1980".to_owned())]);
    (desk, decided.seq())
}

fn cancels(effects: &Effects) -> usize {
    sends(effects).iter().filter(|send| json_of(&send.action)["type"] == "cancel").count()
}

#[test]
fn a_cancel_takes_no_more_than_what_went_in_front_of_it_stands_for() {
    let sizes = ["1", "2"].into_iter();
    let held = [dec!(1), dec!(0.4), dec!(0), dec!(1.0001)];
    for (size, now_held) in sizes.flat_map(|size| held.map(|held| (size, held))) {
        let goes = now_held <= dec!(1);
        let (mut desk, seq) = cancel_under_way(dec!(1), size);
        desk.now += 100;
        desk.hold("ETH", now_held);
        let effects = desk.answer(seq, 0, statuses(json!([{"resting": {"oid": 9}}])));
        assert_eq!(cancels(&effects), usize::from(goes), "{now_held}, stop of {size}");
        if !goes {
            let told = answers(&effects).pop().unwrap();
            assert!(told.to_string().contains("the position changed"), "{told}");
            assert!(events(&effects).iter().any(|event| event["kind"] == "done"));
        }
    }
}

/// A guess of the id that the venue gives the guard's own stop, sent before: what went in front stands for nothing.
#[test]
fn a_cancel_stays_behind_where_the_stop_in_front_of_it_is_taken_as_well() {
    for (guess, goes) in [(9, false), (10, true)] {
        let (mut desk, _) = desk(wide(), dec!(1), vec![client_stop("1980", "1")]);
        let guessed = desk.ask(cancel(guess));
        let decided = desk.ask(cancel(7));
        desk.answer(guessed.seq(), 0, statuses(json!(["success"])));
        let effects = desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 9}}])));
        assert_eq!(cancels(&effects), usize::from(goes), "{guess}");
    }
}

/// Cover in many small parts: what goes in front of their cancel stands for all of them, and is none beside them.
#[test]
fn a_cancel_of_many_small_stops_goes_while_the_position_has_not_grown() {
    for (now_held, goes) in [(dec!(1), true), (dec!(1.0001), false)] {
        let small = (0..10).map(|at| OpenOrder { oid: 20 + at, ..client_stop(&format!("198{at}"), "0.05") });
        let all: Vec<OpenOrder> = [client_stop("1980", "1")].into_iter().chain(small).collect();
        let (mut desk, _) = desk(wide(), dec!(1), all);
        let named: Vec<Value> = (20..30).map(|oid| json!({"a": ETH, "o": oid})).collect();
        let decided = desk.ask(json!({"type": "cancel", "cancels": named}));
        assert!(!in_front(&decided).is_empty());
        desk.now += 100;
        desk.hold("ETH", now_held);
        let mut last = Effects::default();
        for index in 0..in_front(&decided).len() {
            last = desk.answer(decided.seq(), index, statuses(json!([{"resting": {"oid": 90 + index}}])));
        }
        assert_eq!(cancels(&last), usize::from(goes), "{now_held}");
    }
}

/// The position is on the other side by now: what went in front was refused, and the cancel names that side's cover.
#[test]
fn a_cancel_takes_no_cover_of_the_other_side() {
    for (size, goes) in [("0.5", false), ("0", true)] {
        let (mut desk, _) =
            desk(wide(), dec!(0.1), vec![client_stop("1980", "0.1"), open_stop("ETH", "B", "2020", size, 8)]);
        let decided = desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}, {"a": ETH, "o": 8}]}));
        desk.now += 100;
        desk.hold("ETH", dec!(-0.5));
        let refused = statuses(json!([{"error": "Reduce only order would increase position. asset=1"}]));
        assert_eq!(cancels(&desk.answer(decided.seq(), 0, refused)), usize::from(goes), "{size}");
    }
}

/// What a read showed of a close before its answer came is out of the line already.
#[test]
fn a_close_that_a_read_showed_before_its_answer_is_taken_out_of_the_line_once() {
    for is_read_first in [false, true] {
        let (mut desk, _) = desk(Rules::default(), dec!(1), vec![client_stop("1980", "1")]);
        desk.orders.clear();
        desk.mids.insert("ETH".into(), dec!(1970));
        desk.wait(1_000);
        desk.now += 500;
        let effects = desk.read_account(desk.now);
        assert_eq!(closes(&effects), [json!("1")]);
        let (intent, index) = sends(&effects).first().map(|send| (send.intent, send.index)).unwrap();
        desk.now += 10;
        if is_read_first {
            desk.hold("ETH", dec!(0.6));
        }
        desk.answer(intent, index, filled("0.4", 9));
        desk.now += 10;
        desk.hold("ETH", dec!(0.6));
        let left: Decimal = desk.guard.lines.get(ETH).unwrap().covered_parts().iter().map(|part| part.size).sum();
        assert_eq!(left, dec!(0.6), "{is_read_first}");
    }
}

/// Whether an unmarked sale of the whole position goes as the close that it is.
fn is_close(desk: &mut Desk, size: &str) -> bool {
    let decided = desk.order(ioc(sell(ETH, "1990", size)));
    decided.sent_order(0)["r"] == true && decided.sent_order(0)["s"] == size
}

/// A resting exit that a modify replaced, or that the position has moved by, is to close nothing any more.
#[test]
fn an_exit_that_is_known_to_be_gone_closes_nothing_twice() {
    let resting = || OpenOrder { reduce_only: true, ..open("ETH", "A", "2010", "1", 7) };
    let desk_with = || {
        let mut desk = Desk::new(Mode::Testnet, wide());
        desk.now += 10;
        desk.hold("ETH", dec!(1));
        desk.show(vec![resting()]);
        desk.now += 10;
        desk
    };
    assert!(!is_close(&mut desk_with(), "1"), "while it rests");
    for is_replaced in [true, false] {
        let mut desk = desk_with();
        let decided = desk.ask(modify(7, stop(ETH, false, "1980", "1")));
        let status = if is_replaced { json!({"resting": {"oid": 8}}) } else { json!({"error": "no"}) };
        desk.answer(decided.seq(), 0, statuses(json!([status])));
        desk.now += 10;
        desk.read_account(desk.now);
        desk.now += 10;
        desk.show(vec![open_stop("ETH", "A", "1980", "1", 8)]);
        assert_eq!(is_close(&mut desk, "1"), is_replaced);
    }
    for (left, is_explained) in [(dec!(0.5), true), (dec!(0.4), false)] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        desk.now += 10;
        desk.hold("ETH", dec!(1.5));
        desk.show(vec![resting()]);
        desk.now += 10;
        desk.hold("ETH", left);
        desk.now += 10;
        desk.show(Vec::new());
        assert_eq!(is_close(&mut desk, &left.to_string()), is_explained, "{left}");
    }
}

/// What a modify by client order id places has that id too: the answer says nothing of when it goes.
#[test]
fn what_a_modify_placed_counts_until_the_account_is_read_after_it_went() {
    let resting = |side: &str, oid: u64| {
        let id = cloid(5).as_str().unwrap().parse().unwrap();
        OpenOrder { cloid: Some(id), ..open("ETH", side, "1990", "2", oid) }
    };
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![resting("B", 7)]);
    let order = with(buy(ETH, "1990", "2"), "/c", cloid(5));
    let decided = desk.ask(json!({"type": "modify", "oid": cloid(5), "order": order}));
    desk.now += 10;
    desk.show(vec![resting("B", 8)]);
    desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 8}}])));
    desk.now += 10;
    desk.read_account(desk.now);
    desk.now += 10;
    desk.show(Vec::new());
    let exposure = desk.guard.status_json(desk.now, (0, 0))["risk"]["exposure"].clone();
    assert_eq!(exposure, json!("3980"), "it may have filled since");
}

/// The venue took the stops of the position that ended. While the open orders cannot be read, one that was there before counts
/// for five seconds more as cover of the next position, and not after that.
#[test]
fn a_stop_from_before_a_position_ended_covers_the_next_for_a_while_only() {
    for (after_ms, is_read_again, is_placed) in
        [(4_999, false, false), (5_000, false, true), (5_000, true, false), (60_000, false, true)]
    {
        let (mut desk, _) = desk(wide(), dec!(1), vec![client_stop("1980", "1")]);
        desk.now += 10;
        desk.hold("ETH", dec!(0));
        let ended_ms = desk.now;
        desk.now += 10;
        desk.hold("ETH", dec!(1));
        if is_read_again {
            desk.read_orders(desk.now);
        }
        desk.now = ended_ms + after_ms;
        desk.read_mids(desk.now);
        let placed = stops(&desk.read_account(desk.now));
        assert_eq!(placed.len(), usize::from(is_placed), "{after_ms} {is_read_again}: {placed:?}");
    }
}
