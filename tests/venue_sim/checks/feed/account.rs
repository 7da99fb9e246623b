//! The account's feeds: what comes first, what comes when, and how it hangs together.

use super::{ACCOUNT, Socket, control, hold, quiet_venue, trouble, venue};
use rust_decimal::Decimal;
use serde_json::{Value, json};

fn decimal(value: &Value) -> Decimal {
    value.as_str().unwrap().parse().unwrap()
}

fn order(px: &str, sz: &str, is_buy: bool) -> Value {
    json!({"op": "order", "a": 3, "b": is_buy, "p": px, "s": sz, "r": false, "t": {"limit": {"tif": "Gtc"}}})
}

#[test]
fn a_chain_of_fills_links_up_from_the_snapshot_on() {
    let sim = quiet_venue();
    hold(&sim, "0.5");
    hold(&sim, "-0.25");
    let mut socket = Socket::open(&sim);
    socket.follow("userFills");
    let snapshot = socket.hear_on("userFills");
    assert_eq!((&snapshot["isSnapshot"], &snapshot["user"]), (&json!(true), &json!(ACCOUNT)));
    let mut fills = snapshot["fills"].as_array().unwrap().clone();
    assert_eq!(fills.len(), 2);
    for szi in ["1", "0", "-0.125"] {
        hold(&sim, szi);
        let message = socket.hear_on("userFills");
        assert_eq!(message.get("isSnapshot"), None);
        fills.extend(message["fills"].as_array().unwrap().iter().cloned());
    }
    let mut position = Decimal::ZERO;
    let mut ids = std::collections::BTreeSet::new();
    for fill in &fills {
        assert_eq!(decimal(&fill["startPosition"]), position, "{fill}");
        let signed = if fill["side"] == "B" { decimal(&fill["sz"]) } else { -decimal(&fill["sz"]) };
        position += signed;
        assert!(ids.insert((fill["tid"].as_u64(), fill["oid"].as_u64(), fill["time"].as_u64())));
    }
    assert_eq!(position, "-0.125".parse().unwrap());
    assert_eq!(sim.truth()["fills"], json!(fills), "the feed's fills are the venue's");
}

#[test]
fn what_happens_in_one_request_comes_in_the_order_of_the_subscriptions() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    for name in ["orderUpdates", "userEvents", "userFills"] {
        socket.follow(name);
    }
    assert_eq!(socket.hear_on("userFills")["isSnapshot"], true);
    control(&sim, &order("60500", "0.01", true));
    let updates = socket.hear_on("orderUpdates");
    let statuses: Vec<_> = updates.as_array().unwrap().iter().map(|update| &update["status"]).collect();
    assert_eq!(statuses, ["open", "filled"]);
    assert_eq!(updates[0]["order"]["oid"], updates[1]["order"]["oid"]);
    assert_eq!((&updates[0]["order"]["sz"], &updates[1]["order"]["sz"]), (&json!("0.01"), &json!("0.0")));
    let event = socket.hear_on("user");
    let fills = socket.hear_on("userFills");
    assert_eq!(event, json!({"fills": fills["fills"]}));
    assert_eq!(fills["fills"][0]["oid"], updates[0]["order"]["oid"]);
    socket.hears_nothing();
}

#[test]
fn feeds_without_a_first_message_say_nothing_of_the_past() {
    let sim = quiet_venue();
    control(&sim, &json!([order("60500", "0.01", true), order("59000", "0.01", true)]));
    let mut socket = Socket::open(&sim);
    for name in ["orderUpdates", "userEvents", "notification"] {
        socket.follow(name);
    }
    socket.hears_nothing();
    sim.price("BTC", "59000").unwrap();
    assert_eq!(socket.hear_on("orderUpdates")[0]["status"], "filled");
    assert_eq!(socket.hear_on("user")["fills"][0]["crossed"], false);
    let notice = json!({"notification": "Resting order filled: Bought 0.01 BTC at $59000"});
    assert_eq!(socket.hear_on("notification"), notice);
}

