//! `venue_budget`: the last requests of the account are kept for what reduces now, and the last of these for the guard.

use rust_decimal::dec;
use serde_json::{Value, json};

use crate::guard::tests::fixture::*;
use crate::guard::{Input, Mode};
use crate::venue::info::OpenOrder;

fn entry(number: u32) -> Value {
    buy(ETH, &(1990 + number).to_string(), "0.1")
}

fn exit() -> Value {
    close(ETH, false, "2000", "1")
}

/// A desk that holds something, with so many requests left.
fn desk(left: u64) -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![open_stop("ETH", "A", "1900", "10", 7)]);
    desk.hold("ETH", dec!(10));
    desk.step(Input::RequestsLeft(left));
    desk
}

/// Asks, and has the venue answer what is sent.
fn ask(desk: &mut Desk, order: Value) -> Decided {
    let decided = desk.order(order);
    if decided.verdict() != "veto" {
        desk.answer(decided.seq(), 0, json!({"status": "err", "response": "no"}));
    }
    decided
}

fn alerts(desk: &Desk) -> Vec<String> {
    let status = desk.guard.status_json(desk.now, (0, 0));
    status["alerts"].as_array().unwrap().iter().map(|alert| alert["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn requests_are_kept_for_exits() {
    let mut desk = desk(500);
    ask(&mut desk, with(entry(1), "/t/limit/tif", json!("Ioc"))).resized();
    // That one and its stop are counted before the next read.
    ask(&mut desk, entry(2)).vetoed("venue_budget").says(&["498", "500"]);
    ask(&mut desk, exit()).reduces();
}

#[test]
fn only_what_reduces_now_passes_while_few_are_left() {
    let mut desk = desk(499);
    let refused = [
        json!({"type": "noop"}),
        json!({"type": "updateLeverage", "asset": ETH, "isCross": true, "leverage": 2}),
        place(vec![with(exit(), "/t/limit/tif", json!("Gtc"))]),
        place(vec![stop(ETH, false, "1950", "1")]),
        place(vec![exit(), exit()]),
        json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}, {"a": ETH, "o": 7}]}),
    ];
    for action in refused {
        desk.ask(action.clone()).vetoed("venue_budget");
    }
    assert!(alerts(&desk).contains(&"venue_budget".to_owned()));
    assert!(desk.guard.problems(desk.now).is_empty());
    // One at a time.
    let decided = desk.order(exit());
    let seq = decided.reduces().seq();
    desk.order(exit()).vetoed("venue_budget").says(&["one request goes at a time"]);
    desk.answer(seq, 0, json!({"status": "err", "response": "no"}));
    desk.order(exit()).reduces();
}

#[test]
fn fewer_than_a_thousand_are_told_of() {
    assert!(!alerts(&desk(1_000)).contains(&"venue_budget".to_owned()));
    assert!(alerts(&desk(999)).contains(&"venue_budget".to_owned()));
    let healthy = |left: u64| {
        let desk = desk(left);
        desk.guard.problems(desk.now).is_empty()
    };
    assert!(healthy(200));
    assert!(!healthy(199));
}

#[test]
fn the_last_requests_are_the_guards_own() {
    let mut desk = desk(200);
    ask(&mut desk, exit()).reduces();
    ask(&mut desk, exit()).reduces();
    ask(&mut desk, exit()).vetoed("venue_budget").says(&["every 10 s"]);
    desk.wait(9_999);
    ask(&mut desk, exit()).vetoed("venue_budget");
    desk.wait(1);
    ask(&mut desk, exit()).reduces();
    desk.step(Input::RequestsLeft(0));
    assert!(desk.guard.problems(desk.now).iter().any(|text| text.contains("takes no more requests")));
    desk.wait(10_000);
    desk.step(Input::Kill { reason: "test".into(), by: None, write_file: false, request: None });
    ask(&mut desk, exit()).vetoed("venue_budget").says(&["close everything"]);
}

/// The venue counts every order of a request: with one for each of many positions, of which one alone could fill, a client spent all that
/// the guard needs to close them.
#[test]
fn of_the_last_requests_one_goes_at_a_time() {
    for (left, passes) in [(200, true), (199, false)] {
        let mut desk = desk(left);
        desk.show(vec![open_stop("ETH", "A", "1900", "10", 7), open_stop("BTC", "A", "57000", "1", 8)]);
        desk.hold("BTC", dec!(1));
        desk.step(Input::RequestsLeft(left));
        let both = vec![exit(), close(BTC, false, "59900", "0.5")];
        let decided = desk.orders(both.clone());
        assert_eq!(decided.verdict() != "veto", passes, "{}", decided.event);
        if !passes {
            decided.vetoed("venue_budget").says(&["2 are asked for in one"]);
            ask(&mut desk, both[0].clone()).reduces();
        }
    }
}

