//! A batch whose entries go as groups, one after the other, at a slow venue: none of them expires on the way.

use serde_json::{Value, json};

use crate::signing::{ETH, limit};
use crate::stand::{Mode, Stand};
use crate::watched::WIDE;

const ENTRIES: usize = 38;

#[test]
fn no_entry_of_a_batch_expires_on_the_way() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let slow = json!({"op": "fault", "on": "order", "kind": "delay", "times": 1_000, "ms": 600});
    stand.venue.control(&slow).unwrap();
    let orders: Vec<Value> =
        (0..ENTRIES).map(|at| limit(ETH, true, &format!("24{}.{}", 90 + at / 10, at % 10), "0.05")).collect();
    let reply = stand.send(&json!({"type": "order", "orders": orders, "grouping": "na"}));
    let statuses = reply["response"]["data"]["statuses"].as_array().unwrap();
    let resting = statuses.iter().filter(|status| status.get("resting").is_some()).count();
    assert_eq!(resting, ENTRIES, "{reply}");
    let truth = stand.venue.truth();
    let orders = truth["orders"].as_array().unwrap();
    assert_eq!(orders.iter().filter(|order| order["side"] == "B").count(), ENTRIES);
    // What the venue took along with its entry, and what it did not: the texts promise neither as done.
    let children = orders.iter().filter(|order| order["stage"] == "waiting").count();
    assert!(children > 0 && children < ENTRIES, "{children}");
    let text = reply["guard"]["text"].as_str().unwrap();
    assert!(!text.contains("stop attached") && text.contains("when their entries fill"), "{text}");
}

/// The children of an entry that fills in part are cancelled with the rest of it.
#[test]
fn no_stop_is_told_as_attached_to_what_may_fill_in_part() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.venue.control(&json!({"op": "book", "coin": "ETH", "depth": "0.3"})).unwrap();
    let mut entry = limit(ETH, true, "2500.5", "3");
    entry["t"] = json!({"limit": {"tif": "Ioc"}});
    let reply = stand.send(&crate::signing::place(&entry));
    let text = reply["guard"]["text"].as_str().unwrap();
    assert!(text.contains("stop to be attached at 2450.5 when it fills"), "{text}");
    let size = crate::watched::held(&stand, "ETH").unwrap();
    assert_ne!(size, "3");
    crate::watched::covered(&stand, "ETH", &size);
}
