//! Resting reduce-only orders are bounded, and where the venue takes no more open orders from the account they make room
//! for a stop of the guard's.

use std::time::Duration;

use serde_json::{Value, json};

use crate::signing::{ETH, limit};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, covered, held, hold, hold_covered, stops, until_flat};

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

/// A market stop of this size, sold below the price.
fn stop_at(px: &str, size: &str) -> Value {
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": px, "tpsl": "sl"}});
    json!({"a": ETH, "b": false, "p": "2300", "s": size, "r": true, "t": trigger})
}

/// How many orders rest, and as many as the venue takes from here on.
fn fill_up(stand: &Stand) -> usize {
    let orders = || stand.venue.truth()["orders"].as_array().unwrap().len();
    // What the guard has to spare by now is gone.
    std::thread::sleep(Duration::from_secs(2));
    let count = orders();
    stand.venue.control(&json!({"op": "setting", "name": "open_orders_limit", "value": count})).unwrap();
    count
}

/// What is held of BTC has a stop, or is closed.
fn until_not_bare(stand: &Stand) {
    let is_bare = || held(stand, "BTC").is_some() && stops(stand, "BTC").is_empty();
    until("cover, or the close", || (!is_bare()).then_some(()));
}

#[test]
fn a_book_full_of_stops_behind_others_makes_room_for_one() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    let behind: Vec<Value> = (0..18).map(|_| stop_at("2470", "0.4")).collect();
    stand.venue.control(&json!({"op": "order", "order": behind})).unwrap();
    fill_up(&stand);
    hold(&stand, "BTC", "0.01");
    covered(&stand, "BTC", "0.01");
    covered(&stand, "ETH", "0.4");
    assert_eq!(held(&stand, "BTC").as_deref(), Some("0.01"), "it was covered, and not closed");
}

/// None of them stands behind others: a close needs one of their places.
#[test]
fn a_book_full_of_cover_keeps_no_position_from_its_close() {
    for is_killed in [false, true] {
        let stand = Stand::up(Mode::Testnet, WIDE);
        hold_covered(&stand, "ETH", "0.4");
        let parts: Vec<Value> = (0..25).map(|number| stop_at(&(2470 + number).to_string(), "0.01")).collect();
        let reply = stand.send(&json!({"type": "order", "orders": parts, "grouping": "na"}));
        assert_ne!(reply["guard"]["verdict"], "veto", "{reply}");
        fill_up(&stand);
        if is_killed {
            stand.pull("enough");
            until_flat(&stand);
            continue;
        }
        hold(&stand, "BTC", "0.01");
        until_not_bare(&stand);
    }
}

/// Orders that are no exits may be more than the venue takes of these: nobody knows by how many.
#[test]
fn an_account_far_over_the_limit_on_exits_gets_its_stop() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.venue.setting("prior_volume", json!("500000000")).unwrap();
    stand.venue.control(&json!({"op": "setting", "name": "open_orders_limit", "value": 20})).unwrap();
    let bids: Vec<Value> = (0..120).map(|n| limit(ETH, true, &(2000 + n).to_string(), "0.02")).collect();
    stand.venue.control(&json!({"op": "order", "order": bids})).unwrap();
    hold(&stand, "BTC", "0.01");
    until_not_bare(&stand);
}
