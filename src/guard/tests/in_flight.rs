//! Sent orders count from the decision until reads that began after the answer show their outcome.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::base::address::Cloid;
use crate::guard::{Effects, Input, Mode, Read, SendOutcome};
use crate::venue::info::OpenOrder;

/// Gross exposure as the guard counts it, USDC.
fn exposure(desk: &Desk) -> Decimal {
    desk.guard.status_json(desk.now, (0, 0))["risk"]["exposure"].as_str().unwrap().parse().unwrap()
}

/// A guard that has just forwarded a buy of 1 ETH at 2000, and the decision's number.
fn sent(tif: &str) -> (Desk, u64) {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let order = with(with(buy(ETH, "2000", "1"), "/t/limit/tif", json!(tif)), "/c", cloid(1));
    let seq = desk.order(order).seq();
    assert_eq!(exposure(&desk), dec!(2000));
    desk.now += 100;
    (desk, seq)
}

fn resting(size: &str) -> OpenOrder {
    let mut order = open("ETH", "B", "2000", size, 1);
    order.cloid = serde_json::from_value(cloid(1)).unwrap();
    order
}

fn accepted() -> Value {
    statuses(json!([{"resting": {"oid": 1}}, "waitingForFill"]))
}

fn filled(size: &str) -> Value {
    statuses(json!([{"filled": {"totalSz": size, "avgPx": "2000.0", "oid": 1}}, "waitingForTrigger"]))
}

#[test]
fn it_counts_while_no_answer_came() {
    let (mut desk, _) = sent("Gtc");
    desk.wait(1_000);
    desk.wait(60_000);
    assert_eq!(exposure(&desk), dec!(2000));
}

#[test]
fn a_refusal_releases_it() {
    let refusals = [
        statuses(json!([{"error": "Insufficient margin"}, {"error": "Insufficient margin"}])),
        statuses(json!([{"error": "one for all"}])),
        json!({"status": "err", "response": "Action already expired"}),
    ];
    for refusal in refusals {
        let (mut desk, seq) = sent("Gtc");
        desk.answer(seq, 0, refusal);
        assert_eq!(exposure(&desk), dec!(0));
    }
}

#[test]
fn what_was_surely_not_sent_is_released() {
    let (mut desk, seq) = sent("Gtc");
    desk.step(Input::Sent { intent: seq, index: 0, outcome: SendOutcome::NotSent("refused".into()) });
    assert_eq!(exposure(&desk), dec!(0));
}

#[test]
fn in_doubt_it_is_kept() {
    for outcome in [
        SendOutcome::NoAnswer("time-out".into()),
        SendOutcome::Answered(json!("<html>")),
        SendOutcome::Answered(json!({"status": "ok"})),
    ] {
        let (mut desk, seq) = sent("Gtc");
        desk.step(Input::Sent { intent: seq, index: 0, outcome });
        desk.wait(1_000);
        desk.wait(1_000);
        assert_eq!(exposure(&desk), dec!(2000));
    }
}

#[test]
fn a_resting_order_counts_once_it_is_shown() {
    let (mut desk, seq) = sent("Gtc");
    desk.answer(seq, 0, accepted());
    assert_eq!(exposure(&desk), dec!(2000));
    // Reads that began before the answer prove nothing.
    desk.read_orders(desk.now - 1);
    desk.read_account(desk.now - 1);
    assert_eq!(exposure(&desk), dec!(2000));
    desk.now += 10;
    desk.show(vec![resting("1")]);
    assert_eq!(exposure(&desk), dec!(2000));
    desk.wait(1_000);
    assert_eq!(exposure(&desk), dec!(2000));
}

#[test]
fn a_fill_counts_until_the_account_shows_it() {
    let (mut desk, seq) = sent("Gtc");
    desk.answer(seq, 0, filled("1.0"));
    desk.read_orders(desk.now + 5);
    desk.read_account(desk.now - 1);
    assert_eq!(exposure(&desk), dec!(2000));
    desk.now += 10;
    desk.hold("ETH", dec!(1));
    assert_eq!(exposure(&desk), dec!(2000));
    desk.positions.clear();
    desk.wait(10);
    assert_eq!(exposure(&desk), dec!(0));
}

