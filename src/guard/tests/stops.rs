//! Every entry has a market stop: attached, requested or already resting, never too wide, never beyond liquidation.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Input, Mode, SendOutcome};
use crate::rules::Rules;
use crate::venue::info::OpenOrder;

fn desk(rules: Rules) -> Desk {
    Desk::new(Mode::Testnet, rules)
}

fn long(size: Decimal, orders: Vec<OpenOrder>) -> Desk {
    let mut desk = desk(wide());
    desk.hold("ETH", size);
    desk.show(orders);
    desk
}

fn trigger(order: &Value) -> &Value {
    &order["t"]["trigger"]["triggerPx"]
}

#[test]
fn a_single_entry_gets_its_stop_as_a_child() {
    for (order, trigger_px, limit_px) in
        [(buy(ETH, "2000", "0.1"), "1960", "1764"), (sell(ETH, "2000", "0.1"), "2040", "2244")]
    {
        let is_buy = order["b"].as_bool().unwrap();
        let decided = desk(wide()).order(order);
        let text = format!("ETH market stop attached at {trigger_px}, 2% from the price 2000 (rule: 2%)");
        assert_eq!(decided.resized().text(), text);
        assert_eq!(decided.event["changes"], json!([text]));
        assert_eq!(decided.forward()["grouping"], "normalTpsl");
        assert_eq!(decided.event["post"], json!([]));
        let mut stop = decided.sent_order(1).clone();
        assert!(stop["c"].take().as_str().unwrap().starts_with("0x73766367726401"));
        let trigger = json!({"isMarket": true, "triggerPx": trigger_px, "tpsl": "sl"});
        let wanted = json!({"a": ETH, "b": !is_buy, "p": limit_px, "s": "0.1", "r": true, "t": {"trigger": trigger},
            "c": null});
        assert_eq!(stop, wanted);
    }
}

#[test]
fn an_attached_stop_is_rounded_toward_the_price() {
    // 2% below 1999.9 is 1959.902, above it 2039.898.
    assert_eq!(trigger(desk(wide()).order(buy(ETH, "1999.9", "0.1")).sent_order(1)), "1960");
    assert_eq!(trigger(desk(wide()).order(sell(ETH, "1999.9", "0.1")).sent_order(1)), "2039.8");
}

#[test]
fn an_attached_stop_stands_below_the_mid_too() {
    // At the collar a stop of 0.3% from the price would stand beyond the mid and fire at once.
    let decided = desk(Rules { stop: dec!(0.3), ..wide() }).order(buy(ETH, "2010", "0.1"));
    assert_eq!(trigger(decided.resized().sent_order(1)), "1994");
}

#[test]
fn an_attached_stop_is_no_wider_than_the_widest() {
    let decided = desk(Rules { stop: dec!(0.4), max_stop: dec!(0.6), ..wide() }).order(buy(ETH, "2010", "0.1"));
    // 0.4% below the price is beyond the mid, 0.4% below the mid over 0.6% from the price.
    assert_eq!(trigger(decided.resized().sent_order(1)), "1998");
}

#[test]
fn allowed_is_an_entry_whose_stop_came_with_it() {
    for grouping in ["na", "normalTpsl"] {
        for (order, stop) in [
            (buy(ETH, "2000", "1"), stop(ETH, false, "1950", "1")),
            (sell(ETH, "2000", "1"), stop(ETH, true, "2050", "1")),
        ] {
            let action = json!({"type": "order", "orders": [order, stop], "grouping": grouping});
            let decided = desk(wide()).ask(action.clone());
            assert_eq!(decided.allowed().sent_order(1)["s"], "1");
            assert_eq!(decided.event["request"], action);
        }
    }
}

#[test]
fn a_requested_stop_may_stand_before_its_entry() {
    let decided = desk(wide()).orders(vec![stop(ETH, false, "1899", "1"), buy(ETH, "2000", "1")]);
    assert_eq!(trigger(decided.resized().sent_order(0)), "1900");
}

#[test]
fn a_stop_wider_than_the_widest_is_tightened() {
    for (order, asked, wanted, limit_px) in [
        (buy(ETH, "2000", "1"), "1900", "1900", "1900"),
        (buy(ETH, "2000", "1"), "1899.9", "1900", "1710"),
        (sell(ETH, "2000", "1"), "2100", "2100", "2100"),
        (sell(ETH, "2000", "1"), "2100.1", "2100", "2310"),
    ] {
        let is_buy = order["b"].as_bool().unwrap();
        let decided = desk(wide()).orders(vec![order, stop(ETH, !is_buy, asked, "1")]);
        assert_eq!(trigger(decided.sent_order(1)), wanted);
        assert_eq!(decided.sent_order(1)["p"], limit_px);
        if asked == wanted {
            decided.allowed();
        } else {
            decided.resized().says(&[asked, wanted, "5%", "2000"]);
        }
    }
}

