//! An order that rests for long has a fill like any other: whoever sent it is known, however many were sent since.

use super::super::fixture::*;
use super::super::wire::open;
use super::world::BookWorld;
use crate::base::address::Cloid;
use crate::guard::Input;
use crate::venue::action::Action;
use crate::venue::info::OpenOrder;
use serde_json::{Value, json};

/// An order of this number, as it was sent.
fn sent(nth: u64) -> Action {
    let order =
        json!({"a": 1, "b": true, "p": "90", "s": "1", "r": false, "t": {"limit": {"tif": "Gtc"}}, "c": id(nth)});
    Action::parse(&json!({"type": "order", "orders": [order], "grouping": "na"})).unwrap()
}

fn id(nth: u64) -> Cloid {
    Cloid([[0xab; 8], nth.to_be_bytes()].concat().try_into().unwrap())
}

/// Orders that were sent.
fn send(world: &mut BookWorld, numbers: std::ops::Range<u64>) {
    numbers.for_each(|nth| world.guard.book.sent.note(nth, Some(CLIENT), &sent(nth)));
}

/// What rests at the venue is read, and time passes.
fn rest(world: &mut BookWorld, numbers: &[u64]) {
    let orders = |numbers: &[u64]| -> Vec<OpenOrder> {
        let order = |nth: &u64| OpenOrder { cloid: Some(id(*nth)), ..open("ETH", "B", "90", "1", *nth) };
        numbers.iter().map(order).collect()
    };
    for _ in 0..15 {
        world.venue.now += 1_000;
        world.step(Input::Orders { orders: orders(numbers), begun_ms: world.venue.now });
        world.step(Input::Tick);
    }
}

/// The fill of an order, as it goes on record.
fn filled(world: &mut BookWorld, nth: u64) -> Value {
    world.guard.seq = world.guard.seq.max(1_000_000);
    let fill = json!({"coin": "ETH", "px": "90", "sz": "1", "side": "B", "time": world.venue.now, "startPosition": "0.0",
        "closedPnl": "0.0", "oid": nth, "crossed": false, "fee": "0.01", "tid": nth, "cloid": id(nth), "feeToken": "USDC"});
    world.tell("userFills", "fills", json!([fill]));
    world.of_kind("fill").pop().unwrap().clone()
}

fn is_told(fill: &Value, nth: u64) -> bool {
    fill["client"] == json!(CLIENT.to_string()) && fill["intent"] == json!(nth)
}

#[test]
fn an_order_that_rests_is_known_however_many_follow() {
    let mut world = BookWorld::new(1, true);
    send(&mut world, 1..3);
    rest(&mut world, &[1, 2]);
    for round in 0..4 {
        let first = 10 + round * 9_000;
        send(&mut world, first..first + 9_000);
        rest(&mut world, &[1]);
    }
    assert!(is_told(&filled(&mut world, 1), 1));
    assert!(!is_told(&filled(&mut world, 2), 2), "one that is gone for as long is forgotten");
}

#[test]
fn an_order_that_rests_is_known_in_the_next_lives() {
    let mut world = BookWorld::new(1, true);
    send(&mut world, 1..3);
    rest(&mut world, &[1]);
    send(&mut world, 10..1_500);
    rest(&mut world, &[1]);
    for _ in 0..2 {
        world.take_checkpoint();
        world.journal.clear();
        world.checkpoints.iter_mut().for_each(|(_, covered)| *covered = 0);
        world.die(0);
        // A life that ends before it has read what rests hands on all that it knew.
        world.rise();
    }
    rest(&mut world, &[1]);
    assert!(is_told(&filled(&mut world, 1), 1));
    assert!(!is_told(&filled(&mut world, 2), 2), "of what is gone the last thousand are kept");
}
