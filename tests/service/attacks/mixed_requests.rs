//! Whatever a request asks for besides, its exits go, at the price that was asked; and what is refused is not sent.

use serde_json::{Value, json};

use crate::http::Response;
use crate::signing::{BTC, ETH, limit, place, signed};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, held, hold, hold_covered, is_same, until_flat};

/// Delisted at the simulated venue.
const MATIC: u32 = 2;

fn exit(asset: u32, px: &str, size: &str) -> Value {
    json!({"a": asset, "b": false, "p": px, "s": size, "r": true, "t": {"limit": {"tif": "Ioc"}}})
}

fn statuses(reply: &Value) -> Vec<Value> {
    reply["response"]["data"]["statuses"].as_array().unwrap_or_else(|| panic!("{reply}")).clone()
}

fn batch(orders: &[Value]) -> Value {
    json!({"type": "order", "orders": orders, "grouping": "na"})
}

#[test]
fn an_exit_goes_beside_an_entry_that_is_refused() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "1");
    let reply = stand.send(&batch(&[limit(MATIC, true, "0.4", "100"), exit(ETH, "2400", "1")]));
    let told = statuses(&reply);
    assert_eq!(told.len(), 2, "{reply}");
    assert!(told[0]["error"].as_str().unwrap().contains("market_delisted"), "{reply}");
    assert!(told[1].get("filled").is_some(), "{reply}");
    assert_eq!(reply["guard"]["verdict"], "resize");
    assert_eq!(held(&stand, "ETH"), None);
}

/// An entry waits for its market's leverage setting, and keeps no exit of the same request waiting with it: that has been
/// decided on when an entry that came before it still waits.
#[test]
fn an_exit_beside_an_entry_waits_for_no_setting() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "1");
    // Longer than an entry waits.
    let hang = json!({"op": "fault", "on": "activeAssetData", "kind": "stall", "times": 1_000, "ms": 3_000});
    stand.venue.control(&hang).unwrap();
    let asked = || 1_000 - stand.venue.truth()["faults"][0]["times"].as_u64().unwrap();
    // Where the machine is so slow that the entry has waited long enough by then, it is tried again.
    let overtook = (0..5_u32).any(|turn| {
        // The question of the turn before must have its end, or it is not asked again.
        std::thread::sleep(std::time::Duration::from_secs(5) * turn.min(1));
        let before = asked();
        let entry = place(&limit(BTC, true, &(59_000 + turn).to_string(), "0.01"));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| stand.send(&entry));
            until("the question for the setting", || (asked() > before).then_some(()));
            let reply = stand.send(&batch(&[limit(BTC, true, "59100", "0.01"), exit(ETH, "2400", "0.2")]));
            let told = statuses(&reply);
            assert!(told[0]["error"].as_str().unwrap().contains("account_stale"), "{reply}");
            assert!(told[1].get("filled").is_some(), "{reply}");
            let entry = waits.join().unwrap();
            assert_eq!(entry["guard"]["code"], "account_stale", "{entry}");
            reply["guard"]["seq"].as_u64() < entry["guard"]["seq"].as_u64()
        })
    });
    assert!(overtook, "the exit waited with the entry");
}

/// An entry that rested has filled, and nothing tells: no feed, and the account is read as it was. The close goes as it would alone.
#[test]
fn a_close_of_what_nobody_has_heard_of_goes_beside_an_entry_that_is_refused() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.without_feed();
    stand.send(&place(&limit(ETH, false, "2510", "0.2")));
    until("the order to be read", || stand.status()["open_orders"].as_array().filter(|all| !all.is_empty()).map(drop));
    stand.venue.fault("clearinghouseState", "stale", 1_000).unwrap();
    stand.venue.control(&json!({"op": "price", "coin": "ETH", "px": "2511"})).unwrap();
    until("it to fill", || held(&stand, "ETH"));
    let mut close = limit(ETH, true, "2540", "0.2");
    (close["r"], close["t"]["limit"]["tif"]) = (json!(true), json!("Ioc"));
    let reply = stand.send(&batch(&[limit(MATIC, true, "0.4", "100"), close]));
    let told = statuses(&reply);
    assert!(told[0]["error"].as_str().unwrap().contains("market_delisted"), "{reply}");
    assert!(told[1].get("filled").is_some(), "{reply}");
    assert_eq!(held(&stand, "ETH"), None);
}

