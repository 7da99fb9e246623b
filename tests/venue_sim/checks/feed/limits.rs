//! The limits that all sockets of one address share.

use super::{ACCOUNT, Socket, control, hold, quiet_venue, until};
use serde_json::{Value, json};

fn error(socket: &mut Socket) -> String {
    socket.hear_on("error").as_str().unwrap().to_owned()
}

fn ask(socket: &mut Socket, method: &str, subscription: &Value) {
    socket.say(&json!({"method": method, "subscription": subscription}).to_string());
}

#[test]
fn sockets_are_limited_and_a_closed_one_makes_room() {
    let sim = quiet_venue();
    let mut sockets: Vec<Socket> = (0..10).map(|_| Socket::open(&sim)).collect();
    assert!(Socket::try_open(&sim).is_none());
    sockets.pop();
    until(&sim, "one has left", |feed| feed["sockets"].as_array().unwrap().len() == 9);
    sockets.push(Socket::open(&sim));
    assert_eq!(sim.truth()["feed"]["limits"]["refused"]["connections"], 1);
    sim.setting("feed_connections", Value::Null).unwrap();
    sockets.push(Socket::open(&sim));
}

#[test]
fn new_sockets_are_limited_by_the_minute() {
    let sim = quiet_venue();
    sim.setting("feed_new_connections", 2).unwrap();
    let sockets = [Socket::open(&sim), Socket::open(&sim)];
    drop(sockets);
    assert!(Socket::try_open(&sim).is_none());
    control(&sim, &json!({"op": "clock", "advance_ms": 60_000}));
    assert!(Socket::try_open(&sim).is_some());
}

#[test]
fn subscriptions_are_limited_over_all_sockets() {
    let sim = quiet_venue();
    sim.setting("feed_subscriptions", 2).unwrap();
    let (mut one, mut other) = (Socket::open(&sim), Socket::open(&sim));
    one.follow("orderUpdates");
    other.follow("orderUpdates");
    ask(&mut one, "subscribe", &json!({"type": "userEvents", "user": ACCOUNT}));
    assert_eq!(error(&mut one), "Cannot track more than 2 total subscriptions.");
    ask(&mut other, "unsubscribe", &json!({"type": "orderUpdates", "user": ACCOUNT}));
    other.hear_on("subscriptionResponse");
    one.follow("userEvents");
}

#[test]
fn users_are_limited_over_all_sockets_and_each_counts_once() {
    let sim = quiet_venue();
    sim.setting("feed_users", 2).unwrap();
    let of = |byte: &str| json!({"type": "orderUpdates", "user": format!("0x{}", byte.repeat(20))});
    let (mut one, mut other) = (Socket::open(&sim), Socket::open(&sim));
    one.subscribe(&of("b1"));
    other.subscribe(&of("b2"));
    // The same user again is free, on another socket and in another feed.
    other.subscribe(&of("b1"));
    one.subscribe(&json!({"type": "userEvents", "user": of("b1")["user"]}));
    ask(&mut one, "subscribe", &of("b3"));
    assert_eq!(error(&mut one), "Cannot track more than 2 total users.");
    drop(other);
    until(&sim, "one has left", |feed| feed["sockets"].as_array().unwrap().len() == 1);
    one.subscribe(&of("b3"));
    assert_eq!(sim.truth()["settings"]["feed_users"], 2);
}

#[test]
fn messages_are_limited_by_the_minute() {
    let sim = quiet_venue();
    sim.setting("feed_messages", 2).unwrap();
    let (mut one, mut other) = (Socket::open(&sim), Socket::open(&sim));
    one.hears_nothing();
    other.hears_nothing();
    one.ping();
    assert_eq!(error(&mut one), "Cannot send more than 2 messages per minute.");
    control(&sim, &json!({"op": "clock", "advance_ms": 60_000}));
    one.hears_nothing();
    assert_eq!(sim.truth()["feed"]["limits"]["refused"]["messages"], 1);
}

#[test]
fn a_client_that_reads_nothing_is_cut_and_holds_up_nobody() {
    let sim = quiet_venue();
    let mut idle = Socket::open(&sim);
    let mut other = Socket::open(&sim);
    idle.follow("userFills");
    other.follow("orderUpdates");
    let long = json!({"op": "feed", "kind": "garbage", "on": "userFills", "text": "x".repeat(900_000)});
    let begun = std::time::Instant::now();
    while sim.truth()["feed"]["closed"]["overrun"] != 1 {
        control(&sim, &long);
        assert!(begun.elapsed() < super::PATIENCE);
    }
    other.hears_nothing();
    hold(&sim, "1");
    assert_eq!(sim.truth()["feed"]["sockets"].as_array().unwrap().len(), 1);
}