#[test]
fn stop_wrong_side_begins_at_the_price_and_the_mid() {
    // Below both the price and the mid for a long, above both for a short.
    for (order, good, bad) in [
        (buy(ETH, "1990", "1"), "1989.9", "1990"),
        (buy(ETH, "2005", "1"), "1999.9", "2000"),
        (sell(ETH, "2010", "1"), "2010.1", "2010"),
        (sell(ETH, "1995", "1"), "2000.1", "2000"),
    ] {
        let is_buy = order["b"].as_bool().unwrap();
        desk(wide()).orders(vec![order.clone(), stop(ETH, !is_buy, good, "1")]).allowed();
        let decided = desk(wide()).orders(vec![order.clone(), stop(ETH, !is_buy, bad, "1")]);
        decided.vetoed("stop_wrong_side").says(&[bad, order["p"].as_str().unwrap(), "2000"]);
    }
}

#[test]
fn one_stop_for_two_entries_must_suit_both() {
    let orders = |far: &str| vec![buy(ETH, far, "1"), buy(ETH, "2000", "1"), stop(ETH, false, "1850", "2")];
    let decided = desk(wide()).orders(orders("1950"));
    assert_eq!(trigger(decided.resized().sent_order(2)), "1900");
    // Tightened for the second, it would stand above the first.
    desk(wide()).orders(orders("1890")).vetoed("stop_wrong_side").says(&["1900", "1890"]);
}

#[test]
fn a_stop_that_covers_too_little_is_raised() {
    let decided = desk(wide()).orders(vec![buy(ETH, "2000", "1"), stop(ETH, false, "1950", "0.4")]);
    assert_eq!(decided.resized().sent_order(1)["s"], "1");
    decided.says(&["0.4 to 1"]);
    desk(wide()).orders(vec![buy(ETH, "2000", "1"), stop(ETH, false, "1950", "3")]).allowed();
    let split = vec![buy(ETH, "2000", "1"), stop(ETH, false, "1950", "0.4"), stop(ETH, false, "1940", "0.6")];
    desk(wide()).orders(split).allowed();
}

#[test]
fn a_stop_covers_the_opening_part_beside_other_closes() {
    // The reduce-only buy closes the short, so the whole of the second buy opens.
    let mut desk = desk(wide());
    desk.hold("ETH", dec!(-1));
    let orders = vec![close(ETH, true, "2000", "1"), buy(ETH, "2000", "1"), stop(ETH, false, "1950", "0.1")];
    assert_eq!(desk.orders(orders).resized().asked_order(2)["s"], "1");
}

#[test]
fn a_stop_follows_a_cut() {
    let narrow = Rules { position: dec!(20), ..wide() };
    let decided = desk(narrow).orders(vec![buy(ETH, "2000", "3"), stop(ETH, false, "1950", "3")]);
    let sizes = (&decided.resized().sent_order(0)["s"], &decided.sent_order(1)["s"]);
    assert_eq!(sizes, (&json!("1"), &json!("1")));
}

#[test]
fn what_is_no_market_stop_covers_nothing() {
    let edit = |at: &str, value: Value| with(stop(ETH, false, "1950", "1"), at, value);
    for not_cover in [
        edit("/t/trigger/isMarket", json!(false)),
        with(edit("/t/trigger/tpsl", json!("tp")), "/t/trigger/triggerPx", json!("2050")),
    ] {
        let action = json!({"type": "order", "orders": [buy(ETH, "2000", "1"), not_cover], "grouping": "normalTpsl"});
        let decided = desk(wide()).ask(action);
        assert_eq!(trigger(decided.resized().sent_order(2)), "1960");
    }
    // A child of another market, where nothing is held, finds nothing to reduce: the group falls with it.
    let action =
        json!({"type": "order", "orders": [buy(ETH, "2000", "1"), edit("/a", json!(BTC))], "grouping": "normalTpsl"});
    desk(wide()).ask(action).vetoed("nothing_to_reduce");
}