/// The guard closes everything itself then, and cannot: the client's own price may find somebody.
#[test]
fn an_exit_beside_an_entry_goes_after_a_kill() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    assert_eq!(crate::stand::run_with(&stand.home(), &["kill", "--reason", "test"], "").status.code(), Some(0));
    until("the kill", || stand.status()["killed"].is_string().then_some(()));
    stand.venue.control(&json!({"op": "book", "coin": "ETH", "depth": "0"})).unwrap();
    hold(&stand, "ETH", "0.5");
    let sent = |px: &str| stand.venue_saw().iter().filter(|saw| saw["action"]["orders"][0]["p"] == px).count();
    let asked = batch(&[limit(BTC, true, "59800", "0.01"), exit(ETH, "2401", "0.5")]);
    let reply = until("a read of the position", || Some(stand.send(&asked)).filter(|_| sent("2401") > 0));
    let told = statuses(&reply);
    assert!(told[0]["error"].as_str().unwrap().contains("killed"), "{reply}");
    assert!(told[1]["error"].as_str().unwrap().contains("not immediately match"), "{reply}");
    assert_eq!(sent("59800"), 0);
    stand.venue.control(&json!({"op": "book", "coin": "ETH", "depth": null})).unwrap();
    until_flat(&stand);
}

/// Sells 1.0002 of the 1.0001 that are held, at a price far below: all of it closes, at that price.
fn closes_at_its_own_price(rules: &str, before: &[Value]) {
    let stand = Stand::up(Mode::Testnet, rules);
    hold_covered(&stand, "ETH", "1.0001");
    before.iter().for_each(|action| drop(stand.send(action)));
    let mut close = limit(ETH, false, "2400", "1.0002");
    close["t"]["limit"]["tif"] = json!("Ioc");
    let reply = stand.send(&place(&close));
    assert!(statuses(&reply)[0].get("filled").is_some(), "{rules}: {reply}");
    assert_eq!(held(&stand, "ETH"), None, "nothing is left, and nothing was opened");
    let saw = stand.venue_saw();
    let orders = || saw.iter().flat_map(|request| request["action"]["orders"].as_array().into_iter().flatten());
    let sent = orders().find(|order| order["p"] == "2400").unwrap();
    assert_eq!((&sent["r"], is_same(sent["s"].as_str().unwrap(), "1.0001")), (&json!(true), true));
    let rest = orders().find(|order| is_same(order["s"].as_str().unwrap(), "0.0001"));
    assert_eq!(rest, None, "no stop goes for what was never opened");
}

#[test]
fn an_unmarked_close_a_little_too_large_closes_at_its_own_price() {
    closes_at_its_own_price(WIDE, &[]);
    closes_at_its_own_price(&format!("{WIDE}markets = [\"BTC\"]\n"), &[]);
}

#[test]
fn it_does_at_the_order_rate_limit() {
    let rules = WIDE.replace("orders_per_minute = 1200", "orders_per_minute = 1");
    closes_at_its_own_price(&rules, &[place(&limit(BTC, true, "59000", "0.01"))]);
}

#[test]
fn an_exit_cut_to_what_closes_keeps_its_price() {
    let stand = Stand::up(Mode::Testnet, &format!("{WIDE}order_value = \"10\"\n"));
    hold_covered(&stand, "ETH", "1");
    let mut close = limit(ETH, false, "2400", "2");
    close["t"]["limit"]["tif"] = json!("Ioc");
    let reply = stand.send(&place(&close));
    let saw = stand.venue_saw();
    let sold = saw.iter().map(|request| &request["action"]["orders"][0]).find(|order| order["p"] == "2400");
    assert_eq!(sold.map(|order| order["r"].clone()), Some(json!(true)), "{reply}");
    assert_eq!(held(&stand, "ETH"), None);
}