#[test]
fn what_the_venue_cancels_is_told_apart_from_what_the_user_does() {
    let sim = quiet_venue();
    hold(&sim, "0.01");
    let mut socket = Socket::open(&sim);
    socket.follow("userEvents");
    let mut closing = order("65000", "0.01", false);
    closing["r"] = json!(true);
    let placed = control(&sim, &closing);
    hold(&sim, "0");
    assert_eq!(socket.hear_on("user")["fills"][0]["dir"], "Close Long");
    let cancelled = json!({"nonUserCancel": [{"coin": "BTC", "oid": placed[0][0]["resting"]["oid"]}]});
    assert_eq!(socket.hear_on("user"), cancelled);
}

#[test]
fn a_liquidation_is_an_event_of_its_own() {
    let sim = quiet_venue();
    hold(&sim, "3");
    let mut socket = Socket::open(&sim);
    socket.follow("userEvents");
    sim.price("BTC", "56000").unwrap();
    let liquidation = socket.hear_on("user")["liquidation"].take();
    let keys: Vec<_> = liquidation.as_object().unwrap().keys().collect();
    let documented = ["lid", "liquidator", "liquidated_user", "liquidated_ntl_pos", "liquidated_account_value"];
    assert_eq!(keys, documented);
    assert_eq!(liquidation["liquidated_user"], ACCOUNT);
    assert_eq!(socket.hear_on("user")["fills"][0]["liquidation"]["method"], "market");
}

#[test]
fn state_feeds_say_everything_again_whether_it_changed_or_not() {
    let sim = venue();
    let mut socket = Socket::open(&sim);
    socket.follow("openOrders");
    let first = socket.hear_on("openOrders");
    assert_eq!([socket.hear_on("openOrders"), socket.hear_on("openOrders")], [first.clone(), first]);
    control(&sim, &order("59000", "0.01", true));
    let begun = std::time::Instant::now();
    while socket.hear_on("openOrders")["orders"] == json!([]) {
        assert!(begun.elapsed() < super::PATIENCE);
    }
}

#[test]
fn state_feeds_hurry_only_where_a_test_wants_it() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    socket.follow("clearinghouseState");
    let state = |state: &Value| state["clearinghouseState"]["assetPositions"].as_array().unwrap().len();
    assert_eq!(state(&socket.hear_on("clearinghouseState")), 0);
    hold(&sim, "1");
    socket.hears_nothing();
    sim.setting("feed_state_at_once", true).unwrap();
    hold(&sim, "2");
    assert_eq!(state(&socket.hear_on("clearinghouseState")), 1);
}

#[test]
fn the_ledger_is_told_of_when_it_shows() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    socket.follow("userNonFundingLedgerUpdates");
    assert_eq!(socket.hear_on("userNonFundingLedgerUpdates")["nonFundingLedgerUpdates"], json!([]));
    control(&sim, &json!({"op": "deposit", "usd": "500", "ledger_delay_ms": 5_000}));
    socket.hears_nothing();
    control(&sim, &json!({"op": "clock", "advance_ms": 5_000}));
    let update = socket.hear_on("userNonFundingLedgerUpdates");
    assert_eq!(update["nonFundingLedgerUpdates"][0]["delta"], json!({"type": "deposit", "usdc": "500.0"}));
    assert_eq!(update.get("isSnapshot"), None);
}

#[test]
fn the_ledger_is_told_of_even_if_nobody_listened_when_the_balance_moved() {
    let sim = quiet_venue();
    control(&sim, &json!({"op": "deposit", "usd": "500", "ledger_delay_ms": 5_000}));
    let mut socket = Socket::open(&sim);
    socket.follow("userNonFundingLedgerUpdates");
    socket.hear_on("userNonFundingLedgerUpdates");
    control(&sim, &json!({"op": "clock", "advance_ms": 5_000}));
    let update = socket.hear_on("userNonFundingLedgerUpdates");
    assert_eq!(update["nonFundingLedgerUpdates"].as_array().unwrap().len(), 1);
}

