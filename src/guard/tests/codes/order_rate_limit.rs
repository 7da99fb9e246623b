//! `order_rate_limit`: entries a minute.

use rust_decimal::dec;
use serde_json::{Value, json};

use crate::guard::state::throttle::Throttle;
use crate::guard::tests::fixture::*;
use crate::guard::{Guard, Mode};
use crate::rules::Rules;

fn desk(rules: Rules) -> Desk {
    Desk::new(Mode::Testnet, rules)
}

fn entry(number: u32) -> Value {
    buy(ETH, &(1990 + number).to_string(), "0.1")
}

#[test]
fn so_many_entries_a_minute() {
    let mut desk = desk(Rules { orders_per_minute: 3, ..wide() });
    desk.order(entry(1)).resized();
    desk.now += 1;
    desk.orders(vec![entry(2), entry(3)]).resized();
    desk.order(entry(4)).vetoed("order_rate_limit").says(&["3 entries", "1 more", "over 3"]);
    desk.order(close(ETH, false, "2000", "1")).reduces();
    desk.wait(59_998);
    desk.order(entry(4)).vetoed("order_rate_limit");
    desk.wait(1);
    desk.order(entry(4)).resized();
    desk.order(entry(5)).vetoed("order_rate_limit");
}

#[test]
fn a_batch_counts_as_its_entries() {
    let rules = Rules { orders_per_minute: 3, ..wide() };
    desk(rules.clone()).orders((0..3).map(entry).collect()).resized();
    desk(rules).orders((0..4).map(entry).collect()).vetoed("order_rate_limit").says(&["4 more"]);
}

/// What asks for far too much is refused for that, before each of its orders is looked at.
#[test]
fn a_hundred_entries_are_looked_at_and_no_more() {
    let batch = |count: usize| vec![buy(OLD, "1", "100"); count];
    let desk = || desk(Rules { orders_per_minute: 3, ..wide() });
    desk().orders(batch(100)).vetoed("market_delisted");
    desk().orders(batch(101)).vetoed("order_rate_limit").says(&["101 more"]);
}

/// A restart gives no new minute.
#[test]
fn the_minute_goes_on_in_the_next_life() {
    let rules = Rules { orders_per_minute: 3, ..wide() };
    let mut before = desk(rules.clone());
    before.hold("ETH", dec!(1));
    let decided = [
        before.order(entry(1)),
        before.order(sell(ETH, "2000", "1")),
        before.orders(vec![entry(2), close(ETH, false, "2001", "1")]),
        before.order(buy(OLD, "1", "100")),
    ];
    for (waited_ms, code) in [(59_999, "order_rate_limit"), (60_000, "resized")] {
        let mut guard = Guard::new(config(Mode::Testnet, rules.clone()), 0);
        decided.iter().for_each(|decided| guard.restore_json(&decided.event));
        let mut after = Desk::with(guard, NOW + waited_ms);
        assert_eq!(after.orders(vec![entry(3), entry(4)]).code(), code, "two of the three are used");
    }
    let mut guard = Guard::new(config(Mode::Testnet, rules), 0);
    decided.iter().for_each(|decided| guard.restore_json(&decided.event));
    Desk::with(guard, NOW + 1_000).order(entry(3)).resized();
}

/// A checkpoint carries it, however many events a start reads beside that: none counts twice, and none too little.
#[test]
fn the_minute_goes_on_from_a_checkpoint() {
    let rules = Rules { orders_per_minute: 2, ..wide() };
    let mut before = desk(rules.clone());
    let update = |leverage: u32| json!({"type": "updateLeverage", "asset": ETH, "isCross": true, "leverage": leverage});
    let decided = [before.order(entry(1)), before.ask(update(2))];
    let checkpoint: Value = serde_json::from_str(&before.guard.checkpoint(before.now)).unwrap();
    let later = [before.ask(update(1))];
    before.ask(update(2)).vetoed("order_rate_limit");
    let all: Vec<&Value> = decided.iter().chain(&later).map(|decided| &decided.event).collect();
    for events in [&all[..], &all[2..]] {
        let reborn = |waited_ms: u64| {
            let mut guard = Guard::new(config(Mode::Testnet, rules.clone()), 0);
            guard.restore_checkpoint_json(&checkpoint);
            events.iter().for_each(|event| guard.restore_json(event));
            Desk::with(guard, NOW + waited_ms)
        };
        let mut after = reborn(59_999);
        after.ask(update(2)).vetoed("order_rate_limit").says(&["2 settings"]);
        after.order(entry(2)).resized();
        after.order(entry(3)).vetoed("order_rate_limit").says(&["2 entries"]);
        let mut after = reborn(60_000);
        after.ask(update(2)).is("allow", "allowed");
        after.orders(vec![entry(2), entry(3)]).resized();
    }
}

/// The same of entries of batches that went alone; of each kind the newest 1,200 are kept.
#[test]
fn a_checkpoint_carries_what_went_alone_and_is_bounded() {
    let mut before = Throttle::default();
    before.note_groups(3, NOW);
    assert_eq!(before.record(0, NOW + 60_000), None);
    let record = serde_json::to_string(&before.record(0, NOW + 59_999).unwrap()).unwrap();
    let mut after = Throttle::default();
    after.restore(serde_json::from_str(&record).unwrap(), 0);
    assert_eq!([59_999, 60_000].map(|waited_ms| after.groups_in_last_minute(NOW + waited_ms)), [3, 0]);
    before.note_groups(5_000, NOW);
    assert_eq!(before.record(0, NOW).unwrap().groups.len(), 1_200);
}
