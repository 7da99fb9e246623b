//! The scenes in which the guard acts of its own accord: it covers, and it closes everything.

use std::fs;

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};
use svc_guard::venue::action::{Action, Grouping, OrderAction};
use svc_guard::venue::order::Tif;

use crate::bot::limit;
use crate::say;
use crate::scenes::{check, cover, verdict};
use crate::stage::{Stage, amount, array, text};

/// The account's owner trades at the venue's own page, past the guard.
fn by_hand(stage: &Stage, coin: &str, size: &str, px: &str) -> Result<(), String> {
    let op = json!({"op": "position", "coin": coin, "szi": size, "entry_px": px});
    stage.venue.control(&op).map(drop)
}

fn held(truth: &Value, coin: &str) -> Option<Decimal> {
    let of_coin = |held: &&Value| held.get("coin").and_then(Value::as_str) == Some(coin);
    array(truth, "/positions").iter().find(of_coin).and_then(|held| amount(held, "/szi").ok())
}

fn is_flat(truth: &Value) -> bool {
    array(truth, "/positions").is_empty() && array(truth, "/orders").is_empty()
}

/// Tells what the venue was sent for a flatten, and that nothing is left.
fn tell_flat(stage: &Stage, flatten: &Value, before: usize) -> Result<(), String> {
    say(format_args!("  Guard: flatten, {}", text(flatten, "/reason")?));
    let truth = stage.truth_when("a flat account", is_flat)?;
    let own = array(&truth, "/requests").iter().skip(before);
    let own: Vec<&Value> =
        own.filter(|request| request.pointer("/action/type").and_then(Value::as_str) != Some("noop")).collect();
    check(own.len() >= array(flatten, "/actions").len(), "every action of the flatten", &truth)?;
    for request in own {
        let outcomes = array(request, "/reply/response/data/statuses").iter().map(outcome).collect::<Vec<_>>();
        say(format_args!("  Venue: was sent {}: {}", text(request, "/action/type")?, outcomes.join(", ")));
    }
    say("  Venue: no position and no order is left");
    Ok(())
}

/// The venue's word on one order or cancel.
fn outcome(status: &Value) -> String {
    match (text(status, "/filled/totalSz"), text(status, "/filled/avgPx")) {
        (Ok(size), Ok(px)) => format!("{size} filled at {px}"),
        _ => status.as_str().map_or_else(|| status.to_string(), str::to_owned),
    }
}

/// The bot tries to trade on, and is refused.
fn refused(stage: &Stage, code: &str) -> Result<(), String> {
    let asset = stage.asset("BTC")?;
    say("  Bot:   buy 0.01 BTC at 59900");
    let order = limit(asset, true, dec!(0.01), dec!(59900), Tif::Gtc, None);
    let action = Action::Order(OrderAction { orders: vec![order], grouping: Grouping::Na, builder: None });
    verdict(&stage.post(&action)?, "veto", code)
}

pub(crate) fn protect(stage: &mut Stage) -> Result<(), String> {
    say("  Owner: buys 0.5 ETH at 2500 at the venue's own page, and sets no stop");
    by_hand(stage, "ETH", "0.5", "2500")?;
    let told = stage.event_when("protect", |event| array(event, "/coins").iter().any(|coin| coin == "ETH"))?;
    let is_covered = |truth: &Value| cover(truth, dec!(0.5)).is_ok();
    let truth = stage.truth_when("a stop for 0.5 ETH", is_covered)?;
    let stop = cover(&truth, dec!(0.5))?;
    check(text(stop, "/coin")? == "ETH", "a stop in ETH", stop)?;
    say(format_args!("  Guard: protect {}", told.get("coins").unwrap_or(&Value::Null)));
    say(format_args!("  Venue: a stop for all of it rests at {}", text(stop, "/triggerPx")?));
    Ok(())
}

pub(crate) fn kill(stage: &mut Stage) -> Result<(), String> {
    let (reason, before) = ("the bot looks odd", stage.sent());
    say(format_args!("  Owner: svc-guard kill --reason \"{reason}\""));
    stage.guard.command(&["kill", "--reason", reason])?;
    let flatten = stage.event_when("flatten", |event| event.get("reason").is_some())?;
    tell_flat(stage, &flatten, before)?;
    refused(stage, "killed")?;
    say("  Owner: looks at it, removes the kill file and starts svc-guard anew; nothing else releases the switch");
    fs::remove_file(stage.guard.file("kill")).map_err(|error| format!("the kill file: {error}"))?;
    stage.restart_guard()?;
    let status = stage.status_when(|status| text(status, "/risk/state").is_ok())?;
    check(status.get("killed") == Some(&Value::Null), "a switch that is not pulled", &status)
}

pub(crate) fn daily_loss(stage: &mut Stage) -> Result<(), String> {
    say("  Owner: buys 4 ETH at 2500 and 0.05 BTC at 60000 at the venue's own page");
    by_hand(stage, "ETH", "4", "2500")?;
    by_hand(stage, "BTC", "0.05", "60000")?;
    stage.truth_when("a stop for 4 ETH", |truth| cover(truth, dec!(4)).is_ok())?;
    stage.truth_when("a stop for 0.05 BTC", |truth| cover(truth, dec!(0.05)).is_ok())?;
    let before = stage.sent();
    say("  Venue: ETH falls from 2500 to 2340 at one stroke, past the guard's stop at 2450, which fills there");
    stage.venue.price("ETH", "2340")?;
    check(held(&stage.venue.truth(), "ETH").is_none(), "no ETH", &stage.venue.truth())?;
    let risk =
        stage.event_when("risk", |event| event.get("state").and_then(Value::as_str) == Some("halted_for_day"))?;
    let told = |key: &str| text(&risk, &format!("/details/{key}")).map(str::to_owned);
    say(format_args!("  Guard: {} USDC lost today, the limit is {}: halted_for_day", told("loss")?, told("limit")?));
    let number = |event: &Value| event.get("seq").and_then(Value::as_u64);
    let flatten = stage.event_when("flatten", |event| number(event) > number(&risk))?;
    tell_flat(stage, &flatten, before)?;
    refused(stage, "halted_for_day")
}
