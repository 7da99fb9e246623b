//! A venue that takes orders again: no market waits out the pause that grew while it did not.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::{bare, event, protect};
use crate::guard::Input;
use crate::guard::tests::fixture::*;

#[test]
fn once_the_venue_takes_an_order_what_it_refused_before_is_tried_again_soon() {
    let mut desk = Desk::live();
    let mut seq = protect(&bare(&mut desk, "ETH", dec!(1)))["seq"].as_u64().unwrap();
    let mut refused_ms = 0;
    for _ in 0..6 {
        desk.now += 10;
        desk.answer(seq, 0, json!({"status": "err", "response": "HTTP 403: <html>"}));
        refused_ms = desk.now;
        seq = (0..100)
            .find_map(|_| {
                desk.wait(100);
                let told = event(&desk.step(Input::Tick), "intent");
                told.or_else(|| latest_stop(&desk)).and_then(|told| told["seq"].as_u64()).filter(|next| *next > seq)
            })
            .unwrap();
    }
    desk.answer(seq, 0, json!({"status": "err", "response": "HTTP 403: <html>"}));
    assert!(desk.now > refused_ms + 4_000, "the pause has grown");
    refused_ms = desk.now;
    desk.now += 100;
    let other = protect(&bare(&mut desk, "SOL", dec!(4)))["seq"].as_u64().unwrap();
    desk.answer(other, 0, statuses(json!([{"resting": {"oid": 500}}])));
    desk.now = refused_ms + 1_999;
    desk.read();
    assert!(latest_stop(&desk).is_none_or(|told| told["seq"].as_u64() <= Some(seq)));
    desk.now = refused_ms + 2_000;
    desk.read();
    assert!(latest_stop(&desk).is_some_and(|told| told["seq"].as_u64() > Some(seq)), "two seconds after its last try");
}

/// The guard's last event, where it is a try to place a stop in ETH.
fn latest_stop(desk: &Desk) -> Option<Value> {
    let last = desk.guard.status_json(desk.now, (0, 0))["last_event"].clone();
    (last["kind"] == "intent" && last["action"]["orders"][0]["a"] == ETH).then_some(last)
}

/// A smaller stop that the venue refuses is tried again with a pause, and takes nothing from the next one's patience.
#[test]
fn a_smaller_stop_that_is_refused_waits_as_well() {
    let mut desk = super::protected("ETH", dec!(4));
    desk.positions.insert("ETH", dec!(2));
    let mut tries = 0;
    let until_ms = desk.now + 10_000;
    while desk.now < until_ms {
        desk.wait(100);
        let flying: Vec<u64> = desk.guard.intents.keys().copied().collect();
        for seq in flying {
            tries += 1;
            desk.answer(seq, 0, json!({"status": "err", "response": "HTTP 403: <html>"}));
        }
    }
    assert!((3..=6).contains(&tries), "{tries} tries in ten seconds");
}
