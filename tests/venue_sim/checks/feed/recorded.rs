//! The venue's own frames, as they were recorded, against the simulator's: acknowledgements, refusals and answers to the
//! letter, messages by their keys in their order and the types of their values.

use super::{ACCOUNT, Socket, control, quiet_venue, venue};
use crate::checks::wire::{Client, client_of};
use crate::sim::SimHandle;
use serde_json::{Value, json};
use std::collections::HashMap;

const FRAMES: &str = include_str!("recorded.jsonl");
/// What the simulator has nothing to tell of: other dexes, and outcomes.
const UNTOLD: [&str; 2] = ["{\"channel\":\"allMids\",\"data\":{\"dex\":", "{\"channel\":\"outcomeMetaUpdates\""];

#[test]
fn acknowledgements_refusals_and_answers_are_the_recorded_ones() {
    let mut client = client_of(quiet_venue());
    // As nobody knows of the other feeds, so that one of the recorded coins can be subscribed to.
    client.sim.setting("feed_unknown_coin_drops", false).unwrap();
    let mut socket = Socket::open(&client.sim);
    let stranger = client.signed_by_stranger(&json!({"type": "noop"}));
    let mut subscribe = |method: &str, subscription: Value| {
        socket.say(&json!({"method": method, "subscription": subscription}).to_string());
    };
    subscribe("subscribe", json!({"type": "l2Book", "coin": "BTC"}));
    subscribe("subscribe", json!({"user": ACCOUNT.to_uppercase().replace('X', "x"), "type": "clearinghouseState"}));
    subscribe("subscribe", json!({"type": "userFills", "user": ACCOUNT}));
    subscribe("subscribe", json!({"type": "spotState", "user": ACCOUNT, "isPortfolioMargin": true}));
    subscribe("subscribe", json!({"type": "candle", "coin": "BTC", "interval": "1m"}));
    subscribe("subscribe", json!({"type": "trades", "coin": "@107"}));
    subscribe("unsubscribe", json!({"type": "trades", "coin": "@107"}));
    subscribe("subscribe", json!({"type": "trades", "coin": "BTC"}));
    subscribe("subscribe", json!({"type": "trades", "coin": "BTC"}));
    subscribe("subscribe", json!({"type": "l2Book", "coin": "SOL", "fast": true}));
    subscribe("unsubscribe", json!({"type": "l2Book", "coin": "SOL"}));
    subscribe("subscribe", json!({"type": "webData2", "user": ACCOUNT}));
    subscribe("subscribe", json!({"type": "l2Book"}));
    socket.ping();
    let mut heard = heard_until(&mut socket, "pong");
    let read = json!({"type": "info", "payload": {"type": "l2Book", "coin": "@107"}});
    let unknown = "{\"type\":\"info\",\"payload\":{\"type\":\"noSuchRead\"}}";
    for said in [
        format!("{{\"method\":\"post\",\"id\":2,\"request\":{unknown}}}"),
        "not json".to_owned(),
        json!({"method": "post", "id": 11, "request": read}).to_string(),
        format!("{{\"method\":\"post\",\"id\":22,\"request\":{{\"type\":\"action\",\"payload\":{}}}}}", stranger.body),
    ] {
        socket.say(&said);
        heard.push(socket.hear_text());
    }

    let recorded = frames(|channel| matches!(channel, "subscriptionResponse" | "error" | "post"));
    let named = "Wallet 0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";
    let recorded: Vec<String> = recorded.map(|frame| frame.replace(named, &stranger.named)).collect();
    assert_eq!(recorded.len(), 14);
    for frame in recorded {
        assert!(heard.contains(&frame), "{frame}\nis not among\n{}", heard.join("\n"));
    }
}

#[test]
fn every_recorded_message_has_its_like() {
    let mut client = client_of(venue());
    for name in ["feed_mids_ms", "feed_book_ms", "feed_fast_book_ms", "feed_ctx_ms", "feed_ctxs_ms"] {
        client.sim.setting(name, 100).unwrap();
    }
    client.sim.setting("abstraction", "unifiedAccount").unwrap();
    let mut socket = Socket::open(&client.sim);
    let mut heard = subscribe_to_all(&mut socket);
    happen(&mut client);
    socket.ping();
    heard.extend(heard_until(&mut socket, "pong"));
    // What has been is in the first messages of those who come later.
    heard.extend(subscribe_to_all(&mut Socket::open(&client.sim)));

    let mut missing: Vec<&str> = frames(|channel| !matches!(channel, "subscriptionResponse" | "error" | "post"))
        .filter(|frame| !UNTOLD.iter().any(|untold| frame.starts_with(untold)))
        .collect();
    assert_eq!(missing.len(), 29);
    let mut last: HashMap<String, Value> = HashMap::new();
    for frame in heard.iter().map(|frame| serde_json::from_str::<Value>(frame).unwrap()) {
        missing.retain(|recorded| !alike(&serde_json::from_str(recorded).unwrap(), &frame));
        last.insert(frame["channel"].as_str().unwrap().to_owned(), frame);
    }
    let shown = missing.iter().map(|frame| {
        let channel = channel(frame);
        format!("recorded {frame}\n    last {}\n", last.get(&channel).unwrap_or(&Value::Null))
    });
    assert!(missing.is_empty(), "{}", shown.collect::<String>());
}