/// Some clients send a stop that rests as a limit order, and a take profit beside it: the venue takes no third child.
#[test]
fn a_group_with_two_children_gets_no_third() {
    for (entry, stops_after) in [(buy(ETH, "1990", "1"), 0), (buy(ETH, "2000", "1"), 1)] {
        let limit_stop = with(stop(ETH, false, "1950", "1"), "/t/trigger/isMarket", json!(false));
        let profit = with(stop(ETH, false, "2050", "1"), "/t/trigger/tpsl", json!("tp"));
        let orders = json!([entry, profit, limit_stop]);
        let decided = desk(wide()).ask(json!({"type": "order", "orders": orders, "grouping": "normalTpsl"}));
        let decided = decided.resized();
        assert_eq!(decided.forward()["grouping"], "normalTpsl");
        assert_eq!(decided.forward()["orders"].as_array().unwrap().len(), 3);
        let after = decided.event["post"].as_array().unwrap();
        assert_eq!(after.len(), stops_after);
        for action in after {
            let stop = &action["orders"][0];
            assert_eq!((trigger(stop), &stop["s"], &stop["r"]), (&json!("1960"), &json!("1"), &json!(true)));
            assert_eq!(stop["t"]["trigger"]["isMarket"], true);
        }
    }
}

#[test]
fn cover_that_rests_serves_for_its_size() {
    for (covered, code) in [("2", "allowed"), ("1.9999", "resized")] {
        let mut desk = long(dec!(1), vec![open_stop("ETH", "A", "1960", covered, 7)]);
        assert_eq!(desk.order(buy(ETH, "2000", "1")).code(), code);
    }
    let mut whole = open_stop("ETH", "A", "1960", "0", 7);
    whole.is_position_tpsl = true;
    long(dec!(1), vec![whole]).order(buy(ETH, "2000", "100")).allowed();
}

#[test]
fn resting_cover_must_be_a_market_stop_near_enough() {
    let mut limit = open_stop("ETH", "A", "1960", "5", 7);
    limit.order_type = "Stop Limit".into();
    for useless in [
        limit,
        open_stop("ETH", "A", "1899.9", "5", 7),
        open_stop("ETH", "A", "2000", "5", 7),
        open_stop("ETH", "B", "2060", "5", 7),
        open_stop("SOL", "A", "98", "5", 7),
    ] {
        long(dec!(1), vec![useless]).order(buy(ETH, "2000", "1")).resized();
    }
    long(dec!(1), vec![open_stop("ETH", "A", "1900", "5", 7)]).order(buy(ETH, "2000", "1")).allowed();
}

#[test]
fn resting_cover_serves_one_entry_only() {
    let mut desk = long(dec!(1), vec![open_stop("ETH", "A", "1960", "2", 7)]);
    desk.order(buy(ETH, "2000", "1")).allowed();
    desk.order(buy(ETH, "1999", "1")).resized().says(&["attached"]);
    let mut desk = long(dec!(1), vec![open_stop("ETH", "A", "1960", "2", 7)]);
    let decided = desk.orders(vec![buy(ETH, "2000", "1"), buy(ETH, "2000", "0.5")]);
    assert_eq!(decided.resized().event["post"].as_array().unwrap().len(), 1);
    let mut paper = Desk::new(Mode::Paper, wide());
    paper.hold("ETH", dec!(1));
    paper.show(vec![open_stop("ETH", "A", "1960", "2", 7)]);
    paper.order(buy(ETH, "1990", "1")).allowed();
    paper.order(buy(ETH, "1989", "1")).resized();
}

#[test]
fn cover_that_is_being_cancelled_serves_nobody() {
    let mut desk = long(dec!(1), vec![open_stop("ETH", "A", "1960", "2", 7), open_stop("ETH", "A", "1960", "1", 8)]);
    desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}]})).reduces();
    desk.order(buy(ETH, "2000", "1")).resized().says(&["attached"]);
}

#[test]
fn in_a_batch_what_fills_at_once_gets_its_stop_after() {
    let ioc = |order: Value| with(order, "/t/limit/tif", json!("Ioc"));
    let decided = desk(wide()).orders(vec![ioc(buy(ETH, "2000", "1")), ioc(sell(ISO, "0.5", "100"))]);
    assert_eq!(decided.resized().forward()["grouping"], "na");
    assert_eq!(decided.forward()["orders"].as_array().unwrap().len(), 2);
    let post: Vec<_> = decided.event["post"].as_array().unwrap().iter().map(|action| &action["orders"][0]).collect();
    let told: Vec<_> = post.iter().map(|stop| (stop["a"].clone(), trigger(stop).clone(), stop["s"].clone())).collect();
    assert_eq!(told, [(json!(ETH), json!("1960"), json!("1")), (json!(ISO), json!("0.51"), json!("100"))]);
    decided.says(&["ETH market stop to follow at 1960 once it fills, 2% from the price 2000"]);
}

