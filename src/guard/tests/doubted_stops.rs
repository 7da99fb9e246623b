//! Stops that may have fired while the open orders cannot be read: each counts for five seconds more, and is missing then.

use rust_decimal::{Decimal, dec};
use serde_json::json;

use super::covering_line::{client_stop, closes, desk, stops};
use super::fixture::*;
use crate::guard::Read;

/// So many seconds of reads of everything but the open orders; how much the guard sent for cover.
fn blind(desk: &mut Desk, seconds: u64, marks: &[Decimal]) -> usize {
    let mut sent = 0;
    for second in 0..seconds {
        desk.now += 1_000;
        let mark = marks.get(usize::try_from(second).unwrap()).or(marks.last());
        mark.into_iter().for_each(|mark| _ = desk.mids.insert("ETH".to_owned(), *mark));
        desk.read_mids(desk.now);
        let effects = desk.read_account(desk.now);
        sent += closes(&effects).len() + stops(&effects).len();
    }
    sent
}

/// A client's stop for all of a position of 1, which the venue says to have.
fn place_stop(desk: &mut Desk, px: &str) {
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": px, "tpsl": "sl"}});
    let order = json!({"a": ETH, "b": false, "p": "1900", "s": "1", "r": true, "t": trigger});
    let decided = desk.order(order);
    desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 9}}])));
}

#[test]
fn one_that_the_mark_has_come_to_covers_for_a_while_only() {
    let back = dec!(2000);
    for (marks, seconds, is_read_again, is_missing) in [
        ([dec!(1980), back], 5, false, false),
        ([dec!(1980), back], 6, false, true),
        ([dec!(1980), back], 20, true, false),
        ([dec!(1980.1), back], 20, false, false),
        ([dec!(1979), dec!(1980)], 20, false, true),
    ] {
        let (mut desk, _) = desk(wide(), dec!(1), vec![client_stop("1980", "1")]);
        let mut sent = blind(&mut desk, 1, &marks[..1]);
        if is_read_again {
            desk.now += 1;
            desk.read_orders(desk.now);
        }
        sent += blind(&mut desk, seconds - 1, &marks[1..]);
        assert_eq!(sent > 0, is_missing, "{marks:?} {seconds} {is_read_again}");
    }
}

/// While the price falls on, each read shows a worse mark: the first that came to the stop counts.
#[test]
fn a_price_that_falls_on_makes_no_fired_stop_younger() {
    let (mut desk, _) = desk(wide(), dec!(1), vec![client_stop("1980", "1")]);
    let falling: Vec<Decimal> = (0..8).map(|second| dec!(1980) - Decimal::from(second) / dec!(10)).collect();
    assert!(blind(&mut desk, 8, &falling) > 0);
}

/// What a stop has to outlive is a mark of after it: an earlier one that went farther says nothing of it, nor hides a later one.
#[test]
fn a_stop_that_came_after_a_deeper_mark_is_doubted_by_its_own() {
    for (low, is_missing) in [(dec!(1985), true), (dec!(1985.1), false)] {
        let (mut desk, _) = desk(wide(), dec!(1), vec![client_stop("1970", "1")]);
        assert_eq!(blind(&mut desk, 2, &[dec!(1975), dec!(2000)]), 0);
        place_stop(&mut desk, "1985");
        assert_eq!(blind(&mut desk, 10, &[dec!(2000)]), 0);
        assert_eq!(blind(&mut desk, 10, &[low, dec!(2000)]) > 0, is_missing, "{low}");
    }
}

/// A read that takes long may show the mark of after the stop.
#[test]
fn a_mark_of_a_read_that_began_before_the_stop_was_known_counts() {
    let (mut desk, _) = desk(wide(), dec!(1), vec![client_stop("1970", "1")]);
    let begun_ms = desk.now + 1;
    desk.now += 1_000;
    place_stop(&mut desk, "1985");
    desk.mids.insert("ETH".to_owned(), dec!(1984));
    desk.now += 1_000;
    desk.read_account(begun_ms);
    assert!(blind(&mut desk, 10, &[dec!(2000)]) > 0);
}

