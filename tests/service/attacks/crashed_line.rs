//! A crash forgets no line: what takes a position's stop away while nobody watches brings no farther one.

use serde_json::{Value, json};

use super::loosened_stop::{sell_stop, stop_at};
use crate::signing::ETH;
use crate::stand::{Mode, Stand, until};
use crate::watched::{held, stops};

/// The owner opens a position at the venue's own page, with a small take profit that takes the stop away when it fills.
fn open_by_hand(stand: &Stand) {
    let entry = json!({"a": ETH, "b": true, "p": "2501", "s": "3.9", "r": false, "t": {"limit": {"tif": "Ioc"}}});
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": "2501", "tpsl": "tp"}});
    let profit = json!({"a": ETH, "b": false, "p": "2400", "s": "0.005", "r": true, "t": trigger});
    let orders = json!([entry, sell_stop("2490", "3.9"), profit]);
    stand.venue.control(&json!({"op": "order", "order": orders, "grouping": "normalTpsl"})).unwrap();
}

fn triggers(stand: &Stand) -> Vec<Value> {
    stops(stand, "ETH").into_iter().map(|stop| stop["triggerPx"].clone()).collect()
}

#[test]
fn a_stop_that_went_during_a_crash_comes_back_where_it_stood() {
    let mut stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    open_by_hand(&stand);
    stop_at(&stand, "2490");
    until("the cover to be known", || (stand.status()["positions"][0]["stop_px"] == "2490").then_some(()));
    // A fill that the feed tells of has the guard's own stop until a read shows this one.
    until("no other stop", || (triggers(&stand) == ["2490.0"]).then_some(()));
    // The status is ahead of the disk.
    let risk = stand.journal().join("risk.jsonl");
    until("its line", || std::fs::read_to_string(&risk).ok()?.contains("2490").then_some(()));
    stand.kill();
    stand.venue.price("ETH", "2501.5").unwrap();
    until("the stop to be gone", || stops(&stand, "ETH").is_empty().then_some(()));
    stand.venue.price("ETH", "2495").unwrap();
    stand.start();
    until("the guard's own stop", || (!stops(&stand, "ETH").is_empty()).then_some(()));
    assert_eq!(triggers(&stand), [json!("2490.0")], "as near as before");
    // And a second crash forgets it as little.
    stand.kill();
    stand.start();
    assert_eq!(triggers(&stand), [json!("2490.0")]);
}

#[test]
fn a_position_that_was_closed_takes_its_line_with_it() {
    let mut stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    open_by_hand(&stand);
    until("the cover to be known", || (stand.status()["positions"][0]["covered_size"] == "3.9").then_some(()));
    stand.venue.price("ETH", "2489").unwrap();
    until("the end of it", || held(&stand, "ETH").is_none().then_some(()));
    until("it to be read", || stand.status()["positions"].as_array()?.is_empty().then_some(()));
    stand.kill();
    stand.venue.price("ETH", "2400").unwrap();
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "3.9", "entry_px": "2400"})).unwrap();
    stand.start();
    until("a stop of its own", || (!stops(&stand, "ETH").is_empty()).then_some(()));
    assert!(held(&stand, "ETH").is_some(), "and it is not closed for the line of another");
}
