//! Clients' wishes, and what they hear.

use serde_json::{Value, json};

use super::{
    ACCOUNT, CLIENT, STRANGER, acknowledged, coins, ended, holding, relay, sent, sent_until, taken, tell, tell_on,
};
use crate::relay::line::OWN_LINE;
use crate::relay::messages::{Input, NotServed, Output};
use crate::relay::room::Relay;

const MIDS: &str = r#"{"type":"allMids"}"#;

fn of(kind: &str, user: &str) -> String {
    json!({"type": kind, "user": user}).to_string()
}

fn errors(frames: &[String]) -> Vec<String> {
    let text = |frame: &String| {
        let frame: Value = serde_json::from_str(frame).unwrap();
        (frame["channel"] == "error").then(|| frame["data"].as_str().unwrap().to_owned())
    };
    frames.iter().filter_map(text).collect()
}

#[test]
fn the_venue_holds_it_once() {
    let mut relay = holding(MIDS);
    let ack = acknowledged(&json!({"type": "allMids"}));
    assert_eq!(taken(&mut relay, 1), std::slice::from_ref(&ack));
    let frame = r#"{"channel":"allMids","data":{"mids":{"BTC":"1"}}}"#;
    tell(&mut relay, frame, 10);
    assert_eq!(taken(&mut relay, 1), [frame]);
    // A late one hears what the venue would say to it; nothing goes to the venue.
    relay.subscribe(2, MIDS, 20).unwrap();
    assert_eq!(relay.step(0, Input::Tick, 20), []);
    assert_eq!(taken(&mut relay, 2), [ack, frame.to_owned()]);
    relay.subscribe(2, MIDS, 20).unwrap();
    assert_eq!(errors(&taken(&mut relay, 2)), [r#"Already subscribed: {"type":"allMids"}"#]);
    // It ends there with the last of them.
    relay.unsubscribe(1, MIDS, 30).unwrap();
    assert!(taken(&mut relay, 1)[0].contains(r#""method":"unsubscribe""#));
    relay.unsubscribe(1, MIDS, 30).unwrap();
    assert_eq!(errors(&taken(&mut relay, 1)), [r#"Already unsubscribed: {"type":"allMids"}"#]);
    assert_eq!(relay.step(0, Input::Tick, 30), []);
    relay.leave(2, 30);
    let end = r#"{"method":"unsubscribe","subscription":{"type":"allMids"}}"#;
    assert_eq!(sent(relay.step(0, Input::Tick, 40)), [end]);
    assert_eq!(relay.step(0, Input::Tick, 5_039), []);
    assert_eq!(relay.step(0, Input::Tick, 5_040), [Output::Close], "nobody needs the socket");
    assert!(!relay.is_wanted(0) && relay.step(0, Input::Tick, 60_000).is_empty());
}

#[test]
fn a_clients_address_is_the_accounts_both_ways() {
    let spelled = CLIENT.to_uppercase().replace("0X", "0x");
    let mut relay = holding(&of("userFills", &spelled));
    let heard = taken(&mut relay, 1);
    assert!(heard[0].contains(&format!(r#""user":"{spelled}""#)) && !heard[0].contains(ACCOUNT), "{heard:?}");
    relay.subscribe(2, &of("userFills", ACCOUNT), 0).unwrap();
    assert_eq!((relay.counts().held, relay.counts().subscriptions), (2, 0), "the guard has it for itself");
    // An address in a row is no address of the frame.
    let frame = |user: &str| {
        let row = format!(r#"{{"coin":"BTC", "px":"1.0","liquidation":{{"liquidatedUser":"{ACCOUNT}"}}}}"#);
        format!(r#"{{"channel":"userFills","data":{{"fills":[{row}],"isSnapshot":true,"user":"{user}"}}}}"#)
    };
    tell_on(&mut relay, OWN_LINE, &frame(ACCOUNT), 0);
    assert_eq!(taken(&mut relay, 1), [frame(&spelled)]);
    assert_eq!(taken(&mut relay, 2)[1..], [frame(ACCOUNT)]);
    relay.subscribe(3, &of("userFills", CLIENT), 0).unwrap();
    let late = &taken(&mut relay, 3)[1];
    assert!(late.contains(&format!(r#""isSnapshot":true,"user":"{CLIENT}","fills":[{{"coin":"BTC", "px""#)), "{late}");
    relay.unsubscribe(3, &of("userFills", CLIENT), 0).unwrap();
    assert!(taken(&mut relay, 3)[0].contains(CLIENT));
}

#[test]
fn a_late_client_is_given_the_last_rows() {
    let mut relay = holding(r#"{"type":"trades","coin":"BTC"}"#);
    tell(&mut relay, r#"{"channel":"trades","data":[]}"#, 0);
    let trade = |n: usize| format!(r#"{{"coin":"BTC","tid":{n}}}"#);
    for n in 0..40 {
        tell(&mut relay, &format!(r#"{{"channel":"trades","data":[{}]}}"#, trade(n)), 0);
    }
    assert_eq!(taken(&mut relay, 1).len(), 42);
    relay.subscribe(2, r#"{"type":"trades","coin":"BTC"}"#, 0).unwrap();
    let rows = (10..40).map(trade).collect::<Vec<_>>().join(",");
    assert_eq!(taken(&mut relay, 2)[1], format!(r#"{{"channel":"trades","data":[{rows}]}}"#));
    // The history has its newest row first.
    let mut relay = holding(&of("userHistoricalOrders", ACCOUNT));
    let frame = |snapshot: &str, rows: &str| {
        format!(
            r#"{{"channel":"userHistoricalOrders","data":{{{snapshot}"user":"{ACCOUNT}","orderHistory":[{rows}]}}}}"#
        )
    };
    tell(&mut relay, &frame(r#""isSnapshot":true,"#, "2,1"), 0);
    tell(&mut relay, &frame("", "4,3"), 0);
    relay.subscribe(2, &of("userHistoricalOrders", ACCOUNT), 0).unwrap();
    assert_eq!(taken(&mut relay, 2)[1], frame(r#""isSnapshot":true,"#, "4,3,2,1"));
}

#[test]
fn changes_alone_are_told_whole_to_a_late_client() {
    let mut relay = holding(r#"{"type":"fastAssetCtxs"}"#);
    tell(&mut relay, r#"{"channel":"fastAssetCtxs","data":"whole"}"#, 0);
    relay.subscribe(2, r#"{"type":"fastAssetCtxs"}"#, 0).unwrap();
    assert_eq!(taken(&mut relay, 2), [""; 0]);
    let asked = sent(relay.step(0, Input::Tick, 20));
    assert!(asked.len() == 1 && asked[0].contains("unsubscribe"), "{asked:?}");
    let asked = tell(&mut relay, &ended(&json!({"type": "fastAssetCtxs"})), 20);
    assert!(asked.len() == 1 && asked[0].contains(r#""subscribe""#), "{asked:?}");
    tell(&mut relay, &acknowledged(&json!({"type": "fastAssetCtxs"})), 20);
    tell(&mut relay, r#"{"channel":"fastAssetCtxs","data":"whole again"}"#, 20);
    assert_eq!(taken(&mut relay, 2).len(), 2);
    assert_eq!(taken(&mut relay, 1).len(), 3);
}

#[test]
fn what_the_venue_refuses_is_refused_in_its_words() {
    let mut relay = relay(1_200);
    for text in
        ["{}", "7", "null", r#"{"type":"webData2","user":"0x1"}"#, r#"{"type":"l2Book"}"#, &of("userFills", "me")]
    {
        assert_eq!(relay.subscribe(1, text, 0), Err(NotServed), "{text}");
        assert_eq!(relay.unsubscribe(1, text, 0), Err(NotServed), "{text}");
    }
    relay.subscribe(1, &of("userTwapHistory", CLIENT), 0).unwrap();
    relay.subscribe(1, &of("spotState", STRANGER), 0).unwrap();
    relay.step(0, Input::Tick, 0);
    relay.step(0, Input::Connected, 0);
    let quoted =
        json!({"method": "subscribe", "subscription": {"type": "userTwapHistory", "user": ACCOUNT}}).to_string();
    let text = format!("Error parsing JSON into valid websocket request: {quoted}");
    tell(&mut relay, &json!({"channel": "error", "data": text}).to_string(), 0);
    tell(&mut relay, r#"{"channel":"error","data":"Cannot track more than 15 total users."}"#, 0);
    let heard = errors(&taken(&mut relay, 1));
    assert_eq!(heard[0], text.replace(ACCOUNT, CLIENT));
    assert_eq!(heard[1], "Cannot track more than 15 total users.");
    assert_eq!((relay.counts().subscriptions, relay.counts().held), (0, 0));
}

/// Anybody can make up dexes, and needs no key for it.
#[test]
fn dexes_that_are_made_up_take_nobody_elses_turn() {
    let mut relay = holding(MIDS);
    taken(&mut relay, 1);
    let of_coin = |coin: &str| json!({"type": "l2Book", "coin": coin}).to_string();
    for n in 0..100 {
        relay.subscribe(1, &of_coin(&format!("d{n}:A")), 100).unwrap();
    }
    relay.subscribe(2, &of_coin("BTC"), 100).unwrap();
    relay.subscribe(2, &of_coin("xyz:TSLA"), 100).unwrap();
    let asked = sent(relay.step(0, Input::Tick, 100));
    let made_up = asked.iter().filter(|text| text.contains(r#""dex":"d"#)).count();
    assert!(asked.len() == made_up + 2 && made_up == 9, "three quarters, and what another asks for: {asked:?}");
    let mids = asked.iter().find(|text| !text.contains(r#""dex""#)).expect("the main list is asked for at once");
    let id = serde_json::from_str::<Value>(mids).unwrap()["id"].as_u64().unwrap();
    let refused = errors(&taken(&mut relay, 1));
    assert_eq!((refused.len(), &*refused[0]), (91, "Cannot ask for more than 6 dexes per minute."));
    tell(&mut relay, &coins(id), 110);
    relay.step(0, Input::Tick, 110);
    tell(&mut relay, &acknowledged(&json!({"type": "l2Book", "coin": "BTC"})), 120);
    let heard = taken(&mut relay, 2);
    assert!(heard.len() == 1 && errors(&heard).is_empty(), "{heard:?}");
}

#[test]
fn a_coin_that_the_venue_does_not_have_costs_nobody_the_socket() {
    let mut relay = holding(MIDS);
    taken(&mut relay, 1);
    for coin in ["NOPE", "BTC"] {
        relay.subscribe(2, &json!({"type": "bbo", "coin": coin}).to_string(), 0).unwrap();
    }
    let asked = sent(relay.step(0, Input::Tick, 20));
    assert!(asked.len() == 1 && asked[0].contains("post"), "{asked:?}");
    let asked = tell(&mut relay, &coins(1), 40);
    assert_eq!(asked, [r#"{"method":"subscribe","subscription":{"type":"bbo","coin":"BTC"}}"#]);
    assert_eq!(errors(&taken(&mut relay, 2)), [r#"Invalid subscription {"type":"bbo","coin":"NOPE"}"#]);
}

/// A refused or lost question says nothing of the coins, which the venue would acknowledge.
#[test]
fn listed_coins_wait_while_the_venue_does_not_tell_which_it_lists() {
    let refusal = |id: u64| {
        let response = r#"{"type":"error","payload":"429 Too Many Requests: null"}"#;
        format!(r#"{{"channel":"post","data":{{"id":{id},"response":{response}}}}}"#)
    };
    let begun = || {
        let mut relay = holding(MIDS);
        taken(&mut relay, 1);
        relay.subscribe(2, r#"{"type":"bbo","coin":"BTC"}"#, 0).unwrap();
        assert_eq!(sent(relay.step(0, Input::Tick, 0)).len(), 1);
        relay
    };
    let asked = |relay: &mut Relay, from_ms, until_ms| {
        let sent = sent_until(relay, 0, from_ms, until_ms).into_iter();
        sent.filter(|(_, text)| text.contains("post")).collect::<Vec<_>>()
    };
    let mut relay = begun();
    assert!(tell(&mut relay, &refusal(1), 100).is_empty() && asked(&mut relay, 100, 5_100).is_empty());
    assert!(asked(&mut relay, 5_100, 5_200)[0].1.contains(r#""id":2"#));
    tell(&mut relay, &coins(2), 5_200);
    tell(&mut relay, &acknowledged(&json!({"type": "bbo", "coin": "BTC"})), 5_300);
    assert_eq!(taken(&mut relay, 2), [acknowledged(&json!({"type": "bbo", "coin": "BTC"}))]);
    // Whom nothing comes for hears why.
    let mut relay = begun();
    let all = asked(&mut relay, 100, 124_900);
    assert_eq!((all.len(), taken(&mut relay, 2).len()), (4, 0), "{all:?}");
    asked(&mut relay, 124_900, 125_200);
    let why = "the venue does not tell which coins it lists";
    assert_eq!(
        errors(&taken(&mut relay, 2)),
        [format!(r#"Invalid subscription {{"type":"bbo","coin":"BTC"}}: {why}"#)]
    );
    assert_eq!(asked(&mut relay, 125_200, 129_000), [], "nobody waits");
}

#[test]
fn what_cannot_be_told_apart_comes_on_another_line() {
    let mut relay = relay(1_200);
    let book = |figures: u64| json!({"type": "l2Book", "coin": "BTC", "nSigFigs": figures}).to_string();
    for figures in 2..=5 {
        relay.subscribe(1, &book(figures), 0).unwrap();
    }
    assert_eq!((0..4).filter(|line| relay.is_wanted(*line)).count(), 3);
    assert_eq!(errors(&taken(&mut relay, 1)), ["Cannot track more than 700 total subscriptions."]);
    // A client that signed.
    relay.vouch(2, CLIENT.parse().unwrap());
    relay.subscribe(2, &book(5), 0).unwrap();
    assert_eq!((0..4).filter(|line| relay.is_wanted(*line)).count(), 4, "one is kept for who has none");
    relay.subscribe(2, r#"{"type":"l2Book","coin":"BTC"}"#, 0).unwrap();
    assert_eq!(errors(&taken(&mut relay, 2)), ["Cannot track more than 700 total subscriptions."]);
    // Frames that name no account are one account's on a line.
    let other = format!("0x{}", "d4".repeat(20));
    relay.subscribe(1, &of("orderUpdates", &other), 0).unwrap();
    relay.subscribe(2, &of("orderUpdates", STRANGER), 0).unwrap();
    for line in [0, 1] {
        relay.step(line, Input::Tick, 0);
        relay.step(line, Input::Connected, 0);
    }
    for user in [other.as_str(), STRANGER] {
        let line = usize::from(user == STRANGER);
        let ack = acknowledged(&json!({"type": "orderUpdates", "user": user}));
        relay.step(line, Input::Frame(&crate::relay::messages::Told::read(&ack, 0)), 0);
    }
    let update = crate::relay::messages::Told::read(r#"{"channel":"orderUpdates","data":[{"order":{}}]}"#, 0);
    relay.step(1, Input::Frame(&update), 0);
    assert_eq!((taken(&mut relay, 1).len(), taken(&mut relay, 2).len()), (1, 2));
}

#[test]
fn parts_are_fair_and_small_shares_have_none() {
    let mut relay = relay(1_200);
    let user = |n: u8| format!("0x{}", format!("{n:02x}").repeat(20));
    for n in 1..=6 {
        relay.subscribe(1, &of("spotState", &user(n)), 0).unwrap();
    }
    assert_eq!(errors(&taken(&mut relay, 1)), ["Cannot track more than 6 total users."]);
    relay.subscribe(1, &of("spotState", ACCOUNT), 0).unwrap();
    assert_eq!(taken(&mut relay, 1), [""; 0], "the account is none of the strangers");
    relay.vouch(2, CLIENT.parse().unwrap());
    relay.subscribe(2, MIDS, 0).unwrap();
    let coin = |n: usize| json!({"type": "trades", "coin": format!("C{n}")}).to_string();
    for n in 0..1_000 {
        relay.subscribe(1, &coin(n), 0).unwrap();
    }
    let counts = relay.counts();
    assert_eq!((counts.subscriptions, counts.held), (525, 526), "three quarters of 700, and one of the guard's own");
    assert!(errors(&taken(&mut relay, 1)).iter().all(|text| text == "Cannot track more than 525 total subscriptions."));
    for other in [coin(999), of("spotState", &user(6))] {
        relay.subscribe(2, &other, 0).unwrap();
    }
    assert_eq!(taken(&mut relay, 2), [""; 0], "there is room for who has not had its part");

    let mut relay = super::relay(150);
    relay.subscribe(1, &of("userFills", CLIENT), 0).unwrap();
    assert_eq!(taken(&mut relay, 1), [""; 0], "that comes on the guard's own socket");
    relay.subscribe(1, MIDS, 0).unwrap();
    assert!(
        errors(&taken(&mut relay, 1))[0].starts_with(r#"Invalid subscription {"type":"allMids"}: this guard's share"#)
    );
}

/// Sockets cost nothing: a client with many of them has one part.
#[test]
fn a_client_has_one_part_however_many_connections_it_signed_on() {
    let coin = |n: u64| json!({"type": "trades", "coin": format!("C{n}")}).to_string();
    let fill = |relay: &mut Relay, is_signed: bool| {
        relay.subscribe(99, MIDS, 0).unwrap();
        for n in 0..1_000 {
            if is_signed {
                relay.vouch(n % 20, CLIENT.parse().unwrap());
            }
            relay.subscribe(n % 20, &coin(n), 0).unwrap();
        }
    };
    let (mut one, mut many) = (relay(1_200), relay(1_200));
    fill(&mut one, true);
    fill(&mut many, false);
    assert_eq!([one.counts().subscriptions, many.counts().subscriptions], [525, 525], "nor has who signed on none");
}

#[test]
fn a_client_that_lets_events_pile_up_is_closed() {
    let mut relay = holding(&of("userFills", ACCOUNT));
    relay.subscribe(1, MIDS, 0).unwrap();
    relay.subscribe(2, &of("userFills", ACCOUNT), 0).unwrap();
    relay.step(0, Input::Tick, 20);
    relay.step(0, Input::Connected, 20);
    tell(&mut relay, &acknowledged(&json!({"type": "allMids"})), 20);
    for _ in 0..10_000 {
        tell(&mut relay, r#"{"channel":"allMids","data":{"mids":{}}}"#, 20);
    }
    assert_eq!((relay.counts().slow, relay.counts().replaced), (0, 9_999), "states take each other's place");
    let fill = format!(r#"{{"channel":"userFills","data":{{"user":"{ACCOUNT}","fills":[{{}}]}}}}"#);
    for _ in 0..3_000 {
        tell_on(&mut relay, OWN_LINE, &fill, 20);
        assert!(relay.take(2, usize::MAX).is_ok());
    }
    assert_eq!(relay.counts().slow, 1);
    assert!(relay.take(1, usize::MAX).unwrap_err().contains("too slow"));
    relay.leave(1, 0);
    tell_on(&mut relay, OWN_LINE, &fill, 20);
    assert_eq!(taken(&mut relay, 2).len(), 1);
}

#[test]
fn a_lost_socket_costs_clients_nothing_but_the_time() {
    let mut relay = holding(&of("userFills", STRANGER));
    taken(&mut relay, 1);
    let snapshot = format!(r#"{{"channel":"userFills","data":{{"isSnapshot":true,"user":"{STRANGER}","fills":[]}}}}"#);
    tell(&mut relay, &snapshot, 0);
    assert_eq!(relay.step(0, Input::Closed, 100), []);
    relay.subscribe(2, &of("userFills", STRANGER), 100).unwrap();
    assert_eq!(taken(&mut relay, 2), [""; 0], "nobody knows whether the venue still has it");
    assert_eq!(relay.step(0, Input::Tick, 100), []);
    assert_eq!(relay.step(0, Input::Tick, 400), [Output::Connect]);
    assert_eq!(sent(relay.step(0, Input::Connected, 400)).len(), 1);
    tell(&mut relay, &acknowledged(&json!({"type": "userFills", "user": STRANGER})), 400);
    tell(&mut relay, &snapshot, 400);
    assert_eq!(taken(&mut relay, 1), [snapshot.clone(), snapshot.clone()]);
    assert_eq!(taken(&mut relay, 2).len(), 2);
}

/// The guard subscribes for itself, whoever has it.
#[test]
fn the_accounts_feeds_come_on_the_guards_own_socket() {
    let mut relay = relay(1_200);
    let fills = of("userFills", CLIENT);
    relay.subscribe(1, &fills, 0).unwrap();
    assert!(!relay.is_wanted(0) && relay.step(0, Input::Tick, 0).is_empty(), "nothing is asked of the venue");
    assert_eq!(taken(&mut relay, 1), [""; 0]);
    relay.step(OWN_LINE, Input::Connected, 0);
    let ack = acknowledged(&json!({"type": "userFills", "user": ACCOUNT}));
    tell_on(&mut relay, OWN_LINE, &ack, 0);
    let frame = |snapshot: &str, row: usize| {
        format!(r#"{{"channel":"userFills","data":{{{snapshot}"user":"{ACCOUNT}","fills":[{{"tid":{row}}}]}}}}"#)
    };
    let snapshot = frame(r#""isSnapshot":true,"#, 1);
    tell_on(&mut relay, OWN_LINE, &snapshot, 0);
    assert_eq!(taken(&mut relay, 1), [ack.replace(ACCOUNT, CLIENT), snapshot.replace(ACCOUNT, CLIENT)]);
    // Who comes later, when the others have left, hears all of it.
    relay.leave(1, 0);
    tell_on(&mut relay, OWN_LINE, &frame("", 2), 10);
    relay.subscribe(2, &fills, 20).unwrap();
    let heard = taken(&mut relay, 2);
    assert!(heard.len() == 2 && heard[1].contains(r#""fills":[{"tid":1},{"tid":2}]"#), "{heard:?}");
    // Another socket begins anew, and nobody is told twice that it begins.
    assert_eq!(relay.step(OWN_LINE, Input::Closed, 30), []);
    relay.subscribe(3, &fills, 30).unwrap();
    assert_eq!(taken(&mut relay, 3), [""; 0]);
    relay.step(OWN_LINE, Input::Connected, 40);
    tell_on(&mut relay, OWN_LINE, &ack, 40);
    tell_on(&mut relay, OWN_LINE, &snapshot, 40);
    assert_eq!((taken(&mut relay, 2).len(), taken(&mut relay, 3).len()), (1, 2));
    // Other forms of it are asked for as ever.
    relay
        .subscribe(3, &json!({"type": "userFills", "user": ACCOUNT, "aggregateByTime": true}).to_string(), 50)
        .unwrap();
    assert!(relay.is_wanted(0) && relay.counts().subscriptions == 1);
}

#[test]
fn a_subscription_is_read_up_to_4_kib() {
    let mut relay = relay(1_200);
    let long = |length: usize| format!(r#"{{"type":"allMids","x":"{}"}}"#, "y".repeat(length - 25));
    for (length, is_read) in [(4_096, true), (4_097, false)] {
        assert_eq!((long(length).len(), relay.subscribe(1, &long(length), 0).is_ok()), (length, is_read));
    }
}
