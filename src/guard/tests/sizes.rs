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

#[test]
fn a_flip_that_fills_at_once_is_judged_on_what_it_opens() {
    let mut desk = desk(Rules { position: dec!(20), ..wide() });
    desk.hold("ETH", dec!(0.5));
    let decided = desk.order(with(sell(ETH, "2000", "3"), "/t/limit/tif", json!("Ioc")));
    // Half a unit closes, one opens.
    assert_eq!(decided.resized().sent_order(0)["s"], "1.5");
    assert_eq!((&decided.sent_order(0)["r"], &decided.sent_order(1)["s"]), (&json!(false), &json!("1")));
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