/// A read of the account begun now that shows the block of `venue_ms`.
fn read_block(desk: &mut Desk, venue_ms: u64) {
    let (state, equity, begun_ms) = (desk.state(venue_ms), desk.equity, desk.now);
    desk.step(Input::Account { state, equity, begun_ms });
}

#[test]
fn a_read_of_a_block_before_the_answer_proves_nothing() {
    let (mut desk, seq) = sent("Ioc");
    desk.answer(seq, 0, filled("1.0"));
    let answered_ms = desk.now;
    desk.now += 1_000;
    read_block(&mut desk, answered_ms - 1);
    assert_eq!(exposure(&desk), dec!(2000));
    // The block has come, and the position moves only in the next read.
    desk.now += 100;
    read_block(&mut desk, answered_ms);
    assert_eq!(exposure(&desk), dec!(2000));
    desk.positions.insert("ETH", dec!(0.4));
    desk.now += 100;
    read_block(&mut desk, answered_ms + 100);
    assert_eq!(exposure(&desk), dec!(2800), "in part");
    desk.positions.insert("ETH", dec!(1));
    desk.now += 100;
    read_block(&mut desk, answered_ms + 200);
    assert_eq!(exposure(&desk), dec!(2000));
    assert!(desk.guard.sent.orders.is_empty());
}

/// Something else may have taken the position away in the same moment: nothing stays reserved for ever.
#[test]
fn a_fill_that_never_moves_the_position_is_let_go_of_by_later_blocks() {
    let (mut desk, seq) = sent("Ioc");
    desk.answer(seq, 0, filled("1.0"));
    let answered_ms = desk.now;
    for (after_ms, counted) in [(4_999, dec!(2000)), (5_000, dec!(0))] {
        desk.now = answered_ms + after_ms;
        read_block(&mut desk, answered_ms + after_ms);
        assert_eq!(exposure(&desk), counted, "{after_ms}");
    }
}

#[test]
fn a_fill_that_was_read_before_its_answer_came_is_proven() {
    let (mut desk, seq) = sent("Ioc");
    desk.hold("ETH", dec!(1));
    desk.now += 100;
    desk.answer(seq, 0, filled("1.0"));
    assert_eq!(exposure(&desk), dec!(4000));
    desk.read_account(desk.now);
    assert_eq!(exposure(&desk), dec!(2000));
}

/// Two fills of which the read shows one: what moved counts for one of them only.
#[test]
fn a_move_proves_one_fill_once() {
    let (mut desk, first) = sent("Ioc");
    let second = desk.order(with(buy(ETH, "2000", "1"), "/t/limit/tif", json!("Ioc"))).seq();
    desk.answer(first, 0, filled("1.0"));
    desk.answer(second, 0, statuses(json!([{"filled": {"totalSz": "1.0", "avgPx": "2000.0", "oid": 2}}])));
    desk.now += 100;
    desk.hold("ETH", dec!(1));
    assert_eq!(exposure(&desk), dec!(4000));
    desk.now += 100;
    desk.hold("ETH", dec!(2));
    assert_eq!(exposure(&desk), dec!(4000));
    assert!(desk.guard.sent.orders.is_empty());
}

