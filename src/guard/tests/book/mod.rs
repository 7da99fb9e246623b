//! The book of money: each row once, with its cause.

mod answers;
mod behind;
mod clocks;
mod elsewhere;
mod games;
mod hidden;
mod late;
mod lives;
mod moments;
mod opened;
mod openings;
mod order;
mod purses;
mod resting;
mod venue;
mod world;

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Command, Effects, Guard, Input, Mode, Read};
use crate::venue::action::Action;
use crate::venue::fill::Fill;
use crate::venue::history::Page;
use world::BookWorld;

fn of(effects: &Effects, kind: &str) -> Vec<Value> {
    events(effects).into_iter().filter(|event| event["kind"] == kind).collect()
}

fn fill(desk: &Desk, oid: u64, cloid: Option<&str>) -> Value {
    json!({"coin": "ETH", "px": "2000", "sz": "0.1", "side": "B", "time": desk.now, "startPosition": "0.0", "closedPnl": "0.0",
        "oid": oid, "crossed": true, "fee": "0.09", "tid": oid, "cloid": cloid, "feeToken": "USDC"})
}

fn told(desk: &mut Desk, oid: u64, cloid: Option<&str>) -> Value {
    let row = fill(desk, oid, cloid);
    told_row(desk, row)
}

fn told_row(desk: &mut Desk, row: Value) -> Value {
    let fills: Vec<Fill> = serde_json::from_value(json!([row])).unwrap();
    let effects = desk.step(Input::BookFills { page: Page::from(fills), since_ms: 0, begun_ms: desk.now });
    of(&effects, "fill").pop().unwrap()
}

/// Before the reply, by its own id and by a derived one, of the guard's own stop, of a stranger, and over a restart.
#[test]
fn a_fill_has_the_event_that_sent_its_order() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let named = desk.order(with(buy(ETH, "2000", "0.1"), "/c", cloid(5)));
    let unnamed = desk.order(buy(ETH, "2000", "0.2"));
    let derived = unnamed.sent_order(0)["c"].as_str().unwrap().to_owned();
    let stop = named.actions().into_iter().flat_map(|action| action["orders"].as_array().cloned().unwrap_or_default());
    let stop =
        stop.filter(|order| order["r"] == true).find_map(|order| order["c"].as_str().map(str::to_owned)).unwrap();
    let (client, chosen) = (CLIENT.to_string(), cloid(5).as_str().unwrap().to_owned());
    let expect = |event: &Value, intent: Value, client: Value| {
        assert_eq!((&event["intent"], &event["client"]), (&intent, &client), "{event}");
    };
    let journal = [named.event.clone(), unnamed.event.clone()];
    let checkpoint: Value = {
        let mut later = Desk::new(Mode::Testnet, wide());
        journal.iter().for_each(|event| later.guard.restore_json(event));
        serde_json::from_str(&later.guard.checkpoint(later.now + 1)).unwrap()
    };
    let (mut by_events, mut by_checkpoint) = (Desk::new(Mode::Testnet, wide()), Desk::new(Mode::Testnet, wide()));
    journal.iter().for_each(|event| by_events.guard.restore_json(event));
    by_checkpoint.guard.restore_checkpoint_json(&checkpoint);
    for desk in [&mut desk, &mut by_events, &mut by_checkpoint] {
        desk.guard.seq = desk.guard.seq.max(unnamed.seq());
        let event = told(desk, 70, Some(&chosen));
        expect(&event, json!(named.seq()), json!(client));
        let event = told(desk, 71, Some(&derived));
        expect(&event, json!(unnamed.seq()), json!(client));
        let event = told(desk, 72, Some(&stop));
        expect(&event, json!(named.seq()), json!("guard"));
        let event = told(desk, 73, None);
        expect(&event, Value::Null, Value::Null);
    }
}

#[test]
fn a_client_order_id_that_is_used_again_is_told_apart_by_the_venues() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let first = desk.order(with(buy(ETH, "2000", "0.1"), "/c", cloid(5)));
    desk.answer(first.seq(), 0, statuses(json!([{"filled": {"totalSz": "0.1", "avgPx": "2000", "oid": 70}}])));
    desk.guard.book.sent.note(first.seq() + 9, Some(CLIENT), &Action::parse(first.forward()).unwrap());
    let chosen = cloid(5).as_str().unwrap().to_owned();
    assert_eq!(told(&mut desk, 70, Some(&chosen))["intent"], first.seq());
    assert_eq!(told(&mut desk, 71, Some(&chosen))["intent"], first.seq() + 9);
}

/// Spot trades, liquidations, builder's fees and rebates are fills like others.
#[test]
fn every_kind_of_fill_is_told_whole() {
    let mut desk = Desk::live();
    let mut row = fill(&desk, 9, None);
    row["coin"] = json!("@107");
    (row["fee"], row["builderFee"]) = (json!("-0.002994"), json!("0.001"));
    row["liquidation"] = json!({"liquidatedUser": "0xab", "markPx": "102.96", "method": "backstop"});
    row["closedPnl"] = json!("-34.940646");
    let event = told_row(&mut desk, row);
    let expected = json!({"kind": "fill", "seq": event["seq"], "at_ms": desk.now, "coin": "@107", "side": "buy", "px": "2000",
        "size": "0.1", "fee": "-0.002994", "fee_token": "USDC", "builder_fee": "0.001", "closed_pnl": "-34.940646",
        "position_before": "0", "position_after": "0.1", "oid": 9, "cloid": null, "tid": 9, "time": desk.now, "crossed": true,
        "liquidation": {"user": "0xab", "mark_px": "102.96", "method": "backstop"}, "intent": null, "client": null});
    assert_eq!(event, expected);
}

