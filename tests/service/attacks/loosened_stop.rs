//! A stop never moves away from the price while its position lasts, whatever a client places and cancels.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::signing::{ETH, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{covered, held, hold, hold_covered, stops};

/// The default rules, without what only slows a test.
const RULES: &str = "orders_per_minute = 1200\nduplicate_window = \"0\"\n";

fn number(text: &str) -> Decimal {
    text.parse().unwrap()
}

pub(super) fn sell_stop(trigger_px: &str, size: &str) -> Value {
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": trigger_px, "tpsl": "sl"}});
    json!({"a": ETH, "b": false, "p": "1000", "s": size, "r": true, "t": trigger})
}

/// How much of a long the armed stops at this trigger or nearer close.
fn covered_at(stand: &Stand, trigger_px: &str) -> Decimal {
    let stops = stops(stand, "ETH");
    let near = stops.iter().filter(|stop| number(stop["triggerPx"].as_str().unwrap()) >= number(trigger_px));
    near.map(|stop| number(stop["sz"].as_str().unwrap())).sum()
}

/// That the venue never holds less than `size` at this trigger or nearer, until the guard has read `rounds` times more.
pub(super) fn stays_covered(stand: &Stand, trigger_px: &str, size: &str, rounds: u64) {
    let reads = || stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap();
    let before = reads();
    until("the reads", || {
        let covered = covered_at(stand, trigger_px);
        assert!(covered >= number(size), "{covered} of {size} at {trigger_px}: {:?}", stops(stand, "ETH"));
        (reads() >= before + rounds).then_some(())
    });
}

/// The order id of the armed stop at this trigger.
pub(super) fn stop_at(stand: &Stand, trigger_px: &str) -> u64 {
    let is_it = |stop: &Value| number(stop["triggerPx"].as_str().unwrap()) == number(trigger_px);
    until("the stop", || stops(stand, "ETH").into_iter().find(is_it))["oid"].as_u64().unwrap()
}

pub(super) fn cancel(oid: u64) -> Value {
    json!({"type": "cancel", "cancels": [{"a": ETH, "o": oid}]})
}

#[test]
fn a_far_stop_frees_no_tight_one() {
    let stand = Stand::up(Mode::Testnet, RULES);
    hold_covered(&stand, "ETH", "3");
    stand.send(&place(&sell_stop("2460", "3")));
    until("the guard's own stop to go", || (stops(&stand, "ETH").len() == 1).then_some(()));
    stand.send(&place(&sell_stop("1300", "3")));
    let tight = stop_at(&stand, "2460");
    until("both to be read", || (stand.status()["open_orders"].as_array()?.len() == 2).then_some(()));
    let reply = stand.send(&cancel(tight));
    assert_eq!(reply["status"], "ok", "{reply}");
    stays_covered(&stand, "2460", "3", 4);
    assert!(stops(&stand, "ETH").iter().all(|stop| stop["oid"] != tight), "the client's own cancel went through");
}

#[test]
fn a_far_stop_keeps_no_position_bare() {
    let stand = Stand::up(Mode::Testnet, RULES);
    hold_covered(&stand, "ETH", "0.1");
    stand.send(&place(&sell_stop("1300", "3")));
    stop_at(&stand, "1300");
    hold(&stand, "ETH", "3");
    // Two percent under the price, as the rule says.
    until("cover of it all", || (covered_at(&stand, "2450") >= number("3")).then_some(()));
    let position = until("the status to show it", || {
        let position = stand.status()["positions"][0].clone();
        (position["covered_size"] == "3").then_some(position)
    });
    assert!(number(position["risk"].as_str().unwrap()) <= number("200"), "{position}");
}

#[test]
fn a_stop_that_waits_for_its_entry_frees_none() {
    let stand = Stand::up(Mode::Testnet, RULES);
    hold_covered(&stand, "ETH", "3");
    for _ in 0..3 {
        let entry = json!({"a": ETH, "b": true, "p": "2459", "s": "0.01", "r": false, "t": {"limit": {"tif": "Alo"}}});
        let reply = stand
            .send(&json!({"type": "order", "orders": [entry, sell_stop("2455.4", "3")], "grouping": "normalTpsl"}));
        stays_covered(&stand, "2450", "3", 2);
        if let Some(oid) = reply["response"]["data"]["statuses"][0]["resting"]["oid"].as_u64() {
            stand.send(&cancel(oid));
        }
        stays_covered(&stand, "2450", "3", 2);
    }
}

/// A tight stop makes an entry small enough for the rules; without it the guard's own stands as tight.
#[test]
fn an_entry_whose_stop_never_lives_loses_no_more_than_the_rules() {
    let rules = "loss_per_trade = \"0.5\"\nopen_risk = \"1\"\norders_per_minute = 1200\nduplicate_window = \"0\"\n";
    let stand = Stand::up(Mode::Testnet, rules);
    let id = "0x05050505050505050505050505050505";
    let mut stop = sell_stop("2488", "3.9");
    stop["c"] = json!(id);
    let entry = json!({"a": ETH, "b": true, "p": "2499", "s": "3.9", "r": false, "t": {"limit": {"tif": "Gtc"}}});
    stand.send(&json!({"type": "order", "orders": [entry, stop], "grouping": "normalTpsl"}));
    stand.send(&json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": id}]}));
    until("the child to go", || stand.venue.truth()["orders"].as_array().unwrap().len().eq(&1).then_some(()));
    stand.venue.price("ETH", "2498.9").unwrap();
    let size = until("the fill", || held(&stand, "ETH"));
    let stop = covered(&stand, "ETH", &size);
    let loss = (number("2499") - number(stop["triggerPx"].as_str().unwrap())) * number(&size);
    assert!(loss <= number("51"), "{loss} by {stop}, of 50");
}

#[test]
fn a_sized_stop_of_the_position_covers_its_size_alone() {
    let stand = Stand::up(Mode::Testnet, RULES);
    hold_covered(&stand, "ETH", "2");
    stand.send(&place(&sell_stop("2470", "2")));
    until("the guard's own stop to go", || (stops(&stand, "ETH").len() == 1).then_some(()));
    stand.send(&json!({"type": "order", "orders": [sell_stop("2475", "0.01")], "grouping": "positionTpsl"}));
    until("both to be read", || (stand.status()["open_orders"].as_array()?.len() == 2).then_some(()));
    stand.send(&cancel(stop_at(&stand, "2470")));
    stays_covered(&stand, "2470", "2", 4);
}

/// The stop of a position that is found beyond it would have fired.
#[test]
fn a_position_beyond_its_line_is_closed() {
    let stand = Stand::up(Mode::Testnet, RULES);
    hold_covered(&stand, "ETH", "3");
    // By hand, and the price goes on before anything is read.
    let stop = stop_at(&stand, "2450");
    stand.venue.control(&json!({"op": "fault", "on": "frontendOpenOrders", "kind": "stale", "times": 2})).unwrap();
    stand.venue.control(&json!({"op": "book", "coin": "ETH", "depth": "0"})).unwrap();
    stand.venue.price("ETH", "2440").unwrap();
    assert!(stops(&stand, "ETH").iter().all(|one| one["oid"] != stop), "it fired into an empty book");
    stand.venue.control(&json!({"op": "book", "coin": "ETH", "depth": null})).unwrap();
    until("the close", || held(&stand, "ETH").is_none().then_some(()));
}
