//! When the venue closes a socket.

use super::{ACCOUNT, End, Socket, control, quiet_venue, trouble};
use serde_json::json;

fn pass(sim: &crate::sim::SimHandle, ms: u64) {
    control(sim, &json!({"op": "clock", "advance_ms": ms, "sockets": true}));
}

#[test]
fn a_socket_that_is_sent_neither_data_nor_pongs_is_closed() {
    let sim = quiet_venue();
    assert_eq!(sim.truth()["settings"]["feed_idle_ms"], 60_000);
    // Longer than a test waits, so that only what the clock says counts.
    sim.setting("feed_idle_ms", 600_000).unwrap();
    let mut socket = Socket::open(&sim);
    // An acknowledgement, a refusal and the answer to a post keep nothing open.
    pass(&sim, 300_000);
    socket.follow("orderUpdates");
    socket.say("nonsense");
    socket.hear_on("error");
    socket.say("{\"method\":\"post\",\"id\":1,\"request\":{\"type\":\"info\",\"payload\":{\"type\":\"allMids\"}}}");
    socket.hear_on("post");
    pass(&sim, 300_000);
    assert_eq!(socket.end(), End::Closed(1000, "Inactive".into()));
    assert_eq!(sim.truth()["feed"]["closed"], json!({"Inactive": 1}));
}

#[test]
fn pongs_and_data_keep_a_socket_open() {
    let sim = quiet_venue();
    let (mut pings, mut hears) = (Socket::open(&sim), Socket::open(&sim));
    hears.subscribe(&json!({"type": "bbo", "coin": "BTC"}));
    hears.hear_on("bbo");
    for px in ["60001", "60002"] {
        pass(&sim, 40_000);
        pings.hears_nothing();
        sim.price("BTC", px).unwrap();
        hears.hear_on("bbo");
    }
    assert_eq!(sim.truth()["feed"]["closed"], json!({}));
}

#[test]
fn a_coin_that_is_not_listed_drops_the_socket() {
    let sim = quiet_venue();
    for name in ["bbo", "l2Book", "trades", "activeAssetCtx"] {
        let mut socket = Socket::open(&sim);
        let of_user = json!({"type": "orderUpdates", "user": ACCOUNT});
        for subscription in [of_user, json!({"type": name, "coin": "NOSUCH"})] {
            socket.say(&json!({"method": "subscribe", "subscription": subscription}).to_string());
        }
        // The others are acknowledged before.
        socket.hear_on("subscriptionResponse");
        assert_eq!(socket.end(), End::Cut, "{name}");
    }
    sim.setting("feed_unknown_coin_drops", false).unwrap();
    let mut socket = Socket::open(&sim);
    socket.subscribe(&json!({"type": "l2Book", "coin": "NOSUCH"}));
    socket.hears_nothing();
    socket.say("{\"method\":\"subscribe\",\"subscription\":{\"type\":\"bbo\",\"coin\":\"NOSUCH\"}}");
    assert_eq!(socket.end(), End::Cut);
}

#[test]
fn sockets_are_rotated_when_they_have_lived_long_enough() {
    let sim = quiet_venue();
    sim.setting("feed_idle_ms", 1_000_000_000).unwrap();
    let old = Socket::open(&sim);
    pass(&sim, 3_600_000);
    let mut young = Socket::open(&sim);
    trouble(&sim, &json!({"kind": "rotate", "ms": 3_600_000}));
    assert_eq!(old.end(), End::Closed(1000, "Expired".into()));
    young.hears_nothing();
    pass(&sim, 3_600_000);
    assert_eq!(young.end(), End::Closed(1000, "Expired".into()));
    trouble(&sim, &json!({"kind": "heal"}));
    let mut last = Socket::open(&sim);
    pass(&sim, 3_600_000);
    last.hears_nothing();
    trouble(&sim, &json!({"kind": "rotate"}));
    assert_eq!(last.end(), End::Closed(1000, "Expired".into()));
    Socket::open(&sim).hears_nothing();
}

#[test]
fn a_leap_of_the_clock_alone_makes_no_socket_older() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    trouble(&sim, &json!({"kind": "rotate", "ms": 60_000}));
    control(&sim, &json!({"op": "clock", "advance_ms": 3_600_000}));
    socket.hears_nothing();
}

#[test]
fn only_the_sockets_that_carry_a_feed_are_struck() {
    let sim = quiet_venue();
    let (mut account, mut market) = (Socket::open(&sim), Socket::open(&sim));
    account.follow("orderUpdates");
    market.subscribe(&json!({"type": "bbo", "coin": "BTC"}));
    market.hear_on("bbo");
    assert_eq!(trouble(&sim, &json!({"kind": "drop", "on": "bbo", "coin": "ETH"})), 0);
    assert_eq!(trouble(&sim, &json!({"kind": "drop", "on": "bbo"})), 1);
    assert_eq!(market.end(), End::Cut);
    account.hears_nothing();
    assert_eq!(sim.truth()["feed"]["sockets"][0]["subscriptions"][0]["subscription"]["user"], ACCOUNT);
    assert_eq!(trouble(&sim, &json!({"kind": "drop"})), 1);
    assert_eq!(account.end(), End::Cut);
}