#[test]
fn in_a_batch_what_may_rest_goes_with_its_stop_as_a_request_of_its_own() {
    let mut desk = desk(wide());
    let decided = desk.orders(vec![
        buy(ETH, "1990", "1"),
        with(buy(SOL, "100", "1"), "/t/limit/tif", json!("Ioc")),
        with(sell(BTC, "60010", "0.01"), "/t/limit/tif", json!("Alo")),
    ]);
    decided.resized().says(&[
        "ETH market stop to be attached at 1950.2 when it fills",
        "SOL market stop to follow",
        "BTC market stop to be attached",
    ]);
    let actions = decided.actions();
    let shapes: Vec<_> =
        actions.iter().map(|action| (action["grouping"].clone(), action["orders"].as_array().unwrap().len())).collect();
    let group = (json!("normalTpsl"), 2);
    // What fills at once is covered before the groups go, of which there may be many.
    assert_eq!(shapes, [(json!("na"), 1), (json!("na"), 1), group.clone(), group]);
    assert_eq!(
        decided.event["parts"],
        json!([{"index": 0, "places": [1]}, {"index": 2, "places": [0]}, {"index": 3, "places": [2]}])
    );
    // All are reserved before the first goes, and the statuses come in the client's order.
    assert_eq!(desk.guard.sent.open().count(), 3);
    let seq = decided.seq();
    let filled = json!({"filled": {"totalSz": "1", "avgPx": "100", "oid": 7}});
    let effects = desk.answer(seq, 0, statuses(json!([filled])));
    assert!(answers(&effects).is_empty());
    assert_eq!(sends(&effects)[0].index, 1, "the stop of what filled");
    desk.answer(seq, 1, statuses(json!([{"resting": {"oid": 8}}])));
    let refused = json!({"error": "Insufficient margin"});
    assert!(answers(&desk.answer(seq, 2, statuses(json!([refused, refused])))).is_empty());
    let effects = desk.answer(seq, 3, statuses(json!([{"resting": {"oid": 9}}, "waitingForFill"])));
    let told = answers(&effects).remove(0)["response"]["data"]["statuses"].clone();
    assert_eq!(told, json!([refused, filled, {"resting": {"oid": 9}}]));
}

#[test]
fn a_part_without_an_answer_ends_the_request_and_leaves_the_statuses_before_it() {
    let mut desk = desk(wide());
    let decided = desk.orders(vec![buy(ETH, "1990", "1"), buy(SOL, "99", "1"), sell(BTC, "60010", "0.01")]);
    let seq = decided.seq();
    desk.answer(seq, 0, statuses(json!([{"resting": {"oid": 9}}, "waitingForFill"])));
    let outcome = SendOutcome::NoAnswer("time-out".into());
    let effects = desk.step(Input::Sent { intent: seq, index: 1, outcome });
    assert!(sends(&effects).iter().all(|send| send.intent != seq), "nothing more of it is sent");
    let told = answers(&effects).remove(0)["response"]["data"]["statuses"].clone();
    assert_eq!(told[0], json!({"resting": {"oid": 9}}));
    assert!(told[1]["error"].as_str().unwrap().contains("may have acted"), "{told}");
    assert!(told[2]["error"].as_str().unwrap().contains("not sent"), "{told}");
    let open: Vec<u32> = desk.guard.sent.open().map(|order| order.asset).collect();
    assert_eq!(open, [ETH, SOL], "what was not sent counts no more");
}

#[test]
fn a_part_that_a_cancel_names_before_it_is_sent_is_not_sent() {
    let mut desk = desk(wide());
    let decided = desk.orders(vec![buy(ETH, "1990", "1"), with(buy(SOL, "99", "1"), "/c", cloid(1))]);
    desk.ask(json!({"type": "cancelByCloid", "cancels": [{"asset": SOL, "cloid": cloid(1)}]})).reduces();
    let effects = desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 9}}, "waitingForFill"])));
    assert!(sends(&effects).is_empty());
    let told = answers(&effects).remove(0)["response"]["data"]["statuses"].clone();
    assert!(told[1]["error"].as_str().unwrap().contains("a cancel named it"), "{told}");
}