#[test]
fn what_was_never_sent_and_what_a_read_tells_is_not_counted() {
    let mut desk = desk(500);
    let seq = desk.order(exit()).reduces().seq();
    desk.order(entry(1)).vetoed("venue_budget").says(&["499"]);
    // What has no answer yet may not be in the read.
    desk.step(Input::RequestsLeft(500));
    desk.order(entry(1)).vetoed("venue_budget").says(&["499"]);
    let outcome = crate::guard::SendOutcome::NotSent("no room".to_owned());
    desk.step(Input::Sent { intent: seq, index: 0, outcome });
    desk.order(entry(1)).resized();
}

/// A request of many must not spend at one go what is kept: neither by cancels of what never was, nor by exits beyond
/// what is held.
#[test]
fn no_request_reaches_into_what_is_kept() {
    let cancels = |count: u64| {
        let cancels: Vec<Value> = (0..count).map(|at| json!({"asset": ETH, "cloid": format!("0x{at:032x}")})).collect();
        json!({"type": "cancelByCloid", "cancels": cancels})
    };
    desk(1000).ask(cancels(500)).reduces();
    desk(1000).ask(cancels(501)).vetoed("venue_budget").says(&["501 in one request", "500 kept"]);
    desk(1000).orders(vec![exit(); 501]).vetoed("venue_budget");
    // What is there to be cancelled or closed is, whatever it leaves.
    desk(500).ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}]})).resized();
    ask(&mut desk(500), exit()).reduces();
}

#[test]
fn a_cancel_of_a_twap_order_keeps_the_pace_of_exits() {
    let mut desk = desk(150);
    let cancel = || json!({"type": "twapCancel", "a": ETH, "t": 1});
    let seq = desk.ask(cancel()).reduces().seq();
    desk.answer(seq, 0, json!({"status": "err", "response": "no"}));
    desk.now += 1;
    desk.ask(cancel()).vetoed("venue_budget").says(&["every 10 s"]);
    desk.wait(10_000);
    desk.ask(cancel()).reduces();
}

/// The reads may still show what a cancel has taken: to name it again takes nothing away.
#[test]
fn a_cancel_of_what_is_gone_spends_nothing_that_is_kept() {
    let mut desk = desk(150);
    desk.show(vec![open("ETH", "B", "1900", "0.1", 9)]);
    let cancel = || json!({"type": "cancel", "cancels": [{"a": ETH, "o": 9}]});
    let seq = desk.ask(cancel()).reduces().seq();
    desk.answer(seq, 0, statuses(json!(["success"])));
    desk.ask(cancel()).vetoed("venue_budget").says(&["1 in one request", "the 0 that are open"]);
}

fn held_with_orders(left: Option<u64>) -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let mut profit = open("ETH", "A", "2100", "0.1", 9);
    (profit.is_trigger, profit.reduce_only) = (true, true);
    let profit = OpenOrder { trigger_px: dec!(2100), order_type: "Take Profit Market".into(), ..profit };
    let stop = open_stop("ETH", "A", "1900", "10", 7);
    desk.show(vec![stop, profit, open("ETH", "B", "1900", "0.1", 10), open("ETH", "B", "1899", "0.1", 11)]);
    desk.hold("ETH", dec!(10));
    desk.guard.allowance = Default::default();
    if let Some(left) = left {
        desk.step(Input::RequestsLeft(left));
    }
    desk
}

/// The venue refuses them and the order stays: it would be there to be named again for as long as requests are left.
#[test]
fn a_cancel_that_cannot_take_its_order_names_nothing() {
    let by_oid = |asset: u32, oid: u64, fast: bool| {
        let action = json!({"type": "cancel", "cancels": [{"a": asset, "o": oid}]});
        if fast { with(action, "/f", json!(true)) } else { action }
    };
    let mut desk = held_with_orders(Some(499));
    desk.ask(by_oid(BTC, 10, false)).vetoed("venue_budget").says(&["more than the 0 that are open"]);
    desk.ask(by_oid(ETH, 9, true)).vetoed("venue_budget").says(&["more than the 0 that are open"]);
    for action in [by_oid(ETH, 10, true), by_oid(ETH, 9, false)] {
        let seq = desk.ask(action).reduces().seq();
        desk.answer(seq, 0, statuses(json!(["success"])));
    }
}

