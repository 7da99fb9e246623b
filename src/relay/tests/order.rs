//! Answers in order: the one to what a client asks before an earlier answer is there comes after that.

use serde_json::json;

use super::{acknowledged, holding, relay, taken, tell};
use crate::relay::messages::Input;

const MIDS: &str = r#"{"type":"allMids"}"#;

fn already() -> String {
    json!({"channel": "error", "data": format!("Already subscribed: {MIDS}")}).to_string()
}

#[test]
fn who_asks_twice_before_the_venue_answers_hears_of_it_afterwards() {
    let mut relay = holding(r#"{"type":"outcomeMetaUpdates"}"#);
    taken(&mut relay, 1);
    let ack = acknowledged(&json!({"type": "allMids"}));
    for _ in 0..3 {
        relay.subscribe(1, MIDS, 0).unwrap();
    }
    relay.step(0, Input::Tick, 0);
    assert_eq!(taken(&mut relay, 1), [""; 0]);
    tell(&mut relay, &ack, 10);
    assert_eq!(taken(&mut relay, 1), [ack, already(), already()]);
    relay.subscribe(1, MIDS, 20).unwrap();
    assert_eq!(taken(&mut relay, 1), [already()]);
}

#[test]
fn who_ends_it_before_the_venue_answers_hears_all_of_it_in_order() {
    let mut relay = relay(1_200);
    relay.subscribe(1, MIDS, 0).unwrap();
    relay.subscribe(1, MIDS, 0).unwrap();
    relay.unsubscribe(1, MIDS, 0).unwrap();
    let ack = acknowledged(&json!({"type": "allMids"}));
    let end = ack.replacen("subscribe", "unsubscribe", 1);
    assert_eq!(taken(&mut relay, 1), [ack, already(), end]);
}

#[test]
fn who_asks_again_and_again_is_refused_as_often_and_has_little_waiting() {
    let mut relay = holding(r#"{"type":"outcomeMetaUpdates"}"#);
    taken(&mut relay, 1);
    for _ in 0..100 {
        relay.subscribe(1, MIDS, 0).unwrap();
    }
    let early = taken(&mut relay, 1).len();
    relay.step(0, Input::Tick, 0);
    tell(&mut relay, &json!({"channel": "error", "data": format!("Invalid subscription {MIDS}")}).to_string(), 10);
    assert_eq!((early, taken(&mut relay, 1).len()), (83, 17));
    assert_eq!(relay.counts().held, 1);
}