#[test]
fn groups_take_a_tenth_of_the_minute_s_weight_and_no_more() {
    let config = crate::guard::Config { weight_per_minute: 50, ..config(Mode::Testnet, wide()) };
    let mut desk = Desk::of(config);
    let pair = |at: u32| vec![buy(ETH, &(1_900 + at).to_string(), "0.1"), buy(SOL, &(90 + at).to_string(), "1")];
    for at in 0..2 {
        assert_eq!(desk.orders(pair(at)).resized().actions().len(), 2);
    }
    // Four of five are taken.
    let decided = desk.orders(pair(2));
    assert_eq!((decided.actions().len(), &decided.forward()["grouping"]), (1, &json!("na")));
    decided.resized().says(&["ETH market stop to be placed at 1864 when it fills"]);
    assert!(!decided.text().contains("attached"), "{}", decided.text());
    desk.wait(60_000);
    assert_eq!(desk.orders(pair(3)).actions().len(), 2);
}

#[test]
fn a_stop_stands_inside_the_liquidation_price() {
    // 100 units with 10000 USDC behind them: a margin of 100 each, 40 of it maintenance, so the price is liquidated
    // 60 / 0.98 below 2000, at 1938.775; a tenth of the way is kept, which leaves 1944.9.
    let decided = desk(wide()).orders(vec![buy(ETH, "2000", "100"), stop(ETH, false, "1910", "100")]);
    assert_eq!(trigger(decided.resized().sent_order(1)), "1944.9");
    desk(wide()).orders(vec![buy(ETH, "2000", "100"), stop(ETH, false, "1944.9", "100")]).allowed();
    let decided = desk(Rules { stop: dec!(5), ..wide() }).order(buy(ETH, "2000", "100"));
    assert_eq!(trigger(decided.resized().sent_order(1)), "1944.9");
    // The mirror: 60 / 1.02 above, at 2058.824.
    let decided = desk(wide()).orders(vec![sell(ETH, "2000", "100"), stop(ETH, true, "2090", "100")]);
    assert_eq!(trigger(decided.resized().sent_order(1)), "2052.9");
}

#[test]
fn liquidation_is_that_of_the_size_after_the_cut() {
    // Asked at 25 times the equity; what is left of it after the cut is far from liquidation.
    let decided = desk(Rules { stop: dec!(5), ..Rules::default() }).order(buy(ETH, "2000", "125"));
    assert_eq!((&decided.resized().sent_order(0)["s"], trigger(decided.sent_order(1))), (&json!("2"), &json!("1900")));
    let orders = vec![buy(ETH, "2000", "125"), stop(ETH, false, "1900", "125")];
    let decided = desk(Rules::default()).orders(orders);
    assert_eq!((&decided.resized().sent_order(0)["s"], trigger(decided.sent_order(1))), (&json!("2"), &json!("1900")));
}

#[test]
fn an_entry_is_cut_until_a_stop_fits_inside_liquidation() {
    // With 300 units the whole margin is maintenance: no price is left between the entry and its liquidation.
    let decided = desk(wide()).order(buy(ETH, "2000", "300"));
    let (size, trigger_px) = (decided.resized().sent_order(0)["s"].clone(), trigger(decided.sent_order(1)).clone());
    assert_eq!((size, trigger_px), (json!("249.3212"), json!("1999.9")));
    decided.says(&["liquidat", "cut from 300 to 249.3212"]);
    let stop = stop(ETH, false, "1999.9", "249.3212");
    desk(wide()).orders(vec![buy(ETH, "2000", "249.3212"), stop]).allowed();
}

#[test]
fn isolated_margin_is_what_the_leverage_leaves() {
    // A tenth of the price behind each unit at leverage 10, a twentieth of it maintenance.
    let rules = Rules { leverage: 10, stop: dec!(10), max_stop: dec!(50), ..wide() };
    let mut desk = desk(rules);
    let leverage = crate::venue::info::Leverage { mode: crate::venue::info::MarginMode::Isolated, value: 10 };
    desk.leverage(ISO, Some(leverage));
    // 0.5 less 0.025 / 0.95 is 0.47368; a tenth of the way is kept: 0.47632.
    assert_eq!(trigger(desk.order(buy(ISO, "0.5", "100")).resized().sent_order(1)), "0.47632");
}