#[test]
fn what_asks_for_nothing_is_malformed_and_not_sent() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let before = stand.venue_saw().len();
    for action in [
        json!({"type": "order", "orders": [], "grouping": "na"}),
        json!({"type": "cancel", "cancels": []}),
        json!({"type": "cancelByCloid", "cancels": []}),
        json!({"type": "batchModify", "modifies": []}),
    ] {
        let Response { status, .. } = stand.post("/exchange", &signed(&stand.client, &action));
        assert_eq!(status, 422, "{action}");
    }
    assert_eq!(stand.venue_saw().len(), before);
}

#[test]
fn one_order_is_not_modified_into_many() {
    let stand = Stand::up(Mode::Testnet, &format!("{WIDE}open_orders = 1\n"));
    let reply = stand.send(&place(&limit(ETH, true, "2450", "0.1")));
    let oid = statuses(&reply)[0]["resting"]["oid"].clone();
    let into = |px: u32| json!({"oid": oid, "order": limit(ETH, true, &px.to_string(), "0.1")});
    let modifies: Vec<Value> = (2400..2420).map(into).collect();
    stand.send(&json!({"type": "batchModify", "modifies": modifies, "a": true}));
    let truth = stand.venue.truth();
    let entries = truth["orders"].as_array().unwrap().iter().filter(|order| order["reduceOnly"] == false).count();
    assert_eq!(entries, 1, "{truth}");
}

#[test]
fn no_exit_is_modified_into_one_entry_more() {
    let stand = Stand::up(Mode::Testnet, &format!("{WIDE}open_orders = 1\n"));
    hold_covered(&stand, "ETH", "1");
    let resting = stand.send(&place(&limit(BTC, true, "59000", "0.01")));
    assert!(statuses(&resting)[0].get("resting").is_some(), "{resting}");
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": "2700", "tpsl": "tp"}});
    let profit = stand.send(&place(&json!({"a": ETH, "b": false, "p": "2700", "s": "1", "r": true, "t": trigger})));
    let oid = statuses(&profit)[0]["resting"]["oid"].clone();
    let reply = stand.send(&json!({"type": "modify", "oid": oid, "order": limit(ETH, true, "2450", "0.1")}));
    assert_eq!(reply["guard"]["code"], "open_orders_limit", "{reply}");
    let truth = stand.venue.truth();
    let entries = truth["orders"].as_array().unwrap().iter().filter(|order| order["reduceOnly"] == false).count();
    assert_eq!(entries, 1, "{truth}");
}

#[test]
fn settings_that_put_more_at_stake_are_refused_after_a_kill() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.send(&json!({"type": "updateLeverage", "asset": ETH, "isCross": true, "leverage": 2}));
    let done = crate::stand::run_with(&stand.home(), &["kill", "--reason", "test"], "");
    assert_eq!(done.status.code(), Some(0));
    until("the kill", || stand.status()["killed"].is_string().then_some(()));
    let before = stand.venue_saw().len();
    for (asset, leverage) in [(ETH, 3), (110_001, 1)] {
        let update = json!({"type": "updateLeverage", "asset": asset, "isCross": true, "leverage": leverage});
        assert_eq!(stand.send(&update)["guard"]["verdict"], "veto");
        let margin = json!({"type": "updateIsolatedMargin", "asset": asset, "isBuy": true, "ntli": 9_000_000_000_u64});
        assert_eq!(stand.send(&margin)["guard"]["verdict"], "veto");
    }
    let of_settings =
        |request: &&Value| request["action"]["type"].as_str().is_some_and(|name| name.starts_with("update"));
    assert_eq!(stand.venue_saw().iter().skip(before).filter(of_settings).count(), 0);
    let lower = json!({"type": "updateLeverage", "asset": ETH, "isCross": true, "leverage": 1});
    assert_eq!(stand.send(&lower)["guard"]["verdict"], "allow");
}
