//! The leverage rule for entries: the update that goes first, and requests that wait for a setting.

use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Input, Mode, Read};
use crate::rules::Rules;
use crate::venue::info::{Leverage, MarginMode};

fn cross(value: u32) -> Option<Leverage> {
    Some(Leverage { mode: MarginMode::Cross, value })
}

fn isolated(value: u32) -> Option<Leverage> {
    Some(Leverage { mode: MarginMode::Isolated, value })
}

fn update(asset: u32, is_cross: bool, leverage: u32) -> Value {
    json!({"type": "updateLeverage", "asset": asset, "isCross": is_cross, "leverage": leverage})
}

fn entry() -> Value {
    buy(ETH, "2000", "0.1")
}

/// A guard that has read everything but leverage settings.
fn unread() -> Desk {
    let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
    desk.read();
    desk
}

#[test]
fn a_setting_above_the_rule_is_lowered_first() {
    for (setting, pre) in [
        (cross(5), json!([])),
        (cross(6), json!([update(ETH, true, 5)])),
        (isolated(25), json!([update(ETH, false, 5)])),
    ] {
        let mut desk = Desk::live();
        let was = setting.clone().unwrap().value;
        desk.leverage(ETH, setting);
        let decided = desk.order(entry());
        assert_eq!(decided.resized().event["pre"], pre);
        let told = decided.text().contains(&format!("ETH leverage set from {was} to 5"));
        assert_eq!(told, was > 5, "{}", decided.text());
    }
}

#[test]
fn the_markets_own_highest_setting_bounds_the_update() {
    let mut desk = Desk::blank(config(Mode::Testnet, Rules { leverage: 50, ..Rules::default() }));
    desk.read();
    desk.post(place(vec![entry()]));
    let decided = Decided::of(desk.leverage(ETH, cross(51)));
    assert_eq!(decided.event["pre"], json!([update(ETH, true, 25)]));
}

#[test]
fn a_batch_lowers_each_market_once() {
    let mut desk = Desk::live();
    desk.leverage(ETH, cross(10));
    desk.leverage(SOL, cross(10));
    let decided = desk.orders(vec![entry(), buy(ETH, "1999", "0.1"), buy(SOL, "100", "1")]);
    assert_eq!(decided.event["pre"], json!([update(ETH, true, 5), update(SOL, true, 5)]));
}

#[test]
fn an_entry_waits_for_an_unknown_setting() {
    let mut desk = unread();
    let effects = desk.post(place(vec![entry()]));
    assert!(effects.records.is_empty() && effects.after_commit.is_empty());
    assert_eq!(reads(&effects), [&Read::Leverage { asset: ETH, coin: "ETH".into() }]);
    assert!(desk.leverage(BTC, cross(5)).records.is_empty());
    let decided = Decided::of(desk.leverage(ETH, cross(9)));
    assert_eq!(decided.resized().event["pre"], json!([update(ETH, true, 5)]));
    // It is known from now on.
    desk.order(buy(ETH, "1999", "0.1")).resized();
}

#[test]
fn a_setting_that_was_never_read_is_not_touched() {
    // Whatever it were set to might be more than the owner wants.
    for asset in [ETH, ISO] {
        let mut desk = unread();
        let order = if asset == ETH { entry() } else { buy(ISO, "0.5", "100") };
        desk.post(place(vec![order]));
        let decided = Decided::of(desk.leverage(asset, None));
        decided.vetoed("account_stale").says(&["leverage setting is not read yet"]);
    }
}

#[test]
fn a_request_that_closes_something_waits_for_no_setting() {
    let mut desk = unread();
    desk.hold("ETH", rust_decimal::dec!(1));
    let effects = desk.post(place(vec![buy(SOL, "100", "1"), close(ETH, false, "1990", "1")]));
    assert_eq!(reads(&effects), [&Read::Leverage { asset: SOL, coin: "SOL".into() }]);
    let decided = Decided::of(effects);
    decided.resized().says(&["order 1 of 2 left out (account_stale)"]);
    assert_eq!(sends(&decided.effects).len(), 1);
    // The next entry finds the setting read.
    desk.leverage(SOL, cross(3));
    desk.order(buy(SOL, "100", "1")).resized();
}

