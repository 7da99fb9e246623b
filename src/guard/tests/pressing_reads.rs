//! Which ends of a send, and which moves of a position, have the open orders read at once: those that may have left it without its
//! stop. Whoever trades must not use up the reads that cover waits for.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Effects, Mode, Read};

fn presses(effects: &Effects) -> bool {
    reads(effects).contains(&&Read::OrdersNow)
}

fn at_once(order: Value) -> Value {
    with(order, "/t/limit/tif", json!("Ioc"))
}

/// A guard that holds 2 ETH under a stop, whose next order was asked for and answered with so much filled; whether each of the answer
/// and the read that shows the position then presses.
fn after(order: Value, filled: &str, held: Decimal) -> [bool; 2] {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", dec!(2));
    desk.show(vec![open_stop("ETH", "A", "1970", "4", 1)]);
    let seq = desk.order(at_once(order)).seq();
    desk.now += 100;
    let answer = json!([{"filled": {"totalSz": filled, "avgPx": "2000.0", "oid": 9}}, "waitingForTrigger"]);
    let answered = desk.answer(seq, 0, statuses(answer));
    desk.now += 100;
    desk.positions.insert("ETH", held);
    [presses(&answered), presses(&desk.read_account(desk.now))]
}

#[test]
fn only_what_may_have_lost_its_stop_presses() {
    let sell = || close(ETH, false, "1990", "1");
    assert_eq!(after(sell(), "1", dec!(1)), [false, false], "a close");
    assert_eq!(after(sell(), "0.4", dec!(1.6)), [false, false], "a part of one");
    assert_eq!(after(buy(ETH, "2000", "1"), "1", dec!(3)), [false, false], "an entry that filled whole");
    assert_eq!(after(buy(ETH, "2000", "1"), "0.4", dec!(2.4)), [true, false], "one that filled in part");
    assert_eq!(after(sell(), "1", dec!(0.9)), [false, true], "something else closed as well");
    assert_eq!(after(close(ETH, false, "1990", "2"), "2", dec!(0)), [false, false], "all of it is closed");
}

/// What is held after is less, and all of it was told: the stops went with what ended in between all the same.
#[test]
fn a_position_that_ended_and_was_opened_anew_presses() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", dec!(2));
    desk.show(vec![open_stop("ETH", "A", "1970", "4", 1)]);
    for (order, filled, oid) in [(close(ETH, false, "1990", "2"), "2", 8), (buy(ETH, "2000", "1"), "1", 9)] {
        let seq = desk.order(at_once(order)).seq();
        desk.now += 10;
        let answer = json!([{"filled": {"totalSz": filled, "avgPx": "2000.0", "oid": oid}}, "waitingForTrigger"]);
        desk.answer(seq, 0, statuses(answer));
    }
    desk.now += 100;
    desk.positions.insert("ETH", dec!(1));
    assert!(presses(&desk.read_account(desk.now)));
    assert_eq!(desk.guard.watch.changed_ms.get(&ETH), Some(&desk.now));
}

/// An entry that filled whole beside its own stop, which the venue refused.
#[test]
fn a_stop_that_was_refused_beside_a_fill_presses() {
    for (second, expected) in [(json!({"error": "Invalid TP/SL price."}), true), (json!("waitingForTrigger"), false)] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        let seq = desk.order(at_once(buy(ETH, "2000", "1"))).seq();
        desk.now += 100;
        let filled = json!({"filled": {"totalSz": "1", "avgPx": "2000.0", "oid": 9}});
        assert_eq!(presses(&desk.answer(seq, 0, statuses(json!([filled, second])))), expected);
    }
}

#[test]
fn a_change_of_a_stop_that_is_refused_or_lost_presses() {
    let refused = statuses(json!([{"error": "Error placing new order during modify."}]));
    let lost = crate::guard::SendOutcome::NoAnswer("timed out".into());
    let taken = statuses(json!([{"resting": {"oid": 9}}]));
    for (outcome, expected) in [
        (crate::guard::SendOutcome::Answered(refused), true),
        (lost, true),
        (crate::guard::SendOutcome::Answered(taken), false),
    ] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        desk.hold("ETH", dec!(2));
        desk.show(vec![open_stop("ETH", "A", "1970", "2", 1)]);
        let intent = desk.ask(modify(1, stop(ETH, false, "1980", "2"))).seq();
        desk.now += 100;
        let effects = desk.step(crate::guard::Input::Sent { intent, index: 0, outcome });
        assert_eq!(presses(&effects), expected);
    }
}

/// What is closed bit by bit puts off no look at a stop that has gone.
#[test]
fn closes_that_were_told_leave_what_is_waited_for_as_it_was() {
    for (told, waits) in [(true, false), (false, true)] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        desk.hold("ETH", dec!(2));
        desk.show(vec![open_stop("ETH", "A", "1970", "2", 1)]);
        let changed = desk.guard.watch.changed_ms.get(&ETH).copied();
        desk.now += 1_000;
        if told {
            let seq = desk.order(at_once(close(ETH, false, "1990", "0.1"))).seq();
            desk.answer(seq, 0, statuses(json!([{"filled": {"totalSz": "0.1", "avgPx": "2000.0", "oid": 9}}])));
        }
        desk.now += 100;
        desk.hold("ETH", dec!(1.9));
        assert_eq!(desk.guard.watch.changed_ms.get(&ETH).copied() != changed, waits, "{told}");
    }
}
