//! Stops on the cheapest coins, where one tick is a large part of the price.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::Mode;
use crate::rules::Rules;
use crate::venue::info::{Leverage, MarginMode};
use crate::venue::market::{Market, Universe};

const CHEAP: u32 = 0;

/// A guard that knows one market, of this mid, and nothing else.
fn desk(size_decimals: u32, mid: Decimal, (stop, max_stop): (Decimal, Decimal)) -> Desk {
    let mut desk = Desk::blank(config(Mode::Testnet, Rules { stop, max_stop, ..wide() }));
    let market = Market {
        asset: CHEAP,
        coin: "CHEAP".to_owned(),
        size_decimals,
        max_leverage: 3,
        is_delisted: false,
        only_isolated: false,
    };
    desk.guard.view.universe = Universe::new(vec![market]);
    desk.mids = [("CHEAP".to_owned(), mid)].into();
    desk.read();
    desk.leverage(CHEAP, Some(Leverage { mode: MarginMode::Cross, value: 3 }));
    desk
}

/// So many of the smallest ticks.
fn ticks(count: i64, size_decimals: u32) -> Decimal {
    Decimal::new(count, 6 - size_decimals).normalize()
}

fn amount(value: &Value) -> Decimal {
    value.as_str().unwrap().parse().unwrap()
}

fn entry(is_buy: bool, px: Decimal) -> Value {
    let size = (dec!(50) / px).ceil().to_string();
    if is_buy { buy(CHEAP, &px.to_string(), &size) } else { sell(CHEAP, &px.to_string(), &size) }
}

/// One entry, with a stop of the guard's or a refusal, held to the rules by counting ticks.
fn check(size_decimals: u32, count: i64, is_buy: bool, half_ticks: i64, rules: (Decimal, Decimal)) {
    let half = |halves: i64| Decimal::new(5 * halves, 7 - size_decimals);
    let (px, mid) = (ticks(count, size_decimals), half(2 * count + half_ticks));
    let decided = desk(size_decimals, mid, rules).order(entry(is_buy, px));
    let told = || format!("{px} at the mid {mid} under {rules:?}: {}", decided.event);
    // The collar pulls what reaches too far through the mid onto the last tick within it, where there is one.
    let tick = ticks(1, size_decimals);
    let px = if is_buy {
        let edge = (mid * dec!(1.005) / tick).floor() * tick;
        if edge.is_zero() { px } else { px.min(edge) }
    } else {
        px.max((mid * dec!(0.995) / tick).ceil() * tick)
    };
    let is_losing = |trigger: Decimal| {
        if is_buy { trigger < px.min(mid) && trigger > Decimal::ZERO } else { trigger > px.max(mid) }
    };
    let within = |from: Decimal, trigger: Decimal| (from - trigger).abs() <= from * rules.1 / dec!(100);
    let farther = if is_buy { px.min(mid) } else { px.max(mid) };
    let is_good = |trigger: Decimal| is_losing(trigger) && (within(px, trigger) || within(farther, trigger));
    if decided.verdict() == "veto" {
        decided.vetoed("stop_wrong_side").says(&["CHEAP", "max_stop"]);
        let any = (1..=2 * count + 2).map(|count| ticks(count, size_decimals)).find(|trigger| is_good(*trigger));
        assert_eq!(any, None, "{}", told());
        return;
    }
    assert_eq!(amount(&decided.sent_order(0)["p"]), px, "{}", told());
    let stop = decided.sent_order(1);
    let (trigger, limit) = (amount(&stop["t"]["trigger"]["triggerPx"]), amount(&stop["p"]));
    assert!(is_good(trigger), "{}", told());
    let market = |px: Decimal| px > Decimal::ZERO && px.normalize().scale() <= 6 - size_decimals;
    assert!(market(trigger) && market(limit), "{}", told());
    // Room to fill in, wherever there is a price beyond.
    let has_room = if is_buy { limit < trigger || trigger == tick } else { limit > trigger };
    assert!(has_room, "{}", told());
}

