//! The last requests of the account are shared out: no client spends another's part, nor the guard's own, by exits that
//! fill nothing, by cancels of what never was, or by the ends of TWAP orders.

use serde_json::{Value, json};

use crate::clients::{another, code, leave_requests, requests_used, send_as};
use crate::signing::{BTC, ETH, limit, place};
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, covered, hold, until_flat};

/// A service whose account holds 0.5 ETH and has about so many requests left, which the guard has read.
fn with_left(left: u64) -> (Stand, svc_guard::base::key::SecretKey) {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let second = another(&stand);
    hold(&stand, "ETH", "0.5");
    leave_requests(&stand, left);
    // Under 200 are ill health.
    stand.launch();
    covered(&stand, "ETH", "0.5");
    until_read(&stand);
    let told = || stand.status()["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "venue_budget");
    until("the alert, if any", || (told() == (left < 1_000)).then_some(()));
    match left < 200 {
        true => until_ill(&stand),
        false => until("health", || (stand.get("/healthz").status == 200).then_some(())),
    }
    (stand, second)
}

/// Fewer requests are left than are kept for the guard, and its health says so.
fn until_ill(stand: &Stand) {
    until("ill health", || {
        let health = stand.get("/healthz");
        let is_told = health.json()["problems"].to_string().contains("kept for the guard");
        (health.status == 503 && is_told).then_some(())
    });
}

fn until_read(stand: &Stand) {
    let reads = || stand.venue.truth()["reads"]["userRateLimit"].as_u64().unwrap_or_default();
    until("the allowance to be read", || (reads() > 0).then_some(()));
}

#[test]
fn exits_that_fill_nothing_spend_no_more_than_their_clients_part() {
    let (stand, second) = with_left(1_900);
    let before = requests_used(&stand);
    // At a price that nobody pays, and more of them than there are positions.
    let order = json!({"a": ETH, "b": false, "p": "9000", "s": "0.01", "r": true, "t": {"limit": {"tif": "Ioc"}}});
    let batch = json!({"type": "order", "orders": vec![order; 20], "grouping": "na"});
    for _ in 0..80 {
        stand.send(&batch);
    }
    let spent = requests_used(&stand) - before;
    assert!(spent <= 1_100, "{spent} of a part of 1000");
    let reply = until("the reads of a start", || {
        let reply = send_as(&stand, &second, &place(&limit(ETH, true, "2400", "0.01")));
        (reply["guard"]["code"] != "starting").then_some(reply)
    });
    assert!(reply["response"]["data"]["statuses"][0].get("resting").is_some(), "{reply}");
}

#[test]
fn cancels_of_what_never_was_leave_the_kill_its_requests() {
    let (stand, _) = with_left(600);
    let before = requests_used(&stand);
    let cancels: Vec<Value> = (0..1_000).map(|at| json!({"asset": ETH, "cloid": format!("0x{at:032x}")})).collect();
    let reply = stand.send(&json!({"type": "cancelByCloid", "cancels": cancels}));
    assert_eq!(code(&reply), "venue_budget", "{reply}");
    assert!(requests_used(&stand) - before < 100, "{}", requests_used(&stand) - before);
    assert_eq!(run_with(&stand.home(), &["kill", "--reason", "enough"], "").status.code(), Some(0));
    until_flat(&stand);
}

#[test]
fn the_ends_of_twap_orders_keep_the_pace_of_exits() {
    let (stand, _) = with_left(130);
    let before = requests_used(&stand);
    for _ in 0..100 {
        stand.send(&json!({"type": "twapCancel", "a": ETH, "t": 1}));
    }
    let spent = requests_used(&stand) - before;
    assert!(spent <= 5, "{spent}");
}

/// The venue refuses to cancel an order in another market than its own: it rests on, and could be named for ever.
#[test]
fn cancels_that_take_nothing_away_leave_the_kill_its_requests() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    hold(&stand, "ETH", "0.5");
    stand.start();
    covered(&stand, "ETH", "0.5");
    let profit = json!({"a": ETH, "b": false, "p": "2700", "s": "0.1", "r": true, "t": {"limit": {"tif": "Gtc"}}});
    let reply = stand.send(&place(&profit));
    let oid = reply["response"]["data"]["statuses"][0]["resting"]["oid"].as_u64().unwrap();
    stand.kill();
    leave_requests(&stand, 190);
    stand.launch();
    let is_shown = || stand.status()["open_orders"].as_array()?.iter().any(|order| order["oid"] == oid).then_some(());
    until("the order to be known", is_shown);
    until_read(&stand);
    until_ill(&stand);
    let before = requests_used(&stand);
    for _ in 0..100 {
        stand.send(&json!({"type": "cancel", "cancels": [{"a": BTC, "o": oid}]}));
    }
    let spent = requests_used(&stand) - before;
    assert!(spent <= 5, "{spent}");
    assert_eq!(run_with(&stand.home(), &["kill", "--reason", "enough"], "").status.code(), Some(0));
    until_flat(&stand);
}
