//! An entry that rests is covered when it fills while nobody watches, in a batch too; and where it is not, nobody says so.

use serde_json::{Value, json};

use crate::signing::{BTC, ETH, limit};
use crate::stand::{Mode, Stand};
use crate::watched::{WIDE, covered, is_same, stops};

fn batch(orders: &[Value]) -> Value {
    json!({"type": "order", "orders": orders, "grouping": "na"})
}

/// The stops that wait at the venue for their entries to fill.
fn children(stand: &Stand) -> usize {
    let truth = stand.venue.truth();
    truth["orders"].as_array().unwrap().iter().filter(|order| order["stage"] == "waiting").count()
}

#[test]
fn the_entries_of_a_batch_bring_their_stops_along() {
    let mut stand = Stand::up(Mode::Testnet, WIDE);
    let orders = [limit(ETH, true, "2490", "0.1"), limit(BTC, true, "59800", "0.01"), limit(ETH, true, "2480", "0.2")];
    let reply = stand.send(&batch(&orders));
    let told = reply["response"]["data"]["statuses"].as_array().unwrap();
    assert!(told.len() == 3 && told.iter().all(|status| status.get("resting").is_some()), "{reply}");
    assert_eq!(children(&stand), 3);
    // Each status is that of its order.
    let orders = stand.venue.truth()["orders"].clone();
    let px =
        |oid: &Value| orders.as_array().unwrap().iter().find(|order| order["oid"] == *oid).unwrap()["limitPx"].clone();
    let prices: Vec<f64> =
        told.iter().map(|status| px(&status["resting"]["oid"]).as_str().unwrap().parse().unwrap()).collect();
    assert_eq!(prices, [2490.0, 59_800.0, 2480.0]);
    // Nobody watches, and the price falls through one of them.
    stand.kill();
    stand.venue.control(&json!({"op": "price", "coin": "ETH", "px": "2485"})).unwrap();
    assert_eq!(stops(&stand, "ETH").len(), 1);
}

#[test]
fn a_batch_that_comes_too_fast_is_told_that_its_stops_come_later() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let orders: Vec<Value> = (0..41).map(|at| limit(ETH, true, &(2400 + at).to_string(), "0.01")).collect();
    let reply = stand.send(&batch(&orders));
    assert_eq!(reply["response"]["data"]["statuses"].as_array().unwrap().len(), 41, "{reply}");
    let text = reply["guard"]["text"].as_str().unwrap();
    assert!(!text.contains("attached") && text.contains("to be placed at"), "{text}");
    assert_eq!(children(&stand), 0);
    assert_eq!(stand.status()["unattended"], 41);
}

/// What fifty entries open is covered with one send, not with fifty that wait for one another.
#[test]
fn what_a_batch_opens_is_covered_with_one_send() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let ioc = json!({"a": ETH, "b": true, "p": "2510", "s": "0.02", "r": false, "t": {"limit": {"tif": "Ioc"}}});
    let reply = stand.send(&batch(&vec![ioc; 50]));
    let told = reply["response"]["data"]["statuses"].as_array().unwrap();
    assert!(told.len() == 50 && told.iter().all(|status| status.get("filled").is_some()), "{reply}");
    covered(&stand, "ETH", "1");
    let placed = stand.venue_saw().iter().filter(|request| request["type"] == "order").count();
    assert!(placed <= 3, "{placed} requests for one batch");
}

/// Whatever becomes of the child that it had, the stop of the modified entry is not at the venue: nobody is told that it is.
#[test]
fn an_entry_that_is_modified_is_told_that_its_stop_comes_later() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let reply = stand.send(&batch(&[limit(ETH, true, "2490", "0.1")]));
    assert_eq!(children(&stand), 1);
    let oid = reply["response"]["data"]["statuses"][0]["resting"]["oid"].clone();
    let order = limit(ETH, true, "2480", "0.1");
    let reply = stand.send(&json!({"type": "modify", "oid": oid, "order": order}));
    let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
    let stands = |order: &Value| order["triggerPx"].as_str().is_some_and(|px| is_same(px, "2430.4"));
    assert!(orders.len() == 2 && !orders.iter().any(stands), "{orders:?}");
    let text = reply["guard"]["text"].as_str().unwrap();
    assert!(!text.contains("attached") && text.contains("to be placed at 2430.4 when it fills"), "{reply}");
    // Then it is covered.
    stand.venue.control(&json!({"op": "price", "coin": "ETH", "px": "2479"})).unwrap();
    covered(&stand, "ETH", "0.1");
}