#[test]
fn each_row_is_told_once_whether_by_the_first_message_or_later() {
    let sim = quiet_venue();
    sim.setting("feed_messages", Value::Null).unwrap();
    for n in 1..=20 {
        control(&sim, &json!({"op": "deposit", "usd": n.to_string(), "ledger_delay_ms": n * 20}));
    }
    let mut socket = Socket::open(&sim);
    let of = json!({"type": "userNonFundingLedgerUpdates", "user": ACCOUNT});
    let mut rows = Vec::new();
    let begun = std::time::Instant::now();
    while rows.len() < 20 {
        assert!(begun.elapsed() < super::PATIENCE);
        rows.clear();
        socket.subscribe(&of);
        socket.say(&json!({"method": "unsubscribe", "subscription": of}).to_string());
        loop {
            let frame = socket.hear();
            if frame["channel"] == "subscriptionResponse" {
                break;
            }
            rows.extend(frame["data"]["nonFundingLedgerUpdates"].as_array().unwrap().clone());
        }
        let amounts: std::collections::BTreeSet<_> = rows.iter().map(|row| decimal(&row["delta"]["usdc"])).collect();
        assert_eq!(amounts.len(), rows.len(), "{rows:?}");
    }
}

#[test]
fn a_stranger_has_feeds_and_nothing_in_them() {
    let sim = quiet_venue();
    hold(&sim, "1");
    let mut socket = Socket::open(&sim);
    let stranger = "0xb2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2";
    let of = |name: &str| json!({"type": name, "user": stranger});
    socket.subscribe(&of("orderUpdates"));
    socket.subscribe(&of("userFills"));
    assert_eq!(socket.hear_on("userFills"), json!({"isSnapshot": true, "user": stranger, "fills": []}));
    socket.subscribe(&of("clearinghouseState"));
    assert_eq!(socket.hear_on("clearinghouseState")["clearinghouseState"]["assetPositions"], json!([]));
    hold(&sim, "2");
    socket.hears_nothing();
}

#[test]
fn fills_of_one_order_are_one_where_that_is_asked_for() {
    let sim = quiet_venue();
    control(&sim, &json!({"op": "book", "coin": "BTC", "depth": "0.01"}));
    let mut socket = Socket::open(&sim);
    socket.follow("userFills");
    socket.hear_on("userFills");
    socket.subscribe(&json!({"type": "userFills", "user": ACCOUNT, "aggregateByTime": true}));
    socket.hear_on("userFills");
    control(&sim, &order("60010", "0.03", true));
    let parts = socket.hear_on("userFills")["fills"].take();
    let whole = socket.hear_on("userFills")["fills"].take();
    assert_eq!((parts.as_array().unwrap().len(), whole.as_array().unwrap().len()), (3, 1));
    assert_eq!((&whole[0]["sz"], &whole[0]["startPosition"]), (&json!("0.03"), &json!("0.0")));
    let fees: Decimal = parts.as_array().unwrap().iter().map(|fill| decimal(&fill["fee"])).sum();
    assert_eq!(decimal(&whole[0]["fee"]), fees);
}

#[test]
fn the_first_message_holds_the_newest_rows_oldest_first() {
    let sim = quiet_venue();
    sim.setting("feed_fills_shown", 2).unwrap();
    for szi in ["1", "2", "3"] {
        hold(&sim, szi);
    }
    let starts = |socket: &mut Socket| -> Vec<Value> {
        let fills = socket.hear_on("userFills")["fills"].take();
        fills.as_array().unwrap().iter().map(|fill| fill["startPosition"].clone()).collect()
    };
    let mut socket = Socket::open(&sim);
    socket.follow("userFills");
    assert_eq!(starts(&mut socket), ["1.0", "2.0"]);
    trouble(&sim, &json!({"kind": "short_snapshot", "on": "userFills", "keep": 1, "times": 1}));
    let mut other = Socket::open(&sim);
    other.follow("userFills");
    assert_eq!(starts(&mut other), ["2.0"]);
    let mut third = Socket::open(&sim);
    third.follow("userFills");
    assert_eq!(starts(&mut third), ["1.0", "2.0"]);
}
