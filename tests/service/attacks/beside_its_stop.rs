//! An entry that rests beside its stop, and not as a group: a crash does not forget that it will have that one.

use serde_json::{Value, json};

use super::loosened_stop::sell_stop;
use crate::clients::code;
use crate::signing::{ETH, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::hold_covered;

/// The mid is 2500: five percent under it.
fn bracket(px: &str, size: &str, stop_px: &str) -> Value {
    json!({"type": "order", "orders": [limit(ETH, true, px, size), sell_stop(stop_px, size)], "grouping": "na"})
}

/// What is opened after the death of the guard loses no more than what could be opened in one life.
#[test]
fn a_crash_leaves_no_room_for_another_one() {
    const ROOM: &str = "duplicate_window = \"0\"\nloss_per_trade = \"2\"\nmax_stop = \"5\"\ncollar = \"5\"\n";
    let mut stand = Stand::up(Mode::Testnet, ROOM);
    // The venue takes a stop that closes something.
    hold_covered(&stand, "ETH", "0.1");
    // And until the market's leverage setting is read the entry alone would be left out.
    let is_sent = || stand.send(&place(&limit(ETH, true, "2490", "0.01")))["guard"]["verdict"] != "veto";
    until("an entry to be let through", || is_sent().then_some(()));
    // Of 200 USDC that the rules leave it takes 184.
    let first = stand.send(&bracket("2490", "1.6", "2375"));
    assert_eq!(first["guard"]["verdict"], "allow", "{first}");
    stand.kill();
    stand.start();
    let reply = until("the reads of a start", || {
        let reply = stand.send(&bracket("2489", "0.8", "2375"));
        (!["starting", "account_stale", "price_stale"].contains(&code(&reply))).then_some(reply)
    });
    assert!(reply["guard"]["text"].as_str().unwrap().contains("ETH loss if stopped"), "{reply}");
    let truth = stand.venue.truth();
    let entries = truth["orders"].as_array().unwrap().iter().filter(|order| order["reduceOnly"] == false);
    let number = |order: &Value, key: &str| order[key].as_str().unwrap().parse::<f64>().unwrap();
    let loss: f64 = entries.map(|order| (number(order, "limitPx") - 2375.0) * number(order, "sz")).sum();
    assert!((184.0..=200.0).contains(&loss), "{loss}: {truth}");
}
