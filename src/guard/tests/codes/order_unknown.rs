//! `order_unknown`: modifies of orders that the guard does not know.

use serde_json::{Value, json};

use crate::guard::tests::fixture::*;
use crate::guard::{Guard, Mode};
use crate::rules::Rules;
use crate::venue::info::OpenOrder;

#[test]
fn an_order_that_is_not_known_is_not_modified() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![open("ETH", "B", "1900", "1", 1)]);
    desk.ask(modify(2, buy(ETH, "1910", "1"))).vetoed("order_unknown").says(&["no open order has the id 2;"]);
    desk.ask(json!({"type": "modify", "oid": cloid(1), "order": buy(ETH, "1910", "1")}))
        .vetoed("order_unknown")
        .says(&[&format!("no open order has the client order id {}", cloid(1).as_str().unwrap())]);
    desk.ask(batch(vec![(1, buy(ETH, "1910", "1")), (2, buy(ETH, "1911", "1"))])).vetoed("order_unknown");
    desk.ask(modify(1, buy(ETH, "1910", "1"))).resized();
}

#[test]
fn an_order_is_known_from_its_answer_on() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let placed = desk.order(with(buy(ETH, "1900", "1"), "/c", cloid(1)));
    desk.answer(placed.seq(), 0, statuses(json!([{"resting": {"oid": 55}}, "waitingForFill"])));
    desk.ask(modify(55, buy(ETH, "1910", "1"))).resized();
    let by_cloid = json!({"type": "modify", "oid": cloid(1), "order": with(buy(ETH, "1911", "1"), "/c", cloid(1))});
    desk.ask(by_cloid).resized();
}

/// The venue counts each cancel of an id that nothing has: so many a minute, and known orders beside them in any case.
#[test]
fn cancels_of_ids_that_nothing_has_are_bounded() {
    let by_oid = |oids: std::ops::Range<u64>| {
        let cancels: Vec<_> = oids.map(|oid| json!({"a": ETH, "o": oid})).collect();
        json!({"type": "cancel", "cancels": cancels})
    };
    let by_cloid = |number: u8| json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": cloid(number)}]});
    // The default rules let 60 entries pass in a minute.
    let mut desk = Desk::live();
    desk.show(vec![open("ETH", "B", "1900", "1", 1)]);
    desk.ask(by_oid(1_000..1_119)).reduces();
    desk.ask(by_cloid(9)).reduces();
    desk.ask(by_cloid(9)).vetoed("order_unknown").says(&["120"]);
    let decided = desk.ask(by_oid(0..3));
    assert_eq!(decided.resized().forward()["cancels"], json!([{"a": ETH, "o": 1}]));
    desk.now += 60_000;
    desk.read();
    desk.ask(by_cloid(9)).reduces();
    // Without a recent read of the open orders nobody knows what is open.
    desk.now += 15_001;
    desk.ask(by_oid(1_000..1_500)).reduces();
    desk.ask(by_oid(1_000..1_001)).reduces();
    desk.read();
    desk.ask(by_cloid(9)).reduces();
    desk.ask(by_oid(1_000..1_118)).reduces();
    desk.ask(by_cloid(9)).vetoed("order_unknown");
    // An order that is on its way has an id that is known.
    desk.order(with(buy(ETH, "1900", "1"), "/c", cloid(3)));
    desk.ask(by_cloid(3)).reduces();
}

/// What they named nothing of is in no event: a checkpoint tells of them.
#[test]
fn cancels_that_name_nothing_count_in_the_next_life() {
    let settings = || config(Mode::Testnet, Rules { orders_per_minute: 2, ..wide() });
    let cancel = |from: u64, count: u64| {
        let cancels: Vec<Value> = (from..from + count).map(|oid| json!({"a": ETH, "o": oid})).collect();
        json!({"type": "cancel", "cancels": cancels})
    };
    let mut before = Desk::of(settings());
    before.ask(cancel(1_000, 119)).reduces();
    let checkpoint: Value = serde_json::from_str(&before.guard.checkpoint(before.now)).unwrap();
    let mut guard = Guard::new(settings(), 0);
    guard.restore_checkpoint_json(&checkpoint);
    let mut after = Desk::with(guard, NOW + 1_000);
    after.ask(cancel(2_000, 1)).reduces();
    after.ask(cancel(2_001, 1)).vetoed("order_unknown").says(&["120"]);
}

/// The reads may still show what the venue has just said to be gone.
#[test]
fn cancels_of_what_is_told_gone_are_bounded() {
    let by_oid =
        |oid: u64, count: usize| json!({"type": "cancel", "cancels": vec![json!({"a": ETH, "o": oid}); count]});
    let by_cloid = || json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": cloid(5)}]});
    let mut desk = Desk::live();
    let named =
        OpenOrder { cloid: Some(cloid(5).as_str().unwrap().parse().unwrap()), ..open("ETH", "B", "1901", "1", 1) };
    desk.show(vec![named, open("ETH", "B", "1900", "1", 2)]);
    let decided = desk.ask(by_oid(1, 1));
    // Until it is answered the order may be there.
    for _ in 0..2 {
        desk.ask(by_oid(1, 100)).reduces();
    }
    desk.answer(decided.reduces().seq(), 0, statuses(json!(["success"])));
    desk.ask(by_oid(1, 119)).reduces();
    desk.ask(by_cloid()).reduces();
    desk.ask(by_cloid()).vetoed("order_unknown").says(&["120"]);
    desk.ask(by_oid(1, 1)).vetoed("order_unknown").says(&["120"]);
    desk.ask(by_oid(2, 1)).reduces();
}