/// Reads may lag for as long as they like: what the venue said rests counts until it says otherwise.
#[test]
fn an_order_that_rests_and_is_not_shown_counts_until_its_own_status_says_that_it_is_gone() {
    let asked = |effects: &Effects| -> Option<(u64, usize, Cloid)> {
        reads(effects).into_iter().find_map(|read| match read {
            Read::OrderStatus { intent, index, cloid } => Some((*intent, *index, *cloid)),
            _ => None,
        })
    };
    let open = json!({"status": "order", "order": {"order": {"oid": 1}, "status": "open"}});
    let gone = ["filled", "canceled", "marginCanceled"]
        .map(|status| vec![json!({"status": "order", "order": {"order": {"oid": 1}, "status": status}})]);
    let replaced = vec![json!({"status": "order", "order": {"order": {"oid": 2}, "status": "open"}})];
    let endings = gone.into_iter().chain([replaced]);
    for ending in endings {
        let (mut desk, seq) = sent("Gtc");
        desk.answer(seq, 0, accepted());
        desk.now += 29_999;
        assert!(asked(&desk.read_orders(desk.now)).is_none());
        desk.now += 1;
        let (last, before) = ending.split_last().unwrap();
        for answer in [&open, &json!({}), &open].into_iter().chain(before) {
            let (intent, index, cloid) = asked(&desk.read_orders(desk.now)).unwrap();
            assert_eq!((intent, index), (seq, 0));
            assert!(asked(&desk.read_orders(desk.now)).is_none(), "not at every read");
            desk.step(Input::OrderStatus { intent, index, cloid, answer: Some(answer.clone()) });
            desk.read_account(desk.now);
            assert_eq!(exposure(&desk), dec!(2000), "{answer}");
            desk.now += 5_000;
        }
        let (intent, index, cloid) = asked(&desk.read_orders(desk.now)).unwrap();
        desk.step(Input::OrderStatus { intent, index, cloid, answer: Some(last.clone()) });
        desk.now += 10;
        desk.read_account(desk.now);
        assert_eq!(exposure(&desk), dec!(0), "{last}");
    }
}

#[test]
fn of_an_immediate_order_only_what_filled_counts() {
    let (mut desk, seq) = sent("Ioc");
    desk.answer(seq, 0, filled("0.25"));
    assert_eq!(exposure(&desk), dec!(500));
}

#[test]
fn a_partly_filled_order_counts_whole_until_the_reads_agree() {
    for answer in [accepted(), filled("0.4")] {
        let (mut desk, seq) = sent("Gtc");
        desk.answer(seq, 0, answer);
        desk.now += 10;
        // The open orders show what is left; the account still shows the time before the fill.
        desk.show(vec![resting("0.6")]);
        desk.read_account(desk.now - 1);
        assert_eq!(exposure(&desk), dec!(2000));
        desk.now += 10;
        desk.hold("ETH", dec!(0.4));
        assert_eq!(exposure(&desk), dec!(2000));
    }
}

#[test]
fn a_resting_order_that_shrinks_counts_whole_until_the_account_shows_why() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![resting("1")]);
    desk.now += 10;
    desk.show(vec![resting("0.3")]);
    desk.read_account(desk.now - 1);
    assert_eq!(exposure(&desk), dec!(2000));
    desk.now += 10;
    desk.hold("ETH", dec!(0.7));
    assert_eq!(exposure(&desk), dec!(2000));
}

#[test]
fn an_order_that_vanishes_counts_until_the_account_shows_why() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![resting("1")]);
    desk.now += 10;
    let effects = desk.read_orders(desk.now);
    assert!(reads(&effects).is_empty());
    desk.orders.clear();
    desk.now += 10;
    let effects = desk.read_orders(desk.now);
    assert_eq!(reads(&effects), [&crate::guard::Read::Account]);
    assert_eq!(exposure(&desk), dec!(2000));
    desk.read_account(desk.now - 1);
    assert_eq!(exposure(&desk), dec!(2000));
    desk.now += 1;
    desk.read_account(desk.now);
    assert_eq!(exposure(&desk), dec!(0));
}

#[test]
fn a_stop_with_the_entrys_id_does_not_pass_for_it() {
    let (mut desk, seq) = sent("Gtc");
    desk.answer(seq, 0, accepted());
    desk.now += 10;
    let mut stop = open_stop("ETH", "A", "1960", "1", 2);
    stop.cloid = resting("1").cloid;
    // The entry has filled; only its stop is left, and the account is yet to show the position.
    desk.show(vec![stop]);
    assert_eq!(exposure(&desk), dec!(2000));
}

#[test]
fn the_guards_decision_counts_before_anything_is_sent() {
    let mut desk = Desk::new(Mode::Testnet, crate::rules::Rules { position: dec!(50), ..wide() });
    desk.order(buy(ETH, "2000", "2")).resized();
    assert_eq!(desk.order(buy(ETH, "2000", "2")).resized().sent_order(0)["s"], "0.5");
    desk.order(buy(ETH, "2000", "2")).vetoed("position_limit");
}

