//! Limits on size together: the tightest binds, a batch runs them down, and a flip counts with what it opens.

use rust_decimal::dec;
use serde_json::json;

use super::fixture::*;
use crate::guard::{Config, Mode};
use crate::rules::Rules;

fn desk(rules: Rules) -> Desk {
    Desk::new(Mode::Testnet, rules)
}

#[test]
fn resized_to_the_tightest_limit_which_is_named() {
    let rules = Rules { loss_per_trade: dec!(1), position: dec!(40), ..wide() };
    let decided = desk(rules).order(buy(ETH, "2000", "3"));
    assert_eq!(decided.resized().sent_order(0)["s"], "2");
    decided.says(&["ETH notional 6000.00 is over 40% of equity 10000.00; cut from 3 to 2"]);
}

#[test]
fn percentages_are_of_the_capped_equity() {
    let rules = Rules { position: dec!(50), ..wide() };
    let capped = |cap| Config { equity_cap: Some(cap), ..config(Mode::Testnet, rules.clone()) };
    let decided = Desk::of(capped(dec!(4000))).order(buy(ETH, "2000", "3"));
    assert_eq!(decided.sent_order(0)["s"], "1");
    decided.says(&["50% of equity 4000.00"]);
    assert_eq!(Desk::of(capped(dec!(20000))).order(buy(ETH, "2000", "3")).sent_order(0)["s"], "2.5");
}

#[test]
fn a_batch_runs_the_budget_down() {
    let rules = Rules { position: dec!(50), ..wide() };
    let decided = desk(rules.clone()).orders(vec![buy(ETH, "2000", "2"), buy(ETH, "1990", "2")]);
    // 1000 USDC are left at 1990.
    assert_eq!((&decided.resized().asked_order(0)["s"], &decided.asked_order(1)["s"]), (&json!("2"), &json!("0.5025")));
    desk(rules).orders(vec![buy(ETH, "2000", "2.5"), buy(ETH, "1990", "2")]).vetoed("position_limit");
}

/// A desk that may hold one ETH and holds half of it.
fn half_full() -> Desk {
    let mut desk = desk(Rules { position: dec!(20), ..wide() });
    desk.hold("ETH", dec!(0.5));
    desk
}

fn flip(size: &str) -> serde_json::Value {
    with(sell(ETH, "2000", size), "/t/limit/tif", json!("Ioc"))
}

/// Nothing that closes the position before it can make it open more than the rules let.
#[test]
fn a_flip_within_the_limits_as_a_whole_goes_as_one() {
    let decided = half_full().order(flip("1"));
    let orders = decided.forward()["orders"].as_array().unwrap();
    assert_eq!((&orders[0]["s"], &orders[0]["r"]), (&json!("1"), &json!(false)));
    assert_eq!((orders.len(), &orders[1]["s"]), (2, &json!("0.5")), "the stop is for what it opens");
}

/// One step past: half a unit closes, and goes first and apart; the rest opens one unit at most.
#[test]
fn a_larger_one_closes_and_opens_apart() {
    for (asked, opens) in [("1.0001", "0.5001"), ("1.5", "1"), ("3", "1")] {
        let decided = half_full().order(flip(asked));
        decided.resized().says(&["the 0.5 that closes goes first, as reduce-only"]);
        let [closing, group] = &decided.actions()[..] else { panic!("{:?}", decided.actions()) };
        assert_eq!(closing["orders"].as_array().unwrap().len(), 1);
        assert_eq!((&closing["orders"][0]["s"], &closing["orders"][0]["r"]), (&json!("0.5"), &json!(true)));
        assert_eq!((&group["orders"][0]["s"], &group["orders"][0]["r"]), (&json!(opens), &json!(false)), "{asked}");
        assert_eq!((&group["orders"][1]["s"], &group["grouping"]), (&json!(opens), &json!("normalTpsl")));
        assert_eq!(decided.event["parts"], json!([{"index": 0, "places": [0]}, {"index": 1, "places": [0]}]));
    }
}

