//! The status' headroom counts as the judge does: full is where the next entry is refused.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use super::halting::{self, equity};
use crate::guard::{Config, Mode};
use crate::rules::Rules;

fn row(desk: &Desk, rule: &str) -> Value {
    let status = desk.guard.status_json(desk.now, (0, 0));
    let rows = status["headroom"].as_array().unwrap();
    let found: Vec<&Value> = rows.iter().filter(|row| row["rule"] == rule).collect();
    assert_eq!(found.len(), 1, "{rule}");
    found[0].clone()
}

fn usage(desk: &Desk, rule: &str) -> (Value, Value, Value) {
    let row = row(desk, rule);
    (row["coin"].clone(), row["used"].clone(), row["limit"].clone())
}

#[test]
fn nothing_is_claimed_before_the_account_is_read() {
    let desk = Desk::blank(config(Mode::Testnet, Rules::default()));
    for rule in ["daily_loss", "drawdown", "open_risk", "loss_per_trade", "exposure", "position"] {
        assert_eq!(usage(&desk, rule), (Value::Null, Value::Null, Value::Null), "{rule}");
    }
    for (rule, limit) in [("leverage", "5"), ("open_orders", "50"), ("orders_per_minute", "60")] {
        assert_eq!(usage(&desk, rule), (Value::Null, Value::Null, json!(limit)), "{rule}");
    }
}

/// What rests and was never read counts against these: it is not known, and not zero.
#[test]
fn what_counts_orders_is_not_known_before_they_are_read() {
    let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
    desk.hold("ETH", dec!(1));
    for rule in ["open_risk", "loss_per_trade", "exposure", "position", "open_orders"] {
        assert_eq!(usage(&desk, rule).1, Value::Null, "{rule}");
    }
    for (rule, used) in [("daily_loss", "0"), ("leverage", "5"), ("orders_per_minute", "0")] {
        assert_eq!(usage(&desk, rule).1, json!(used), "{rule}");
    }
    let venue = |desk: &Desk| desk.guard.status_json(desk.now, (0, 0))["venue"].clone();
    assert_eq!(venue(&desk)["orders_age_ms"], Value::Null);
    desk.read_orders(desk.now);
    desk.now += 300;
    assert_eq!(venue(&desk)["orders_age_ms"], json!(300));
    assert_eq!(usage(&desk, "open_orders").1, json!("0"));
}

#[test]
fn money_and_the_market_that_is_nearest() {
    let mut desk = Desk::live();
    for rule in ["open_risk", "loss_per_trade", "exposure", "position", "leverage"] {
        assert_eq!(usage(&desk, rule).0, Value::Null, "{rule}: nothing is held");
    }
    // A long of 2 at the mid of 2000 with a stop 50 under it, and a short of 20 without one: 2% of its price at 100.
    desk.hold("SOL", dec!(-20));
    desk.hold("ETH", dec!(2));
    desk.show(vec![open_stop("ETH", "A", "1950", "2", 7)]);
    assert_eq!(usage(&desk, "loss_per_trade"), (json!("ETH"), json!("100"), json!("200")));
    assert_eq!(usage(&desk, "position"), (json!("ETH"), json!("4000"), json!("10000")));
    assert_eq!(usage(&desk, "open_risk"), (Value::Null, json!("140"), json!("600")));
    assert_eq!(usage(&desk, "exposure"), (Value::Null, json!("6000"), json!("30000")));
    assert_eq!(usage(&desk, "leverage"), (json!("ETH"), json!("5"), json!("5")), "the first of equals");
    assert_eq!(
        (row(&desk, "position")["unit"].clone(), row(&desk, "leverage")["unit"].clone()),
        (json!("usdc"), json!("times"))
    );
}

#[test]
fn limits_are_of_the_capped_equity() {
    let desk = Desk::of(Config { equity_cap: Some(dec!(1000)), ..config(Mode::Testnet, Rules::default()) });
    assert_eq!(usage(&desk, "open_risk").2, json!("60"));
    assert_eq!(usage(&desk, "position").2, json!("1000"));
    assert_eq!(usage(&desk, "daily_loss").2, json!("50"));
    assert_eq!(usage(&desk, "drawdown").2, json!("150"));
}

/// What the status shows of a capped equity is what the halts go by.
#[test]
fn halts_fire_at_parts_of_the_capped_equity() {
    for (daily_loss, left, expected) in [
        (dec!(5), dec!(9950.01), "active"),
        (dec!(5), dec!(9950), "halted_for_day"),
        (dec!(90), dec!(9850.01), "active"),
        (dec!(90), dec!(9850), "stopped"),
    ] {
        let rules = Rules { daily_loss, ..Rules::default() };
        let mut desk = halting::of(Config { equity_cap: Some(dec!(1000)), ..config(Mode::Testnet, rules) });
        halting::lose(&mut desk, left);
        assert_eq!(halting::state(&desk), expected, "{left}");
    }
}

#[test]
fn a_loss_is_used_and_a_gain_is_not() {
    let mut desk = Desk::live();
    equity(&mut desk, dec!(9900));
    assert_eq!(usage(&desk, "daily_loss"), (Value::Null, json!("100"), json!("500")));
    assert_eq!(usage(&desk, "drawdown"), (Value::Null, json!("100"), json!("1500")));
    equity(&mut desk, dec!(10050));
    assert_eq!(usage(&desk, "daily_loss").1, json!("0"));
}

#[test]
fn full_is_where_the_next_entry_is_refused() {
    let mut desk = Desk::new(Mode::Testnet, Rules { open_orders: 2, ..wide() });
    let mut exit = open("ETH", "A", "2100", "1", 9);
    exit.reduce_only = true;
    desk.show(vec![open("ETH", "B", "1900", "0.1", 1), exit]);
    assert_eq!(usage(&desk, "open_orders").1, json!("1"), "an exit is none");
    desk.order(buy(ETH, "1990", "0.1")).resized();
    assert_eq!(usage(&desk, "open_orders").1, json!("2"));
    desk.order(buy(ETH, "1991", "0.1")).vetoed("open_orders_limit");

    let mut desk = Desk::new(Mode::Testnet, Rules { orders_per_minute: 1, ..wide() });
    desk.order(buy(ETH, "1990", "0.1")).resized();
    assert_eq!(usage(&desk, "orders_per_minute").1, json!("1"));
    desk.order(buy(ETH, "1991", "0.1")).vetoed("order_rate_limit");
    desk.wait(60_000);
    assert_eq!(usage(&desk, "orders_per_minute").1, json!("0"));
}