/// Prices are read now and then: a stop that fired in between, in a thin book, shows by what is held alone. What the venue told
/// to have filled takes no stop along.
#[test]
fn less_that_nothing_tells_of_is_a_stop_that_may_have_fired() {
    for (told, is_missing) in [("0.2", false), ("0.1", true), ("", true)] {
        let (mut desk, _) = desk(wide(), dec!(1), vec![client_stop("1980", "1")]);
        if !told.is_empty() {
            let close = desk.order(close(ETH, false, "1990", told));
            desk.answer(close.seq(), 0, statuses(json!([{"filled": {"totalSz": told, "avgPx": "2000", "oid": 9}}])));
        }
        desk.now += 10;
        desk.hold("ETH", dec!(0.8));
        assert_eq!(blind(&mut desk, 10, &[dec!(2000)]) > 0, is_missing, "{told:?}");
    }
}

/// A stop that fired in a thin book leaves the position as it was: nothing but the open orders tells that it is gone. One that stands
/// where the mark is fires within the moment, so that they are read a few times more.
#[test]
fn the_open_orders_are_read_once_the_mark_comes_to_a_stop() {
    for (size, stop, at, short_of) in
        [(dec!(1), ("A", "1980"), dec!(1980), dec!(1980.1)), (dec!(-1), ("B", "2020"), dec!(2020), dec!(2019.9))]
    {
        let (mut desk, _) = desk(wide(), size, vec![open_stop("ETH", stop.0, stop.1, "1", 7)]);
        let asked_after = |desk: &mut Desk, after_ms: u64, mark: Decimal| {
            desk.now += after_ms;
            desk.mids.insert("ETH".to_owned(), mark);
            reads(&desk.read_account(desk.now)).contains(&&Read::OrdersNow)
        };
        let is_asked = |desk: &mut Desk, mark: Decimal| asked_after(desk, 1_000, mark);
        // Five times each time that it comes there, whether the stop stands there still or nothing is known of it.
        assert!(!is_asked(&mut desk, dec!(2000)) && !is_asked(&mut desk, short_of));
        for is_read_between in [false, true] {
            assert!(asked_after(&mut desk, 1_000, at), "{is_read_between}");
            for after_ms in [899, 1] {
                assert_eq!(asked_after(&mut desk, after_ms, at), after_ms == 1, "{is_read_between} {after_ms}");
            }
            for is_due in [true, true, true, false, false] {
                if is_read_between {
                    desk.now += 1;
                    desk.read_orders(desk.now);
                }
                assert_eq!(is_asked(&mut desk, at), is_due, "{is_read_between}");
            }
            assert!(!is_asked(&mut desk, short_of), "{is_read_between}");
        }
    }
}

/// The guard's own goes in front of a cancel for all that the stops leave which surely stand.
#[test]
fn a_stop_that_may_have_fired_frees_no_other_for_a_cancel() {
    let (far, near) = (("1950", "0.4"), ("1980", "0.6"));
    for (marks, is_read_again, first) in [
        (vec![dec!(1980)], false, vec![far, near]),
        (vec![dec!(1980), dec!(2000)], false, vec![far, near]),
        (vec![dec!(1980.1)], false, vec![far]),
        (vec![dec!(1980)], true, vec![far]),
    ] {
        let nearer = open_stop("ETH", "A", near.0, near.1, 8);
        let (mut desk, _) = desk(wide(), dec!(1), vec![client_stop("1950", "1"), nearer]);
        for mark in &marks {
            desk.now += 1_000;
            desk.mids.insert("ETH".to_owned(), *mark);
            desk.read_mids(desk.now);
            desk.read_account(desk.now);
        }
        if is_read_again {
            desk.now += 1;
            desk.read_orders(desk.now);
        }
        let decided = desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}]}));
        let pre = decided.resized().event["pre"].as_array().unwrap().iter().map(|action| &action["orders"][0]);
        let stops: Vec<_> = pre.map(|order| [&order["t"]["trigger"]["triggerPx"], &order["s"]]).collect();
        let first: Vec<_> = first.into_iter().map(|(px, size)| [json!(px), json!(size)]).collect();
        assert_eq!(json!(stops), json!(first), "{marks:?} {is_read_again}");
    }
}
