//! The exits that rest for an account are shared out, those that come with entries too: no client's fill another's part.

use serde_json::{Value, json};

use crate::clients::{another, code, send_as};
use crate::signing::{BTC, ETH, limit};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, covered, hold};

/// As many as a client may have.
const MOST: usize = 100;

fn trigger(asset: u32, px: &str, size: &str, tpsl: &str) -> Value {
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": px, "tpsl": tpsl}});
    json!({"a": asset, "b": false, "p": px, "s": size, "r": true, "t": trigger})
}

fn take_profits(count: usize) -> Value {
    let orders: Vec<Value> =
        (0..count).map(|at| trigger(ETH, &format!("{}.{}", 2600 + at / 10, at % 10), "0.0045", "tp")).collect();
    json!({"type": "order", "orders": orders, "grouping": "na"})
}

/// The reduce-only orders at the venue that the guard did not place.
fn exits(stand: &Stand, coin: &str) -> usize {
    let truth = stand.venue.truth();
    let is_guards = |order: &Value| order["cloid"].as_str().is_some_and(|id| id.starts_with("0x73766367726401"));
    let orders = truth["orders"].as_array().unwrap().iter();
    orders.filter(|order| order["coin"] == coin && order["reduceOnly"] == true && !is_guards(order)).count()
}

fn two_that_hold() -> (Stand, svc_guard::base::key::SecretKey) {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let second = another(&stand);
    hold(&stand, "ETH", "0.6");
    hold(&stand, "BTC", "0.05");
    stand.start();
    covered(&stand, "ETH", "0.6");
    covered(&stand, "BTC", "0.05");
    (stand, second)
}

#[test]
fn the_children_of_one_clients_entries_leave_another_its_stops() {
    let (stand, second) = two_that_hold();
    assert_eq!(code(&stand.send(&take_profits(MOST))), "reduces");
    for at in 0..56 {
        let entry = limit(ETH, true, &format!("25{:02}.{}", 5 + at / 10, at % 10), "0.005");
        let children = [trigger(ETH, "2700", "0.005", "tp"), trigger(ETH, "2452", "0.005", "sl")];
        let group = json!({"type": "order", "orders": [entry, children[0], children[1]], "grouping": "normalTpsl"});
        stand.send(&group);
    }
    until("what rests to be read", || {
        let shown = stand.status()["open_orders"].as_array()?.len();
        (shown >= exits(&stand, "ETH")).then_some(())
    });
    assert!(exits(&stand, "ETH") <= MOST, "{} rest", exits(&stand, "ETH"));
    let stop = json!({"type": "order", "orders": [trigger(BTC, "59500", "0.05", "sl")], "grouping": "na"});
    let reply = send_as(&stand, &second, &stop);
    assert_eq!(exits(&stand, "BTC"), 1, "{reply}");
}

#[test]
fn a_restart_gives_no_client_another_hundred() {
    let (mut stand, second) = two_that_hold();
    assert_eq!(code(&stand.send(&take_profits(MOST))), "reduces");
    stand.kill();
    stand.start();
    until("them to be read", || (stand.status()["open_orders"].as_array()?.len() >= MOST).then_some(()));
    let reply = stand.send(&take_profits(1));
    assert_eq!((code(&reply), exits(&stand, "ETH")), ("open_exits_limit", MOST), "{reply}");
    // What the journal tells of counts beside what was read until a later read shows that it is the same.
    until("the other client's to rest", || {
        send_as(&stand, &second, &take_profits(MOST));
        (exits(&stand, "ETH") == 2 * MOST).then_some(())
    });
}