#[test]
fn cancels_keep_the_pace_of_exits_in_what_is_the_guards_own() {
    let cancel = |oid: u64| json!({"type": "cancel", "cancels": [{"a": ETH, "o": oid}]});
    let pass = |desk: &mut Desk, oid: u64| {
        let seq = desk.ask(cancel(oid)).reduces().seq();
        desk.answer(seq, 0, statuses(json!([{"error": "Order was never placed, already canceled, or filled."}])));
    };
    let mut desk = held_with_orders(Some(201));
    pass(&mut desk, 9);
    pass(&mut desk, 10);
    pass(&mut desk, 11);
    desk.ask(cancel(11)).vetoed("venue_budget").says(&["an exit or cancel passes every 10 s"]);
    desk.wait(9_999);
    ask(&mut desk, exit()).vetoed("venue_budget");
    desk.wait(1);
    pass(&mut desk, 11);
    desk.wait(10_000);
    desk.step(Input::Kill { reason: "test".into(), by: None, write_file: false, request: None });
    desk.ask(cancel(11)).vetoed("venue_budget");
}

#[test]
fn until_it_is_read_the_allowance_counts_as_small() {
    let mut desk = held_with_orders(None);
    assert!(!desk.guard.problems(desk.now).is_empty());
    let cancels = |oids: &[u64]| {
        let cancels: Vec<Value> = oids.iter().map(|oid| json!({"a": ETH, "o": oid})).collect();
        json!({"type": "cancel", "cancels": cancels})
    };
    let gtc = with(exit(), "/t/limit/tif", json!("Gtc"));
    for action in [place(vec![entry(1)]), place(vec![gtc]), cancels(&[10, 11, 12]), json!({"type": "noop"})] {
        desk.ask(action).vetoed("venue_budget").says(&["not read since the start", "so 499 are counted on"]);
    }
    // What closes and what takes away goes, and several at a time.
    desk.order(exit()).reduces();
    desk.order(exit()).reduces();
    desk.ask(cancels(&[10, 11])).reduces();
    desk.step(Input::RequestsLeft(504));
    desk.order(entry(1)).resized();
    assert!(desk.guard.problems(desk.now).is_empty());
}

#[test]
fn unknown_is_not_unlimited_for_exits_either() {
    let mut desk = held_with_orders(None);
    for _ in 0..300 {
        ask(&mut desk, exit()).reduces();
    }
    ask(&mut desk, exit()).reduces();
    ask(&mut desk, exit()).vetoed("venue_budget").says(&["every 10 s"]);
    desk.step(Input::RequestsLeft(10_000));
    ask(&mut desk, exit()).reduces();
}

/// Before the open orders were read a cancel may name one of them.
#[test]
fn at_a_start_one_cancel_at_a_time_is_not_refused_for_an_unknown_id() {
    let mut desk = Desk::blank(config(Mode::Testnet, wide()));
    desk.guard.allowance = Default::default();
    let cancels = |count: u64| {
        let cancels: Vec<Value> = (0..count).map(|oid| json!({"a": ETH, "o": oid})).collect();
        json!({"type": "cancel", "cancels": cancels})
    };
    for (count, code) in [(2, "venue_budget"), (1, "reduces")] {
        desk.post(cancels(count));
        // It waits for that read, and no longer than so.
        desk.now += 6_000;
        let effects = desk.step(Input::Tick);
        let decision = events(&effects).into_iter().find(|event| event["kind"] == "decision");
        assert_eq!(decision.unwrap()["code"], code);
    }
}

/// What nobody pays for takes no place before what fills: half a percent beyond the mid, and one step past.
#[test]
fn what_cannot_fill_takes_no_place() {
    let sale = |px: &str| close(ETH, false, px, "1");
    let mut desk = desk(199);
    ask(&mut desk, sale("2010.1")).vetoed("venue_budget").says(&["2010.1", "2000"]);
    ask(&mut desk, sale("2010")).reduces();
    desk.wait(10_000);
    // Where prices are too old to tell, it passes.
    desk.now += 5_001;
    desk.read_account(desk.now);
    ask(&mut desk, sale("2010.1")).reduces();
}