#[test]
fn cancelled_is_a_request_that_waits_when_a_cancel_names_it() {
    let mut desk = unread();
    desk.post(place(vec![with(entry(), "/c", cloid(1))]));
    desk.post(place(vec![with(buy(ETH, "1999", "0.1"), "/c", cloid(2))]));
    let effects = desk.post(json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": cloid(1)}]}));
    let decided: Vec<_> = events(&effects).into_iter().filter(|event| event["kind"] == "decision").collect();
    assert_eq!((&decided[0]["code"], &decided[1]["action"]), (&json!("cancelled"), &json!("cancelByCloid")));
    let effects = desk.leverage(ETH, cross(3));
    assert_eq!(events(&effects).iter().filter(|event| event["kind"] == "decision").count(), 1, "the other one goes");
}

#[test]
fn an_entry_waits_two_seconds_at_most() {
    let mut desk = unread();
    desk.post(place(vec![entry()]));
    desk.now += 1_999;
    assert!(desk.step(Input::Tick).records.is_empty());
    desk.now += 1;
    let decided = Decided::of(desk.step(Input::Tick));
    decided.vetoed("account_stale").says(&["ETH's leverage setting is not read yet"]);
}

#[test]
fn a_setting_learnt_long_ago_is_read_again() {
    let mut desk = Desk::live();
    desk.wait(300_000);
    desk.order(entry()).resized();
    desk.wait(1);
    let effects = desk.post(place(vec![buy(ETH, "1999", "0.1")]));
    assert_eq!(reads(&effects), [&Read::Leverage { asset: ETH, coin: "ETH".into() }]);
    // Not answered in time: what was known no longer counts.
    desk.wait(2_000);
    let decided = Decided::of(desk.step(Input::Tick));
    assert_eq!(decided.event["pre"], json!([update(ETH, true, 5)]));
}

/// It may have been changed since, and up to the rule is more than the owner's own setting.
#[test]
fn a_setting_below_the_rule_that_is_not_read_again_is_not_raised() {
    let mut desk = Desk::live();
    desk.leverage(ETH, cross(3));
    desk.wait(300_001);
    let effects = desk.post(place(vec![entry()]));
    assert_eq!(reads(&effects), [&Read::Leverage { asset: ETH, coin: "ETH".into() }]);
    desk.wait(2_000);
    let decided = Decided::of(desk.step(Input::Tick));
    assert_eq!(decided.event["pre"], json!([update(ETH, true, 3)]));
}

#[test]
fn a_batch_waits_for_every_setting() {
    let mut desk = unread();
    let effects = desk.post(place(vec![entry(), buy(SOL, "100", "1")]));
    assert_eq!(reads(&effects).len(), 2);
    assert!(desk.leverage(SOL, cross(3)).records.is_empty());
    let decided = Decided::of(desk.leverage(ETH, cross(3)));
    assert_eq!(decided.event["pre"], json!([]), "a setting below the rule is not raised");
}

#[test]
fn a_setting_that_is_on_its_way_is_not_asked_for_twice() {
    let mut desk = unread();
    desk.post(place(vec![entry()]));
    assert!(reads(&desk.post(place(vec![buy(ETH, "1999", "0.1")]))).is_empty());
    let effects = desk.leverage(ETH, cross(5));
    assert_eq!(events(&effects).iter().filter(|event| event["kind"] == "decision").count(), 2);
}

#[test]
fn nothing_waits_that_is_refused_anyway() {
    let mut desk = unread();
    desk.order(buy(UNLISTED, "1", "100")).vetoed("market_unknown");
    desk.hold("SOL", rust_decimal::dec!(-1));
    desk.order(close(SOL, true, "100", "1")).reduces();
    desk.now += 6_000;
    desk.order(entry()).vetoed("account_stale");
}

#[test]
fn a_close_never_waits_for_a_setting() {
    let mut desk = Desk::live();
    desk.hold("ETH", rust_decimal::dec!(0.1));
    desk.now += 400_000;
    assert_eq!(desk.order(sell(ETH, "2000", "0.1")).resized().sent_order(0)["r"], true);
}

#[test]
fn a_stop_of_the_service_decides_what_waits() {
    let mut desk = unread();
    desk.post(place(vec![entry()]));
    Decided::of(desk.step(Input::Shutdown { reason: "SIGTERM".into() })).vetoed("stopping");
}

#[test]
fn positions_and_accepted_updates_teach_settings() {
    let mut desk = unread();
    desk.hold("ETH", rust_decimal::dec!(0.1));
    desk.order(entry()).resized();
    let mut desk = unread();
    let decided = desk.ask(update(SOL, true, 4));
    desk.answer(decided.seq(), 0, done());
    desk.order(buy(SOL, "100", "1")).resized();
    let decided = desk.ask(update(BTC, true, 4));
    desk.answer(decided.seq(), 0, json!({"status": "err", "response": "no"}));
    assert_eq!(reads(&desk.post(place(vec![buy(BTC, "60000", "0.001")]))).len(), 1);
}
