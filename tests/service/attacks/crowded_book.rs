//! Resting reduce-only orders are bounded, and where the venue takes no more open orders from the account they make room
//! for a stop of the guard's.

use serde_json::{Value, json};

use crate::signing::ETH;
use crate::stand::{Mode, Stand};
use crate::watched::{WIDE, covered, hold, hold_covered, stops};

fn take_profits(from: usize, count: usize) -> Value {
    let order = |number: usize| {
        let px = (2600 + number).to_string();
        json!({"a": ETH, "b": false, "p": px, "s": "0.01", "r": true, "t": {"limit": {"tif": "Gtc"}}})
    };
    json!({"type": "order", "orders": (from..from + count).map(order).collect::<Vec<_>>(), "grouping": "na"})
}

#[test]
fn a_full_book_of_take_profits_keeps_no_position_bare() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    stand.venue.control(&json!({"op": "setting", "name": "open_orders_limit", "value": 20})).unwrap();
    let reply = stand.send(&take_profits(0, 40)).to_string();
    assert!(reply.contains("Too many open orders"), "{reply}");
    hold(&stand, "BTC", "0.01");
    covered(&stand, "BTC", "0.01");
    // What made room is the client's, and no cover.
    assert_eq!(stops(&stand, "ETH").len(), 1);
}

#[test]
fn a_client_rests_a_hundred_exits_at_most() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "2");
    assert_eq!(stand.send(&take_profits(0, 101))["guard"]["code"], "open_exits_limit");
    assert_eq!(stand.send(&take_profits(0, 100))["guard"]["code"], "reduces");
    assert_eq!(stand.send(&take_profits(100, 1))["guard"]["code"], "open_exits_limit");
    let orders = stand.venue.truth()["orders"].as_array().unwrap().len();
    assert_eq!(orders, 101, "a hundred and the stop");
}