#[test]
fn closes_in_flight_count_against_a_second_close() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", dec!(1));
    let first = desk.order(sell(ETH, "2000", "1"));
    assert_eq!(desk.order(sell(ETH, "2001", "0.5")).sent_order(0)["r"], false);
    desk.answer(first.seq(), 0, statuses(json!([{"error": "no match"}])));
    assert_eq!(desk.order(sell(ETH, "2002", "0.5")).sent_order(0)["r"], true);
}

/// A bot keeps its client order id when it modifies: what the id shows until then is the order that is replaced.
#[test]
fn a_modified_order_is_not_taken_for_what_it_replaces() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![resting("1")]);
    let larger = with(buy(ETH, "2000", "3"), "/c", cloid(1));
    let modified = desk.ask(json!({"type": "modify", "oid": 1, "order": larger})).seq();
    assert_eq!(exposure(&desk), dec!(8000), "the new one on top of the old one");
    desk.wait(1_000);
    desk.wait(1_000);
    assert_eq!(exposure(&desk), dec!(8000));
    // The venue did it meanwhile, and the answer is still on its way.
    desk.orders = vec![OpenOrder { oid: 2, ..resting("3") }];
    desk.wait(1_000);
    desk.wait(1_000);
    assert_eq!(exposure(&desk), dec!(6000));
    desk.answer(modified, 0, statuses(json!([{"resting": {"oid": 2}}])));
    desk.wait(1_000);
    desk.wait(1_000);
    assert_eq!(exposure(&desk), dec!(6000));
}

/// Two on their way under one id, of which one is shown: the other may still come.
#[test]
fn of_two_that_look_alike_neither_is_taken_for_the_one_shown() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![resting("1")]);
    let modify =
        |size: &str| json!({"type": "modify", "oid": 1, "order": with(buy(ETH, "2000", size), "/c", cloid(1))});
    let first = desk.ask(modify("2")).seq();
    let second = desk.ask(modify("4")).seq();
    desk.orders = vec![OpenOrder { oid: 2, ..resting("2") }];
    desk.wait(1_000);
    desk.wait(1_000);
    assert!(exposure(&desk) >= dec!(12000), "{}", exposure(&desk));
    desk.answer(first, 0, statuses(json!([{"resting": {"oid": 2}}])));
    desk.wait(1_000);
    desk.wait(1_000);
    assert_eq!(exposure(&desk), dec!(12000), "the first as shown, the second on its way");
    desk.answer(second, 0, statuses(json!([{"error": "Cannot modify canceled or filled order"}])));
    assert_eq!(exposure(&desk), dec!(4000));
}

/// The one that is replaced was told of by the venue, and no read has shown it yet.
#[test]
fn what_it_replaces_is_known_from_its_answer_on() {
    let (mut desk, seq) = sent("Gtc");
    desk.answer(seq, 0, accepted());
    desk.ask(json!({"type": "modify", "oid": 1, "order": with(buy(ETH, "2000", "3"), "/c", cloid(1))}));
    desk.orders = vec![resting("1")];
    desk.wait(1_000);
    desk.wait(1_000);
    assert_eq!(exposure(&desk), dec!(8000));
}

#[test]
fn what_was_cancelled_is_open_no_more_and_counts_until_the_account_shows_it() {
    let rules = crate::rules::Rules { open_orders: 1, ..wide() };
    let mut desk = Desk::new(Mode::Testnet, rules);
    let seq = desk.order(buy(ETH, "2000", "1")).seq();
    desk.now += 100;
    desk.answer(seq, 0, accepted());
    desk.order(buy(ETH, "1990", "1")).vetoed("open_orders_limit");
    let seq = desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 1}]})).seq();
    desk.now += 100;
    desk.answer(seq, 0, json!({"status": "ok", "response": {"type": "cancel", "data": {"statuses": ["success"]}}}));
    assert_eq!(exposure(&desk), dec!(2000), "part of it may have filled before");
    desk.order(buy(ETH, "1990", "1")).resized();
    assert_eq!(exposure(&desk), dec!(3990));
    desk.now += 10;
    desk.read_account(desk.now);
    assert_eq!(exposure(&desk), dec!(1990));
}
