//! Size limits: cut to the largest size within all five caps; under the venue's minimum, a veto names the cap.

use rust_decimal::{Decimal, dec};
use serde_json::json;

use super::fixture::*;
use crate::guard::{Config, Mode};
use crate::rules::Rules;

fn desk(rules: Rules) -> Desk {
    Desk::new(Mode::Testnet, rules)
}

/// One cap, at 2.5 ETH of 2000 USDC with a stop 2% away.
fn caps() -> Vec<(&'static str, Rules, &'static str)> {
    vec![
        ("loss_limit", Rules { loss_per_trade: dec!(1), ..wide() }, "ETH loss if stopped 120.00 is over 1% of equity"),
        (
            "open_risk_limit",
            Rules { open_risk: dec!(1), ..wide() },
            "open risk of all positions and orders 120.00 is over 1% of equity",
        ),
        ("position_limit", Rules { position: dec!(50), ..wide() }, "ETH notional 6000.00 is over 50% of equity"),
        (
            "exposure_limit",
            Rules { exposure: dec!(50), ..wide() },
            "gross notional of all positions and orders 6000.00 is over 50% of equity",
        ),
        (
            "order_value_limit",
            Rules { order_value: Some(dec!(5000)), ..wide() },
            "ETH order value 6000.00 is over 5000",
        ),
    ]
}

#[test]
fn an_entry_is_cut_to_each_cap() {
    for (code, rules, text) in caps() {
        for order in [buy(ETH, "2000", "3"), sell(ETH, "2000", "3")] {
            let decided = desk(rules.clone()).order(order);
            assert_eq!(decided.resized().sent_order(0)["s"], "2.5", "{code}");
            assert_eq!(decided.sent_order(1)["s"], "2.5", "{code}: the stop follows");
            decided.says(&[text, "cut from 3 to 2.5"]);
        }
    }
}

#[test]
fn an_entry_at_a_cap_keeps_its_size() {
    for (code, rules, _) in caps() {
        let orders = |size: &str| vec![buy(ETH, "2000", size), stop(ETH, false, "1960", "9")];
        desk(rules.clone()).orders(orders("2.5")).allowed();
        let decided = desk(rules).orders(orders("2.5001"));
        assert_eq!(decided.resized().sent_order(0)["s"], "2.5", "{code}");
    }
}

#[test]
fn the_tightest_cap_binds_and_is_named() {
    let rules = Rules { loss_per_trade: dec!(1), position: dec!(40), ..wide() };
    let decided = desk(rules).order(buy(ETH, "2000", "3"));
    assert_eq!(decided.resized().sent_order(0)["s"], "2");
    decided.says(&["ETH notional 6000.00 is over 40% of equity 10000.00; cut from 3 to 2"]);
}

#[test]
fn under_the_venues_minimum_the_cap_vetoes() {
    let minimum: [(&str, Rules, Decimal, Decimal); 5] = [
        ("loss_limit", Rules { loss_per_trade: dec!(2), ..wide() }, dec!(10), dec!(9.99)),
        ("open_risk_limit", Rules { open_risk: dec!(2), ..wide() }, dec!(10), dec!(9.99)),
        ("position_limit", Rules { position: dec!(1), ..wide() }, dec!(1000), dec!(999)),
        ("exposure_limit", Rules { exposure: dec!(1), ..wide() }, dec!(1000), dec!(999)),
        ("order_value_limit", Rules { order_value: Some(dec!(10)), ..wide() }, dec!(10000), dec!(0)),
    ];
    for (code, rules, enough, short) in minimum {
        let ask = |equity: Decimal, rules: Rules| {
            let mut desk = desk(rules);
            desk.equity = equity;
            desk.read();
            desk.order(buy(ETH, "2000", "0.1"))
        };
        assert_eq!(ask(enough, rules.clone()).resized().sent_order(0)["s"], "0.005", "{code}");
        let (equity, rules) = match code {
            "order_value_limit" => (enough, Rules { order_value: Some(dec!(9.99)), ..rules }),
            _ => (short, rules),
        };
        ask(equity, rules).vetoed(code).says(&["minimum of 10 USDC"]);
    }
}

