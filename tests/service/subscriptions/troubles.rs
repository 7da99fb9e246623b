//! The venue's socket goes, sends nonsense or never opens; clients ask for nonsense.

use super::*;

#[test]
fn a_cut_upstream_leaves_the_clients_sockets() {
    let stand = stand();
    let mut client = Subscriber::at_guard(&stand);
    client.subscribed(&of_account("userFills"));
    client.hear_on("userFills");
    for round in 1..=3 {
        trouble(&stand, json!({"kind": "drop"}));
        let again = client.hear_on("userFills");
        assert!(again.contains("isSnapshot"), "{again}");
        let szi = format!("0.{round}");
        fill(&stand, &szi);
        while !client.hear_on("userFills").contains("\"fills\":[{\"coin\":\"BTC\"") {}
    }
    client.say(r#"{"method":"ping"}"#);
    client.hear_on("pong");
}

#[test]
fn nonsense_of_the_venue_reaches_nobody() {
    let stand = stand();
    let mut client = Subscriber::at_guard(&stand);
    client.subscribed(&json!({"type": "candle", "coin": "BTC", "interval": "1m"}));
    client.hear_on("candle");
    for text in [
        "",
        "{",
        "null",
        r#"{"channel":"candle","data":{"s":7}}"#,
        r#"{"channel":"candle","data":{"s":"ETH","i":"1m"}}"#,
    ] {
        trouble(&stand, json!({"kind": "garbage", "on": "candle", "text": text}));
    }
    price(&stand, "60300");
    // A minute may end meanwhile, and another candle begin.
    while {
        let frame = client.hear();
        assert!(frame.contains("\"s\":\"BTC\""), "{frame}");
        !frame.contains("\"60300.0\"")
    } {}
    for form in [json!({"form": "binary"}), json!({"form": "wire", "hex": "ffff"})] {
        let mut garbage = json!({"kind": "garbage", "on": "candle"});
        form.as_object().unwrap().iter().for_each(|(key, value)| garbage[key] = value.clone());
        trouble(&stand, garbage);
        client.hear_on("candle");
    }
    assert_eq!(stand.get("/healthz").status, 200);
}

#[test]
fn nonsense_of_a_client_costs_the_others_nothing() {
    let stand = stand();
    let (mut client, mut odd) = (Subscriber::at_guard(&stand), Subscriber::at_guard(&stand));
    client.subscribed(&of_coin("bbo", "BTC"));
    client.hear_on("bbo");
    let sockets = || stand.venue.truth()["feed"]["sockets"].as_array().unwrap().len();
    let before = sockets();
    for subscription in [
        json!({"type": "bbo", "coin": "NOPE"}),
        json!({"type": "bbo", "coin": "no:SUCH"}),
        json!({"type": "candle", "coin": "BTC", "interval": "1y"}),
        json!({"type": "l2Book", "coin": "BTC", "nSigFigs": 77}),
        json!({"type": "userFills", "user": "nobody"}),
        json!({"type": "bbo", "coin": "x".repeat(10_000)}),
        json!([[[[]]]]),
    ] {
        odd.subscribe(&subscription);
        odd.hear_on("error");
    }
    assert_eq!(sockets(), before);
    price(&stand, "60400");
    client.hear_on("bbo");
    assert_eq!((count(&stand, "clients"), count(&stand, "held"), count(&stand, "at_venue")), (2, 1, 1));
}

#[test]
fn a_venue_that_is_away_is_waited_for() {
    let stand = stand();
    trouble(&stand, json!({"kind": "refuse", "times": 2}));
    let mut client = Subscriber::at_guard(&stand);
    client.subscribed(&json!({"type": "allMids"}));
    client.hear_on("allMids");
    until("the frames to be counted", || (count(&stand, "frames") > 0 && count(&stand, "passed") > 0).then_some(()));
    let metrics = stand.get("/metrics").body;
    assert!(metrics.contains("svc_guard_subscriptions 1\n"), "{metrics}");
}
