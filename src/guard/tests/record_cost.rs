//! The cost of writing a decision and of reading a journal: `cargo test --release record_cost -- --ignored --nocapture`.
//! It asserts nothing; whoever changes the schema compares.

use std::time::Instant;

use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::state::sent::ledger::SentOrders;
use crate::guard::{Guard, Mode};
use crate::record::event::Event;

const ROUNDS: u32 = 7;

/// The best of some rounds, nanoseconds for each of `count` things.
fn best(count: u32, mut round: impl FnMut()) -> u128 {
    let took = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        round();
        begun.elapsed().as_nanos() / u128::from(count)
    });
    took.min().unwrap_or_default()
}

fn batch(orders: u32) -> Value {
    place((0..orders).map(|place| buy(ETH, &format!("{}", 1990 - place % 50), "0.01")).collect())
}

#[test]
#[ignore = "a measurement"]
fn deciding() {
    for orders in [1, 100, 900] {
        let count = 1_800 / orders;
        let mut desk = Desk::new(Mode::Testnet, wide());
        let nanos = best(count, || {
            for _ in 0..count {
                let decided = desk.post(batch(orders));
                assert_eq!(decided.records.len(), 1);
                desk.guard.sent = SentOrders::default();
            }
        });
        println!("a decision on {orders} orders: {nanos} ns");
        let veto = json!({"type": "order", "orders": batch(orders)["orders"], "grouping": "positionTpsl"});
        let nanos = best(count, || (0..count).for_each(|_| assert_eq!(desk.post(veto.clone()).records.len(), 1)));
        println!("a veto on {orders} orders: {nanos} ns");
    }
}

#[test]
#[ignore = "a measurement"]
fn restoring() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let mut lines = Vec::new();
    for orders in [1, 1, 1, 20].repeat(500) {
        let decided = desk.ask(batch(orders));
        let answer = desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 7}}, "waitingForTrigger"])));
        lines.extend(decided.effects.records.iter().chain(&answer.records).map(|record| record.text.clone()));
        desk.guard.sent = SentOrders::default();
    }
    let count = u32::try_from(lines.len()).unwrap();
    let nanos = best(count, || {
        let mut guard = Guard::new(config(Mode::Testnet, wide()), 0);
        lines.iter().for_each(|line| restore_line(&mut guard, line));
    });
    println!("an event of {count} read and restored: {nanos} ns");
    let nanos = best(count, || lines.iter().for_each(|line| assert!(Event::parse(line).is_some())));
    println!("an event read: {nanos} ns");
}

fn restore_line(guard: &mut Guard, line: &str) {
    guard.restore(Event::parse(line).unwrap());
}
