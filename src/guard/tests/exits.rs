//! Exits pass in every state, at their own price and size.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Input, Mode};
use crate::rules::{Coin, Markets, Rules};

/// A guard in which every limit is narrow and every state is against the client.
fn hostile(state: usize) -> Desk {
    let rules = Rules {
        markets: Markets::List([Coin::parse("BTC").unwrap()].into()),
        order_value: Some(dec!(10)),
        orders_per_minute: 1,
        open_orders: 1,
        position: dec!(1),
        duplicate_window: dec!(3600),
        ..Rules::default()
    };
    let config = config(Mode::Testnet, rules);
    if state == 0 {
        return Desk::blank(config);
    }
    let mut desk = Desk::of(config);
    desk.hold("ETH", dec!(5));
    desk.order(buy(BTC, "60000", "0.001"));
    match state {
        1 => desk.now += 3_600_000,
        2 => drop(desk.step(Input::Kill { reason: "test".into(), by: None, write_file: true, request: None })),
        3 => drop(desk.step(Input::Shutdown { reason: "SIGTERM".into() })),
        4 => drop(desk.step(Input::Journal(Some("full".into())))),
        5 => drop(desk.step(Input::RequestsLeft(0))),
        _ => {}
    }
    desk
}

fn exits() -> Vec<Value> {
    vec![
        close(ETH, false, "1", "5"),
        close(ETH, false, "123456789.12345678", "0.00000001"),
        with(close(ETH, false, "5000", "5"), "/t/limit/tif", json!("Gtc")),
        with(close(ETH, false, "5000", "5"), "/t/limit/tif", json!("Alo")),
        stop(ETH, false, "1", "5"),
        stop(ETH, false, "9999", "5"),
        with(stop(ETH, false, "1900", "5"), "/t/trigger/isMarket", json!(false)),
        with(stop(ETH, false, "1900", "5"), "/t/trigger/tpsl", json!("tp")),
        close(OLD, true, "1", "1"),
        close(UNLISTED, true, "1", "1"),
        close(BARE, true, "1", "1"),
    ]
}

#[test]
fn reduces_is_forwarded_as_it_came_in_every_state() {
    for state in 0..=6 {
        let mut desk = hostile(state);
        for order in exits().into_iter().chain(exits()) {
            let decided = desk.order(order.clone());
            let mut sent = decided.reduces().sent_order(0).clone();
            sent.as_object_mut().unwrap().remove("c");
            assert_eq!(sent, order, "state {state}");
            assert_eq!(decided.forward()["grouping"], "na");
            assert_eq!((&decided.event["pre"], &decided.event["post"]), (&json!([]), &json!([])));
        }
        let all = exits();
        desk.orders(all).reduces();
        let whole = with(stop(ETH, false, "1900", "0"), "/s", json!("0"));
        desk.ask(json!({"type": "order", "orders": [whole], "grouping": "positionTpsl"})).reduces();
    }
}

#[test]
fn cancels_and_settings_that_open_nothing_pass_in_every_state() {
    for state in 0..=6 {
        let mut desk = hostile(state);
        desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 77}]})).reduces();
        desk.ask(json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": cloid(9)}]})).reduces();
        desk.ask(json!({"type": "twapCancel", "a": ETH, "t": 1})).reduces();
        desk.ask(json!({"type": "noop"})).allowed();
        desk.ask(json!({"type": "updateIsolatedMargin", "asset": ETH, "isBuy": true, "ntli": 1000000})).allowed();
    }
}

#[test]
fn an_unmarked_close_is_marked_in_every_state() {
    for state in 1..=6 {
        let mut desk = hostile(state);
        let decided = desk.order(sell(ETH, "1", "5"));
        let mut sent = decided.resized().sent_order(0).clone();
        sent.as_object_mut().unwrap().remove("c");
        assert_eq!(sent, with(sell(ETH, "1", "5"), "/r", json!(true)), "state {state}");
        assert_eq!(decided.text(), "sell of 5 only closes and goes as reduce-only");
        assert_eq!(decided.forward()["orders"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn one_lot_more_than_the_position_is_an_entry() {
    let mut desk = Desk::live();
    desk.hold("ETH", dec!(-1));
    assert_eq!(desk.order(buy(ETH, "2000", "1")).resized().sent_order(0)["r"], true);
    // What fills at once opens no more than that lot; by the time that the other fills it may open all of itself.
    for (tif, opened) in [("Ioc", "0.01"), ("FrontendMarket", "0.01"), ("Gtc", "1.01"), ("Alo", "1.01")] {
        let mut desk = Desk::live();
        desk.hold("ETH", dec!(-1));
        let decided = desk.order(with(buy(ETH, "2000", "1.01"), "/t/limit/tif", json!(tif)));
        assert_eq!(
            (&decided.sent_order(0)["r"], &decided.sent_order(1)["s"]),
            (&json!(false), &json!(opened)),
            "{tif}"
        );
    }
}

#[test]
fn the_second_close_of_a_position_is_an_entry() {
    for first in [close(ETH, false, "1990", "1"), sell(ETH, "2000", "1")] {
        let mut desk = Desk::live();
        desk.hold("ETH", dec!(1));
        let decided = desk.orders(vec![first.clone(), sell(ETH, "2001", "1")]);
        assert_eq!((&decided.sent_order(0)["r"], &decided.sent_order(1)["r"]), (&json!(true), &json!(false)));
        let mut desk = Desk::live();
        desk.hold("ETH", dec!(1));
        desk.order(first);
        assert_eq!(desk.order(sell(ETH, "2001", "1")).resized().sent_order(0)["r"], false);
    }
}

#[test]
fn a_close_later_in_the_request_leaves_a_flip_less_to_close() {
    let mut desk = Desk::live();
    desk.hold("ETH", dec!(-1));
    // The reduce-only buy takes what the other could have closed: all of that one opens, and needs a stop.
    let decided =
        desk.orders(vec![buy(ETH, "2000", "2"), close(ETH, true, "2000", "1"), stop(ETH, false, "1960", "1")]);
    assert_eq!(decided.resized().sent_order(2)["s"], "2");
}

#[test]
fn resting_closes_count_and_untriggered_stops_do_not() {
    let mut resting = open("ETH", "A", "2100", "1", 1);
    resting.reduce_only = true;
    for (order, reduce_only) in [(resting, false), (open_stop("ETH", "A", "1900", "1", 1), true)] {
        let mut desk = Desk::live();
        desk.hold("ETH", dec!(1));
        desk.show(vec![order]);
        assert_eq!(desk.order(sell(ETH, "2001", "1")).sent_order(0)["r"], reduce_only);
    }
}

#[test]
fn an_exit_goes_down_with_an_entry_of_its_request() {
    // One request, one verdict.
    let mut desk = Desk::live();
    desk.hold("ETH", dec!(1));
    desk.orders(vec![close(ETH, false, "2000", "1"), buy(OLD, "1", "100")]).vetoed("market_delisted");
}
