//! Exits pass in every state, at their own price and size.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Effects, Input, Mode};
use crate::rules::{Coin, Markets, Rules};
use crate::venue::info::OpenOrder;

/// A guard in which every limit is narrow and every state is against the client.
fn hostile(state: usize) -> Desk {
    let rules = Rules {
        markets: Markets::List([Coin::parse("BTC").unwrap()].into()),
        order_value: Some(dec!(10)),
        orders_per_minute: 3,
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
    for (coin, szi) in [("OLD", dec!(-1)), ("BARE", dec!(-1)), ("ETH", dec!(5))] {
        desk.hold(coin, szi);
    }
    desk.order(buy(BTC, "60000", "0.001"));
    match state {
        1 => desk.now += 3_600_000,
        2 => drop(desk.step(Input::Kill { reason: "test".into(), by: None, write_file: true, request: None })),
        3 => drop(desk.step(Input::Shutdown { reason: "SIGTERM".into() })),
        4 => drop(desk.step(Input::Journal(Some("full".into())))),
        5 => drop(desk.step(Input::Behind(true))),
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
        if state > 0 {
            desk.show(vec![open("BTC", "B", "50000", "0.001", 77)]);
            desk.ask(json!({"type": "cancel", "cancels": [{"a": BTC, "o": 77}]})).reduces();
        }
        desk.ask(json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": cloid(9)}]})).reduces();
        desk.ask(json!({"type": "twapCancel", "a": ETH, "t": 1})).reduces();
        desk.ask(json!({"type": "noop"})).allowed();
    }
}

/// Before the open orders are read once, an order id may be that of the guard's own stop. The wait for them has an end.
#[test]
fn a_cancel_by_order_id_waits_for_the_first_open_orders_and_passes_without_them_in_the_end() {
    let own = OpenOrder {
        cloid: Some("0x73766367726401000000000000000001".parse().unwrap()),
        ..open_stop("ETH", "A", "1960", "5", 77)
    };
    let decided = |effects: &Effects| events(effects).into_iter().find(|event| event["kind"] == "decision");
    let waiting = || {
        let mut desk = hostile(0);
        let effects = desk.post(json!({"type": "cancel", "cancels": [{"a": BTC, "o": 77}]}));
        assert!(decided(&effects).is_none());
        desk
    };
    let mut desk = waiting();
    desk.orders = vec![own];
    assert_eq!(decided(&desk.read_orders(desk.now)).unwrap()["code"], "guard_order");
    for (after_ms, passes) in [(5_999, false), (6_000, true)] {
        let mut desk = waiting();
        desk.now += after_ms;
        assert_eq!(decided(&desk.step(Input::Tick)).is_some_and(|event| event["code"] == "reduces"), passes);
    }
}

#[test]
fn settings_that_put_more_at_stake_are_no_exits() {
    let update = |asset: u32, is_cross: bool, leverage: u32| json!({"type": "updateLeverage", "asset": asset, "isCross": is_cross, "leverage": leverage});
    let margin = |asset: u32| json!({"type": "updateIsolatedMargin", "asset": asset, "isBuy": true, "ntli": 1});
    for state in 1..=4 {
        let mut desk = hostile(state);
        // Lower than the 5 that is set, then more again, another margin mode, margin for a position.
        desk.ask(update(ETH, true, 4)).allowed();
        for setting in [update(SOL, false, 4), update(UNLISTED, true, 1), margin(ETH)] {
            assert_eq!(desk.ask(setting).verdict(), "veto", "state {state}");
        }
    }
    let mut desk = Desk::live();
    desk.ask(margin(ETH)).allowed();
    desk.ask(update(ETH, true, 4)).allowed();
    desk.ask(update(110_001, true, 1)).vetoed("market_not_allowed");
    desk.ask(margin(110_001)).vetoed("market_not_allowed");
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
        assert_eq!((&decided.asked_order(0)["r"], &decided.asked_order(1)["r"]), (&json!(true), &json!(false)));
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
    assert_eq!(decided.resized().asked_order(2)["s"], "2");
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
fn an_exit_does_not_go_down_with_an_entry_of_its_request() {
    let mut desk = Desk::live();
    desk.hold("ETH", dec!(1));
    let close = close(ETH, false, "2000", "1");
    let decided = desk.orders(vec![buy(OLD, "1", "100"), close.clone(), stop(OLD, false, "0.9", "100")]);
    decided.resized().says(&["order 1, 3 of 3 left out (market_delisted)"]);
    let mut sent = decided.sent_order(0).clone();
    sent.as_object_mut().unwrap().remove("c");
    assert_eq!((sent, decided.actions().len()), (close, 1));
    let [send] = &sends(&decided.effects)[..] else { panic!("{:?}", decided.effects) };
    assert_eq!(send.urgency, crate::guard::Urgency::Exit);
    let filled = json!({"filled": {"totalSz": "1", "avgPx": "2000", "oid": 7}});
    let reply = answers(&desk.answer(decided.seq(), 0, statuses(json!([filled])))).remove(0);
    let told = reply["response"]["data"]["statuses"].as_array().unwrap();
    assert_eq!((told.len(), &told[1]), (3, &filled), "{reply}");
    assert!(told[0]["error"].as_str().unwrap().starts_with("svc-guard veto (market_delisted): OLD"), "{reply}");
    // Entries alone stand and fall together.
    desk.orders(vec![buy(ETH, "2000", "0.1"), buy(OLD, "1", "100")]).vetoed("market_delisted");
}

/// Nobody has heard yet of the fill that it closes: it goes beside an entry as it would alone.
#[test]
fn a_close_of_what_a_resting_entry_may_have_opened_goes_in_any_request() {
    for may_be_held in [true, false] {
        let mut desk = Desk::live();
        desk.show(may_be_held.then(|| open("ETH", "A", "2010", "1", 1)).into_iter().collect());
        let close = close(ETH, true, "2040", "1");
        let alone = desk.orders(vec![close.clone()]);
        let mixed = desk.orders(vec![buy(OLD, "1", "100"), close]);
        if may_be_held {
            alone.reduces();
            mixed.resized().says(&["order 1 of 2 left out (market_delisted)"]);
            assert_eq!(mixed.sent_order(0)["r"], true);
        } else {
            alone.vetoed("nothing_to_reduce");
            mixed.vetoed("market_delisted");
        }
        // A stop may be that entry's own.
        desk.orders(vec![buy(OLD, "1", "100"), stop(ETH, true, "2050", "1")]).vetoed("market_delisted");
    }
}

#[test]
fn a_close_with_a_dust_of_opening_goes_as_the_close_it_is() {
    // 10 USDC beyond the position at 2000 are an entry; a lot less is not.
    for (size, opens) in [("1.005", true), ("1.0049", false)] {
        let mut desk = Desk::live();
        desk.hold("ETH", dec!(1));
        let decided = desk.order(sell(ETH, "2000", size));
        assert_eq!(decided.resized().sent_order(0)["r"], !opens, "{size}");
        assert_eq!(decided.actions()[0]["orders"].as_array().unwrap().len(), if opens { 2 } else { 1 });
    }
    for state in 1..=6 {
        let mut desk = hostile(state);
        let decided = desk.order(sell(ETH, "1", "7"));
        let sent = decided.resized().sent_order(0);
        assert_eq!((&sent["s"], &sent["p"], &sent["r"]), (&json!("5"), &json!("1"), &json!(true)), "state {state}");
    }
}

#[test]
fn an_exit_that_falls_out_of_a_cut_keeps_the_price_that_was_asked() {
    let mut desk = Desk::new(Mode::Testnet, Rules { order_value: Some(dec!(10)), ..wide() });
    desk.hold("ETH", dec!(1));
    let decided = desk.order(sell(ETH, "1900", "2"));
    let sent = decided.resized().sent_order(0);
    assert_eq!((&sent["s"], &sent["p"], &sent["r"]), (&json!("1"), &json!("1900"), &json!(true)));
    assert!(!decided.text().contains("pulled"), "{}", decided.text());
}

#[test]
fn the_children_of_a_group_fall_with_their_parent() {
    let group = |orders: Vec<Value>| json!({"type": "order", "orders": orders, "grouping": "normalTpsl"});
    let mut desk = Desk::live();
    desk.ask(group(vec![buy(OLD, "1", "100"), stop(OLD, false, "0.9", "100")])).vetoed("market_delisted");
    // A flip that may only close goes alone.
    let mut desk = Desk::new(Mode::Testnet, Rules { order_value: Some(dec!(10)), ..wide() });
    desk.hold("ETH", dec!(1));
    let decided = desk.ask(group(vec![sell(ETH, "1990", "2"), stop(ETH, true, "2030", "2")]));
    assert_eq!((&decided.resized().forward()["grouping"], decided.actions().len()), (&json!("na"), 1));
    assert_eq!(decided.forward()["orders"].as_array().unwrap().len(), 1);
}