/// The collar is for what opens.
#[test]
fn the_part_that_closes_keeps_the_price_that_was_asked() {
    let decided = half_full().order(with(flip("1.5"), "/p", json!("1900")));
    let px = |at: usize| decided.actions()[at]["orders"][0]["p"].clone();
    assert_eq!((px(0), px(1)), (json!("1900"), json!("1990")));
    // One that goes as a whole is an entry as any other.
    let decided = half_full().order(with(flip("1"), "/p", json!("1900")));
    let order = &decided.forward()["orders"][0];
    assert_eq!((&order["s"], &order["p"], &order["r"]), (&json!("1"), &json!("1990"), &json!(false)));
}

#[test]
fn both_parts_of_a_flip_are_told_as_one() {
    let filled = |size: &str, px: &str, oid: u64| json!({"filled": {"totalSz": size, "avgPx": px, "oid": oid}});
    let told = |first: serde_json::Value, second: serde_json::Value| {
        let mut desk = half_full();
        let seq = desk.order(flip("1.5")).seq();
        let statuses = |status| json!({"status": "ok", "response": {"type": "order", "data": {"statuses": status}}});
        assert!(answers(&desk.answer(seq, 0, statuses(json!([first])))).is_empty(), "the second part is still to come");
        let done = desk.answer(seq, 1, statuses(json!([second, "waitingForTrigger"])));
        answers(&done).remove(0)["response"]["data"]["statuses"].clone()
    };
    let no = json!({"error": "no"});
    assert_eq!(told(filled("0.5", "2000.0", 7), filled("1.0", "2003.0", 8)), json!([filled("1.5", "2002.0", 8)]));
    assert_eq!(told(filled("0.5", "2000.0", 7), no.clone()), json!([filled("0.5", "2000.0", 7)]));
    assert_eq!(told(no.clone(), filled("1.0", "2003.0", 8)), json!([filled("1.0", "2003.0", 8)]));
    assert_eq!(told(json!({"error": "other"}), no.clone()), json!([no]));
}

/// What else is asked for finds no room in a position that something else may close.
#[test]
fn a_flip_on_its_way_counts_in_full() {
    let mut desk = half_full();
    desk.order(flip("1"));
    let second = desk.order(flip("0.6"));
    second.resized().says(&["position_limit", "cut from 0.6 to the 0.5 that closes"]);
    assert_eq!(second.sent_order(0)["r"], true);
}

/// A stop, another close or a person may end the position before it fills: then it opens all of itself.
#[test]
fn a_flip_that_may_rest_is_judged_as_a_whole() {
    for tif in ["Gtc", "Alo"] {
        for (asked, passed) in [("1", "1"), ("1.0001", "1"), ("3", "1")] {
            let mut desk = desk(Rules { position: dec!(20), ..wide() });
            desk.hold("ETH", dec!(0.5));
            let decided = desk.order(with(sell(ETH, "2000", asked), "/t/limit/tif", json!(tif)));
            let orders = [0, 1].map(|place| decided.resized().sent_order(place)["s"].clone());
            assert_eq!(orders, [passed, passed], "{tif} {asked}: the order, and a stop for all that it may open");
            assert_eq!(decided.sent_order(0)["r"], false);
        }
        // What rests already leaves room for nothing more; of the next one only the close passes.
        let mut desk = desk(Rules { position: dec!(20), ..wide() });
        desk.hold("ETH", dec!(0.5));
        desk.show(vec![open("ETH", "A", "2000", "1", 1)]);
        let decided = desk.order(with(sell(ETH, "2001", "3"), "/t/limit/tif", json!(tif)));
        decided.resized().says(&["ETH notional", "cut from 3 to the 0.5 that closes"]);
        assert_eq!((&decided.sent_order(0)["r"], &decided.sent_order(0)["s"]), (&json!(true), &json!("0.5")));
    }
}

#[test]
fn a_flip_without_room_closes_and_opens_nothing() {
    let mut desk = desk(Rules { position: dec!(20), ..wide() });
    desk.hold("ETH", dec!(2));
    let decided = desk.order(sell(ETH, "2000", "3"));
    decided.resized().says(&["ETH notional", "cut from 3 to the 2 that closes"]);
    let orders = decided.forward()["orders"].as_array().unwrap();
    assert_eq!((orders.len(), &orders[0]["s"], &orders[0]["r"]), (1, &json!("2"), &json!(true)));
}