fn frames(wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = &'static str> {
    FRAMES.lines().filter(move |frame| wanted(&channel(frame)))
}

fn channel(frame: &str) -> String {
    let frame: Value = serde_json::from_str(frame).unwrap();
    frame["channel"].as_str().unwrap().to_owned()
}

/// The same keys in the same order with values of the same type; null may stand for anything, and of lists some pair is
/// alike, or both are empty.
fn alike(recorded: &Value, ours: &Value) -> bool {
    match (recorded, ours) {
        (Value::Null, _) | (_, Value::Null) => true,
        (Value::String(_), Value::String(_))
        | (Value::Number(_), Value::Number(_))
        | (Value::Bool(_), Value::Bool(_)) => true,
        (Value::Array(recorded), Value::Array(ours)) => {
            let any = recorded.iter().any(|recorded| ours.iter().any(|ours| alike(recorded, ours)));
            any || (recorded.is_empty() && ours.is_empty())
        }
        (Value::Object(recorded), Value::Object(ours)) => {
            let keys = recorded.keys().eq(ours.keys());
            keys && recorded.iter().all(|(key, value)| {
                // A map from coins is no record with keys of its own.
                if key == "mids" { ours[key].is_object() } else { alike(value, &ours[key]) }
            })
        }
        _ => false,
    }
}

/// All frames before the next one on this channel.
fn heard_until(socket: &mut Socket, last: &str) -> Vec<String> {
    std::iter::repeat_with(|| socket.hear_text()).take_while(|frame| channel(frame) != last).collect()
}

/// Subscribes to every feed that there are records of, and returns what comes until all of it is heard.
fn subscribe_to_all(socket: &mut Socket) -> Vec<String> {
    let users = [
        "orderUpdates",
        "userEvents",
        "notification",
        "userFills",
        "userHistoricalOrders",
        "userFundings",
        "userNonFundingLedgerUpdates",
        "userTwapHistory",
        "userTwapSliceFills",
        "clearinghouseState",
        "allDexsClearinghouseState",
        "openOrders",
        "spotState",
        "twapStates",
        "webData3",
    ];
    let users = users.map(|name| json!({"type": name, "user": ACCOUNT}));
    let coins = ["bbo", "trades", "activeAssetCtx", "l2Book"].map(|name| json!({"type": name, "coin": "BTC"}));
    let others = [
        json!({"type": "activeAssetData", "user": ACCOUNT, "coin": "BTC"}),
        json!({"type": "candle", "coin": "BTC", "interval": "1m"}),
        json!({"type": "l2Book", "coin": "SOL", "fast": true}),
        json!({"type": "allMids"}),
        json!({"type": "allDexsAssetCtxs"}),
    ];
    for subscription in users.into_iter().chain(coins).chain(others) {
        socket.say(&json!({"method": "subscribe", "subscription": subscription}).to_string());
    }
    socket.say("{\"method\":\"post\",\"id\":1,\"request\":{\"type\":\"info\",\"payload\":{\"type\":\"meta\"}}}");
    heard_until(socket, "post")
}

/// All that the recorded messages tell of.
fn happen(client: &mut Client) {
    let cloid = "0x273d565c96b2523ae6a0b5ca299c6f00";
    let buy = json!({"op": "order", "a": 3, "b": true, "p": "59000", "s": "0.01", "r": false,
        "t": {"limit": {"tif": "Alo"}}, "c": cloid});
    let mut taking = buy.clone();
    (taking["p"], taking["c"]) = (json!("58000"), json!("0x913a0c81d251e55d3792962e03a96f00"));
    let closing = json!({"op": "order", "a": 3, "b": false, "p": "65000", "s": "0.01", "r": true,
        "t": {"limit": {"tif": "Gtc"}}});
    let deposit = json!({"op": "deposit", "usd": "7"});
    control(&client.sim, &json!([deposit, buy, taking]));
    client.sim.price("BTC", "59000").unwrap();
    control(&client.sim, &closing);
    client.sim.setting("funding_rate", "0.0000125").unwrap();
    control(&client.sim, &json!({"op": "clock", "advance_ms": 3_600_000}));
    close(&client.sim, "BTC");
    control(&client.sim, &json!({"op": "position", "coin": "BTC", "szi": "0.01", "entry_px": "59000"}));
    isolated(client);
    let twap = json!({"type": "twapOrder", "twap": {"a": 3, "b": true, "s": "0.1", "r": false, "m": 5, "t": false}});
    let reply = client.act(&twap);
    assert_eq!(reply["status"], "ok", "{reply}");
}

/// Closes a position by hand, so that the venue cancels what would have.
fn close(sim: &SimHandle, coin: &str) {
    control(sim, &json!({"op": "position", "coin": coin, "szi": "0", "entry_px": "59000"}));
}

/// A position of the isolated kind beside the other.
fn isolated(client: &mut Client) {
    let action = json!({"type": "updateLeverage", "asset": 0, "isCross": false, "leverage": 4});
    assert_eq!(client.act(&action)["status"], "ok");
    control(&client.sim, &json!({"op": "position", "coin": "SOL", "szi": "1", "entry_px": "150"}));
}
