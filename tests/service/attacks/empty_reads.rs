//! One read that shows nothing is no proof that nothing is there: a position's own stop stays where it is until a second
//! read shows the end of the position, and markets that a read leaves out are read again.

use serde_json::{Value, json};

use crate::signing::resting;
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, hold, hold_covered, stops, until_flat};

/// Waits until the venue has answered this question so many times more.
fn more_reads(stand: &Stand, question: &str, times: u64) {
    let reads = || stand.venue.truth()["reads"][question].as_u64().unwrap_or_default();
    let before = reads();
    until(question, || (reads() >= before + times).then_some(()));
}

fn cancels(stand: &Stand) -> usize {
    stand.venue_saw().iter().filter(|request| request["action"]["type"] == "cancel").count()
}

/// One answer as for an account without a state, and one without the positions.
#[test]
fn one_account_read_without_the_position_takes_no_stop() {
    for kind in ["stranger", "empty"] {
        let stand = Stand::up(Mode::Testnet, WIDE);
        stand.without_feed();
        let stop = hold_covered(&stand, "ETH", "0.4");
        // Nearer to the stop than a new one would stand.
        stand.venue.price("ETH", "2455").unwrap();
        more_reads(&stand, "clearinghouseState", 2);
        stand.venue.fault("clearinghouseState", kind, 1).unwrap();
        more_reads(&stand, "clearinghouseState", 4);
        more_reads(&stand, "frontendOpenOrders", 1);
        let now = stops(&stand, "ETH");
        assert_eq!((now.len(), &now[0]["oid"], &now[0]["triggerPx"]), (1, &stop["oid"], &stop["triggerPx"]), "{kind}");
        assert_eq!(cancels(&stand), 0, "{kind}");
        // It fires where it stood.
        stand.venue.price("ETH", "2445").unwrap();
        until_flat(&stand);
        // What is opened anew before the guard has seen the end is the same position to it, and beyond its line by now.
        until("the guard to see the end", || {
            stand.status()["positions"].as_array().is_some_and(Vec::is_empty).then_some(())
        });
        // And an end that reads go on showing is one.
        hold_covered(&stand, "ETH", "0.4");
        hold(&stand, "ETH", "0");
        until_flat(&stand);
    }
}

/// The open orders of one read are none either.
#[test]
fn one_orders_read_without_the_stop_moves_no_line() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let stop = hold_covered(&stand, "ETH", "0.4");
    stand.venue.price("ETH", "2455").unwrap();
    more_reads(&stand, "clearinghouseState", 2);
    stand.venue.fault("frontendOpenOrders", "empty", 1).unwrap();
    more_reads(&stand, "frontendOpenOrders", 3);
    let is_at_line = |stop: &Value, line: &Value| stop["triggerPx"] == *line;
    assert!(stops(&stand, "ETH").iter().any(|now| is_at_line(now, &stop["triggerPx"])), "{:?}", stops(&stand, "ETH"));
}

/// The answer to an entry, once the reads of a start are over.
fn an_entry(stand: &Stand) -> Value {
    until("the reads of a start", || {
        let entry = stand.send(&resting());
        (entry["guard"]["code"] != "starting").then_some(entry)
    })
}

/// A start's first answer names no market: nothing else could be understood until it is read again.
#[test]
fn markets_that_are_none_are_read_again_at_once() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    hold(&stand, "ETH", "0.4");
    stand.venue.fault("metaAndAssetCtxs", "empty", 1).unwrap();
    stand.launch();
    until("the stop", || stops(&stand, "ETH").into_iter().next());
    let entry = an_entry(&stand);
    assert_eq!(entry["status"], "ok", "{entry}");
}

/// A unified account's equity is read beside its positions. Where that cannot be read they are looked after all the same, and
/// what they lose fires the daily loss stop.
#[test]
fn positions_are_covered_and_closed_although_the_equity_cannot_be_read() {
    for is_start in [true, false] {
        let mut stand = Stand::set_up(Mode::Testnet, WIDE);
        stand.venue.setting("abstraction", json!("unifiedAccount")).unwrap();
        if !is_start {
            stand.launch();
            until("a first read", || (stand.send(&resting())["status"] == "ok").then_some(()));
        }
        stand.venue.fault("spotClearinghouseState", "http_422", 1_000_000).unwrap();
        hold(&stand, "ETH", "0.4");
        if is_start {
            stand.launch();
        }
        until("the stop", || stops(&stand, "ETH").into_iter().next());
        let told = |text: &str| {
            let alerts = stand.status()["alerts"].to_string();
            alerts.contains(text).then_some(())
        };
        until("the alert", || told("the account's equity: not read"));
        let entry = an_entry(&stand);
        assert_eq!(entry["guard"]["code"], "account_stale", "{entry}");
        run_with(&stand.home(), &["kill", "--reason", "enough"], "");
        until_flat(&stand);
    }
}

/// Nothing tells a life that starts then what the account is worth. What it sees being lost fires the daily loss stop all the
/// same.
#[test]
fn a_start_that_cannot_read_the_equity_halts_by_what_the_positions_lose() {
    let mut stand = Stand::set_up(Mode::Testnet, &WIDE.replace("daily_loss = \"90\"", "daily_loss = \"5\""));
    stand.venue.setting("abstraction", json!("unifiedAccount")).unwrap();
    stand.launch();
    until("a first read", || (stand.send(&resting())["status"] == "ok").then_some(()));
    hold_covered(&stand, "ETH", "0.4");
    stand.kill();
    stand.venue.fault("spotClearinghouseState", "http_422", 1_000_000).unwrap();
    stand.launch();
    until("the alert", || {
        stand.status()["alerts"].to_string().contains("the account's equity: not read").then_some(())
    });
    // A person buys, far above the market: over the day's limit is lost at once.
    stand.venue.control(&json!({"op": "position", "coin": "SOL", "szi": "100", "entry_px": "170"})).unwrap();
    until_flat(&stand);
    assert_eq!(stand.status()["risk"]["state"], "halted_for_day");
}

/// What the account is worth is not known without its mode; what it holds is.
#[test]
fn a_start_that_cannot_read_the_mode_covers_and_closes_what_is_held() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    hold(&stand, "ETH", "0.4");
    stand.venue.fault("userAbstraction", "http_422", 1_000_000).unwrap();
    stand.launch();
    until("the stop", || stops(&stand, "ETH").into_iter().next());
    let entry = an_entry(&stand);
    assert_eq!(entry["guard"]["code"], "account_mode", "{entry}");
    // It is known again, and trading goes on by the equity that is read then.
    stand.venue.control(&serde_json::json!({"op": "clear"})).unwrap();
    until("an entry to pass", || (stand.send(&resting())["guard"]["verdict"] != "veto").then_some(()));
    stand.kill();
    stand.venue.fault("userAbstraction", "http_422", 1_000_000).unwrap();
    stand.launch();
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    assert_eq!(done.status.code(), Some(0));
    until_flat(&stand);
}

/// Marks come with the markets, and are nothing that cover or a kill needs.
#[test]
fn markets_are_read_without_their_marks_where_those_cannot_be_had() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    hold(&stand, "ETH", "0.4");
    stand.venue.fault("metaAndAssetCtxs", "http_422", 1_000_000).unwrap();
    stand.launch();
    until("the stop", || stops(&stand, "ETH").into_iter().next());
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    assert_eq!(done.status.code(), Some(0));
    until_flat(&stand);
}