#[test]
fn without_equity_nothing_is_entered() {
    for equity in [dec!(0), dec!(-5)] {
        let mut desk = desk(wide());
        desk.equity = equity;
        desk.read();
        desk.order(buy(ETH, "2000", "0.1")).vetoed("loss_limit");
    }
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
fn loss_per_trade_is_that_of_the_whole_position() {
    // Two held lose 40 each at their stop; the rule leaves 120 of 200.
    let mut desk = desk(Rules { loss_per_trade: dec!(2), ..wide() });
    desk.hold("ETH", dec!(2));
    desk.show(vec![open_stop("ETH", "A", "1960", "2", 7)]);
    assert_eq!(desk.order(buy(ETH, "2000", "4")).resized().sent_order(0)["s"], "3");
}

#[test]
fn what_has_no_stop_yet_counts_at_the_guards_distance() {
    let mut desk = desk(Rules { loss_per_trade: dec!(2), ..wide() });
    desk.hold("ETH", dec!(2));
    assert_eq!(desk.order(buy(ETH, "2000", "4")).resized().sent_order(0)["s"], "3");
}

#[test]
fn other_markets_count_in_open_risk_and_exposure() {
    for rules in [Rules { open_risk: dec!(1), ..wide() }, Rules { exposure: dec!(50), ..wide() }] {
        let mut desk = desk(rules);
        desk.hold("BTC", dec!(-0.05));
        assert_eq!(desk.order(buy(ETH, "2000", "3")).resized().sent_order(0)["s"], "1");
    }
    for rules in [Rules { loss_per_trade: dec!(1), ..wide() }, Rules { position: dec!(50), ..wide() }] {
        let mut desk = desk(rules);
        desk.hold("BTC", dec!(-0.05));
        assert_eq!(desk.order(buy(ETH, "2000", "3")).resized().sent_order(0)["s"], "2.5");
    }
}

#[test]
fn resting_entries_count_and_the_two_sides_do_not_add_up() {
    let mut desk = desk(Rules { position: dec!(50), ..wide() });
    desk.show(vec![open("ETH", "B", "2000", "1.5", 1), open("ETH", "A", "2000", "2.5", 2)]);
    assert_eq!(desk.order(buy(ETH, "2000", "3")).resized().sent_order(0)["s"], "1");
}

#[test]
fn a_batch_runs_the_budget_down() {
    let rules = Rules { position: dec!(50), ..wide() };
    let decided = desk(rules.clone()).orders(vec![buy(ETH, "2000", "2"), buy(ETH, "1990", "2")]);
    // 1000 USDC are left at 1990.
    assert_eq!((&decided.resized().sent_order(0)["s"], &decided.sent_order(1)["s"]), (&json!("2"), &json!("0.5025")));
    desk(rules).orders(vec![buy(ETH, "2000", "2.5"), buy(ETH, "1990", "2")]).vetoed("position_limit");
}

#[test]
fn a_sell_below_the_mid_is_worth_the_mid() {
    let mut desk = desk(Rules { position: dec!(50), ..wide() });
    assert_eq!(desk.order(sell(ETH, "1990", "3")).resized().sent_order(0)["s"], "2.5");
}

#[test]
fn a_flip_is_judged_on_what_it_opens() {
    let mut desk = desk(Rules { position: dec!(20), ..wide() });
    desk.hold("ETH", dec!(0.5));
    let decided = desk.order(sell(ETH, "2000", "3"));
    // Half a unit closes, one opens.
    assert_eq!(decided.resized().sent_order(0)["s"], "1.5");
    assert_eq!((&decided.sent_order(0)["r"], &decided.sent_order(1)["s"]), (&json!(false), &json!("1")));
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
