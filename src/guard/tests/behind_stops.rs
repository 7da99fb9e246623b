//! Positions and resting entries lose as much as their stops let them lose: also where those are not among the open orders that
//! were read.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::Mode;
use crate::rules::Rules;

/// Rules that let a market lose 200.
fn desk() -> Desk {
    Desk::new(Mode::Testnet, Rules { loss_per_trade: dec!(2), ..wide() })
}

fn group(entry: Value, stop: Value, grouping: &str) -> Value {
    json!({"type": "order", "orders": [entry, stop], "grouping": grouping})
}

fn ioc(order: Value) -> Value {
    with(order, "/t/limit/tif", json!("Ioc"))
}

/// How much of two bought at 2000 with a stop at 1960 may go: each loses 40.
fn room(desk: &mut Desk) -> Decimal {
    let decided = desk.ask(group(ioc(buy(ETH, "2000", "2")), stop(ETH, false, "1960", "2"), "normalTpsl"));
    decided.sent_order(0)["s"].as_str().unwrap_or("0").parse().unwrap()
}

/// The guard's own stop goes where the client's stood, and no read has shown it.
#[test]
fn what_a_cancel_leaves_loses_as_much_as_before() {
    for (px, left) in [("1900", dec!(1)), ("1910", dec!(1.4)), ("1990", dec!(2))] {
        for answers in 0..3 {
            let mut desk = desk();
            desk.now += 10;
            desk.hold("ETH", dec!(1.6));
            desk.show(vec![open_stop("ETH", "A", px, "1.6", 7)]);
            let cancel = desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}]}));
            for (index, status) in
                [json!({"resting": {"oid": 9}}), json!("success")].into_iter().enumerate().take(answers)
            {
                desk.answer(cancel.seq(), index, statuses(json!([status])));
            }
            assert_eq!(room(&mut desk), left, "{px} after {answers} answers");
        }
    }
}

/// A fill that the account shows before the open orders do.
#[test]
fn what_was_just_opened_loses_as_much_as_it_was_judged_with() {
    for (px, left) in [("1900", dec!(1)), ("1910", dec!(1.4))] {
        let mut desk = desk();
        desk.now += 10;
        let entry = desk.ask(group(ioc(buy(ETH, "2000", "1.6")), stop(ETH, false, px, "1.6"), "normalTpsl"));
        let filled = json!({"filled": {"totalSz": "1.6", "avgPx": "2000", "oid": 7}});
        desk.answer(entry.seq(), 0, statuses(json!([filled, "waitingForTrigger"])));
        desk.now += 10;
        desk.hold("ETH", dec!(1.6));
        assert_eq!(room(&mut desk), left, "{px}");
    }
}

/// An entry that rests with a stop beside it, which is not its child.
#[test]
fn what_rests_loses_as_much_as_it_was_judged_with() {
    for (px, left) in [("1895", dec!(1.2)), ("1900", dec!(1.4))] {
        for reads in 0..3 {
            let mut desk = desk();
            desk.now += 10;
            let entry = desk.ask(group(buy(ETH, "1990", "1.6"), stop(ETH, false, px, "1.6"), "na"));
            desk.answer(entry.seq(), 0, statuses(json!([{"resting": {"oid": 7}}, {"resting": {"oid": 8}}])));
            for _ in 0..reads {
                desk.now += 10;
                desk.read_account(desk.now);
                desk.show(vec![open("ETH", "B", "1990", "1.6", 7), open_stop("ETH", "A", px, "1.6", 8)]);
            }
            assert_eq!(room(&mut desk), left, "{px} after {reads} reads");
        }
    }
}
