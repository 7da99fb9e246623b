//! Entries that rest and no longer fit are taken back, the newest first; what closes and what covers stays.

use serde_json::{Value, json};

use crate::signing::{ETH, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, held, hold_covered, is_same, sends_are_named};

/// The open orders at the venue that may open something, by their price.
fn entries(stand: &Stand) -> Vec<String> {
    let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
    let entries = orders.into_iter().filter(|order| order["reduceOnly"] == false);
    let mut prices: Vec<String> = entries.map(|order| order["limitPx"].as_str().unwrap().to_owned()).collect();
    prices.sort_unstable();
    prices
}

fn reduce_only(stand: &Stand) -> Vec<Value> {
    let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
    orders.into_iter().filter(|order| order["reduceOnly"] == true).collect()
}

#[test]
fn a_cap_that_shrank_takes_the_newest_entries_back_and_nothing_else() {
    let rules = WIDE.replace("position = \"400\"", "position = \"100\"");
    let stand = Stand::up(Mode::Testnet, &rules);
    hold_covered(&stand, "ETH", "0.4");
    let profit = json!({"a": ETH, "b": false, "p": "2600", "s": "0.4", "r": true, "t": {"limit": {"tif": "Gtc"}}});
    stand.send(&place(&profit));
    for px in ["2401", "2400", "2402"] {
        stand.send(&place(&limit(ETH, true, px, "1.2")));
    }
    assert_eq!(entries(&stand).len(), 3);
    // 1000 are held and 2882 bid for by the oldest: it alone fits into 4000.
    stand.venue.control(&json!({"op": "withdraw", "usd": "6000"})).unwrap();
    until("the newest to go", || (entries(&stand).len() == 1).then_some(()));
    assert_eq!(entries(&stand), ["2401.0"]);
    until("the status to say that it fits", || {
        let status = stand.status();
        let used: rust_decimal::Decimal = status["risk"]["exposure"].as_str()?.parse().ok()?;
        let is_told = status["alerts"].as_array()?.iter().any(|alert| alert["code"] == "over_limit");
        (used < rust_decimal::dec!(4000) && !is_told).then_some(())
    });
    assert_eq!(entries(&stand), ["2401.0"], "no more than had to");
    let kept = reduce_only(&stand);
    assert!(kept.iter().any(|order| order["limitPx"] == "2600.0"), "{kept:?}");
    assert!(kept.iter().any(|order| order["orderType"] == "Stop Market"), "{kept:?}");
    assert!(is_same(&held(&stand, "ETH").unwrap(), "0.4"), "a cap closes no position");

    let intents = stand.events_of("intent");
    let cancel = intents.iter().find(|intent| intent["action"]["type"] == "cancel").unwrap();
    let why = stand.event(&cancel["of"]);
    assert!(why["text"].as_str().unwrap().contains("position"), "{why}");
    sends_are_named(&stand);
}

/// Whoever spends what is kept for clients spends nothing of what the guard takes entries back with.
#[test]
fn entries_are_taken_back_where_the_clients_weight_is_spent() {
    let rules = WIDE.replace("position = \"400\"", "position = \"100\"");
    let stand = Stand::up(Mode::Testnet, &rules);
    hold_covered(&stand, "ETH", "0.4");
    for px in ["2401", "2400", "2402"] {
        stand.send(&place(&limit(ETH, true, px, "1.2")));
    }
    assert_eq!(entries(&stand).len(), 3);
    // At a price that nobody pays, until there is no room for another.
    let is_spent = || {
        let exit = json!({"a": ETH, "b": false, "p": "2600", "s": "0.01", "r": true, "t": {"limit": {"tif": "Ioc"}}});
        stand.send(&place(&exit)).to_string().contains("room").then_some(())
    };
    until("the client's weight to be spent", is_spent);
    stand.venue.control(&json!({"op": "withdraw", "usd": "6000"})).unwrap();
    until("the newest to go", || {
        _ = is_spent();
        (entries(&stand).len() == 1).then_some(())
    });
    assert_eq!(entries(&stand), ["2401.0"]);
}