/// Where the disk takes nothing rows wait: they are read once it does.
#[test]
fn rows_wait_for_the_disk() {
    let mut desk = Desk::live();
    let row = fill(&desk, 9, None);
    let page = |desk: &mut Desk| {
        let fills: Vec<Fill> = serde_json::from_value(json!([row])).unwrap();
        let effects = desk.step(Input::BookFills { page: Page::from(fills), since_ms: 0, begun_ms: desk.now });
        of(&effects, "fill").len()
    };
    desk.step(Input::Tick);
    desk.step(Input::Journal(Some("full".to_owned())));
    assert_eq!(page(&mut desk), 0);
    desk.now += 60_000;
    let asks =
        |effects: &Effects| effects.immediate.iter().any(|deed| matches!(deed, Command::Read(Read::BookFills { .. })));
    assert!(!asks(&desk.step(Input::Tick)));
    desk.step(Input::Journal(None));
    assert!(asks(&desk.step(Input::Tick)));
    assert_eq!((page(&mut desk), page(&mut desk)), (1, 0));
}

/// A journal of before there was a book begins it where that ended: what filled meanwhile is late.
#[test]
fn a_book_begins_with_its_journal() {
    let mut desk = Desk::live();
    let before = fill(&desk, 8, None);
    desk.now += 10;
    let while_away = fill(&desk, 9, None);
    let checkpoint = json!({"kind": "checkpoint", "at_ms": desk.now, "seq": 3});
    let mut guard = Guard::new(desk.guard.config.clone(), 3);
    guard.restore_checkpoint_json(&checkpoint);
    let mut next = Desk::begin(guard, desk.now + 90_000);
    let fills: Vec<Fill> = serde_json::from_value(json!([before, while_away])).unwrap();
    let begun_ms = next.now;
    let told = of(&next.step(Input::BookFills { page: Page::from(fills), since_ms: 0, begun_ms }), "fill");
    assert_eq!((told.len(), &told[0]["oid"], &told[0]["late"]), (1, &json!(9), &json!(true)));
}

/// A start reads the events of the last checkpoint's own batch again, which that checkpoint has in its sums.
#[test]
fn a_row_counts_once_that_a_checkpoint_and_its_own_batch_tell() {
    let mut world = BookWorld::new(1, false);
    world.venue.trade("ETH", dec!(1), dec!(100), None);
    world.live(60);
    world.venue.pay_funding();
    world.venue.deposit(dec!(100));
    world.live(70);
    world.take_checkpoint();
    world.overlap = 40;
    world.die(0);
    world.rise();
    world.live(200);
    assert_eq!((world.of_kind("funding").len(), world.of_kind("transfer").len()), (1, 1));
    let last = world.of_kind("balance").into_iter().next_back().unwrap();
    assert_eq!((&last["difference"], &last["why"]), (&json!("0"), &Value::Null), "{last}");
    assert!(world.of_kind("error").is_empty(), "{:?}", world.of_kind("error"));
}

/// Two payments of one market and moment are two, over restarts with and without a checkpoint.
#[test]
fn payments_that_are_alike_count_each() {
    for has_checkpoint in [true, false] {
        let mut world = BookWorld::new(1, false);
        world.venue.trade("ETH", dec!(1), dec!(100), None);
        world.live(70);
        (0..2).for_each(|_| _ = world.venue.pay_funding());
        world.venue.now += 3_600_000;
        world.live(90);
        world.hold_to_record();
        if has_checkpoint {
            world.take_checkpoint();
        }
        world.die(0);
        world.rise();
        world.live(90);
        world.hold_to_record();
        assert_eq!(world.of_kind("funding").len(), 2);
    }
}

/// Pages go on from the last time, and everything is asked for again only seldom.
#[test]
fn what_is_read_and_when() {
    let mut world = BookWorld::new(1, false);
    world.read_account();
    world.step(Input::Tick);
    // The halts have the ledger read as well.
    let of_book: Vec<&Read> = world.reads.iter().filter(|read| !matches!(read, Read::Ledger { .. })).collect();
    assert_eq!(of_book.len(), 2, "fills and funding at the start: {of_book:?}");
    world.live(1);
    let asked = |world: &mut BookWorld, seconds: u64| {
        let mut asked = 0;
        for _ in 0..seconds {
            world.venue.now += 1_000;
            world.step(Input::Tick);
            world.read_account();
            asked += world.reads.iter().filter(|read| matches!(read, Read::BookFills { .. })).count();
            while !world.reads.is_empty() {
                world.answer();
            }
        }
        asked
    };
    assert_eq!(asked(&mut world, 300), 5, "once a minute without a feed");
    let mut world = BookWorld::new(1, true);
    world.live(1);
    behind::long_begun(&mut world);
    assert_eq!(asked(&mut world, 1_200), 2, "once in ten with one");
    // What a chain lacks is read at once.
    let first = world.venue.trade("ETH", dec!(1), dec!(100), None);
    let second = world.venue.trade("ETH", dec!(1), dec!(100), None);
    world.tell("userFills", "fills", json!([first]));
    world.venue.trade("ETH", dec!(1), dec!(100), None);
    let last = world.venue.trade("ETH", dec!(1), dec!(100), None);
    world.tell("userFills", "fills", json!([second, last]));
    assert_eq!(asked(&mut world, 20), 1);
    world.hold_to_record();
}