#[test]
fn an_attached_stop_stands_on_the_losing_side_within_the_rule_or_the_entry_is_refused() {
    for size_decimals in [0, 1, 4, 5] {
        for count in (1..=60).chain([99, 100, 101, 998, 1_000, 1_001, 9_999, 10_000, 99_999]) {
            for is_buy in [true, false] {
                for half_ticks in [-1, 0, 1] {
                    for rules in [(dec!(2), dec!(5)), (dec!(0.05), dec!(0.05)), (dec!(5), dec!(50))] {
                        check(size_decimals, count, is_buy, half_ticks, rules);
                    }
                }
            }
        }
    }
}

#[test]
fn a_stop_goes_a_tick_away_where_the_rule_lets_it() {
    // 2% of thirty ticks is less than one; one is 3.3%.
    for (is_buy, trigger) in [(true, "0.000029"), (false, "0.000031")] {
        let decided = desk(0, dec!(0.00003), (dec!(2), dec!(5))).order(entry(is_buy, dec!(0.00003)));
        let trigger = format!("attached at {trigger}, 3.33% from the price 0.00003 (rule: 2%)");
        decided.resized().says(&[&trigger]);
    }
}

#[test]
fn a_refusal_names_the_rule_the_nearest_tick_and_the_way_out() {
    let decided = desk(0, dec!(0.00001), (dec!(2), dec!(5))).order(entry(true, dec!(0.00001)));
    decided.vetoed("stop_wrong_side").says(&["CHEAP", "max_stop", "5%", "0.000009", "10%", "0.00001"]);
    assert_eq!((&decided.event["limit"], &decided.event["actual"]), (&json!("5"), &json!("10")));
    // There is no price below the lowest.
    let lowest = desk(0, dec!(0.000001), (dec!(2), dec!(50))).order(entry(true, dec!(0.000001)));
    lowest.vetoed("stop_wrong_side").says(&["lowest price"]);
}

#[test]
fn a_stop_of_the_clients_is_held_to_the_widest_there_too() {
    let stopped = |px: Decimal, trigger: &str, max_stop: Decimal| {
        desk(0, px, (dec!(2), max_stop)).orders(vec![entry(true, px), stop(CHEAP, false, trigger, "10000000")])
    };
    stopped(dec!(0.00001), "0.000005", dec!(5)).vetoed("stop_wrong_side").says(&["max_stop"]);
    let tightened = stopped(dec!(0.00003), "0.000015", dec!(5));
    assert_eq!(tightened.resized().sent_order(1)["t"]["trigger"]["triggerPx"], "0.000029");
}

#[test]
fn an_exit_passes_at_any_price() {
    let mut desk = desk(0, dec!(0.000001), (dec!(2), dec!(5)));
    desk.hold("CHEAP", dec!(100));
    desk.order(close(CHEAP, false, "0.000001", "100")).reduces();
    let mut desk = self::desk(0, dec!(0.00001), (dec!(2), dec!(5)));
    desk.hold("CHEAP", dec!(1000000));
    let closing = desk.order(sell(CHEAP, "0.00001", "1000000"));
    assert_eq!((&closing.resized().sent_order(0)["r"], &closing.sent_order(0)["p"]), (&json!(true), &json!("0.00001")));
}

#[test]
fn a_bare_position_gets_its_stop_a_tick_away() {
    for (szi, trigger) in [(dec!(1000000), "0.000029"), (dec!(-1000000), "0.000031")] {
        let mut desk = desk(0, dec!(0.00003), (dec!(2), dec!(5)));
        desk.now += 1;
        desk.hold("CHEAP", szi);
        let effects = desk.read_orders(desk.now);
        let told = events(&effects).into_iter().find(|event| event["kind"] == "protect");
        let told = told.unwrap_or_else(|| panic!("{effects:?}"));
        assert_eq!(told["actions"][0]["orders"][0]["t"]["trigger"]["triggerPx"], trigger, "{told}");
    }
}
