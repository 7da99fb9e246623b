//! Frames as they were recorded at the venue: each finds who subscribed to it, and reaches it byte for byte.

use serde_json::{Value, json};

use super::{ACCOUNT, holding, line_of, taken, tell, tell_on};
use crate::relay::subscription::Subscription;

const FRAMES: &str = include_str!("../../../tests/data/venue_frames.jsonl");

fn data(frame: &str) -> (String, Value) {
    let frame: Value = serde_json::from_str(frame).unwrap();
    (frame["channel"].as_str().unwrap().to_owned(), frame["data"].clone())
}

/// The subscription that a frame answers; `None` for what is no feed's.
fn answered(channel: &str, data: &Value) -> Option<Value> {
    let user = data.get("user").and_then(Value::as_str).unwrap_or(ACCOUNT);
    Some(match channel {
        "subscriptionResponse" | "error" | "post" | "pong" => return None,
        "user" => json!({"type": "userEvents", "user": ACCOUNT}),
        "orderUpdates" | "notification" => json!({"type": channel, "user": ACCOUNT}),
        "webData3" => json!({"type": channel, "user": data["userState"]["user"]}),
        "clearinghouseState" | "openOrders" | "twapStates" => {
            json!({"type": channel, "user": user, "dex": data["dex"]})
        }
        "activeAssetData" => json!({"type": channel, "user": user, "coin": data["coin"]}),
        "allMids" => json!({"type": channel, "dex": data["dex"]}),
        "candle" => json!({"type": channel, "coin": data["s"], "interval": data["i"]}),
        "trades" => {
            json!({"type": channel, "coin": data.get(0).map_or("BTC", |trade| trade["coin"].as_str().unwrap())})
        }
        "activeSpotAssetCtx" => json!({"type": "activeAssetCtx", "coin": data["coin"]}),
        "l2Book" | "bbo" | "activeAssetCtx" => json!({"type": channel, "coin": data["coin"]}),
        "outcomeMetaUpdates" | "allDexsAssetCtxs" | "spotAssetCtxs" | "fastAssetCtxs" => json!({"type": channel}),
        _ => json!({"type": channel, "user": user}),
    })
}

#[test]
fn the_normal_form_is_the_venues() {
    let mut seen = 0;
    for frame in FRAMES.lines() {
        let (channel, data) = data(frame);
        if channel == "subscriptionResponse" {
            seen += 1;
            let normal = Subscription::read(&data["subscription"]).unwrap().normal();
            assert_eq!(normal, data["subscription"].to_string());
        }
    }
    assert!(seen >= 6, "{seen}");
}

#[test]
fn each_frame_reaches_who_subscribed_to_it() {
    let mut seen = 0;
    for frame in FRAMES.lines() {
        let (channel, data) = data(frame);
        let Some(subscription) = answered(&channel, &data) else { continue };
        if data.get("dex").and_then(Value::as_str).is_some_and(|dex| !dex.is_empty() && channel != "allMids") {
            continue;
        }
        seen += 1;
        let mut relay = holding(&subscription.to_string());
        assert_eq!(taken(&mut relay, 1).len(), 1, "the acknowledgement of {subscription}");
        tell_on(&mut relay, line_of(&subscription), frame, 30);
        assert_eq!(taken(&mut relay, 1), [frame], "{subscription}");
        assert_eq!(relay.counts().unusable, 0);
    }
    assert!(seen >= 25, "{seen}");
}

#[test]
fn what_is_no_frame_reaches_nobody() {
    let mut relay = holding(r#"{"type":"allMids"}"#);
    taken(&mut relay, 1);
    let deep = "[".repeat(10_000);
    for text in [
        "",
        "Websocket connection established.",
        "{",
        "null",
        "[]",
        r#"{"channel":"allMids"}"#,
        r#"{"channel":"allMids","data":7}"#,
        r#"{"channel":"allMids","data":{"dex":"xyz","mids":{}}}"#,
        r#"{"channel":"userFills","data":{"user":7}}"#,
        r#"{"channel":"trades","data":[]}"#,
        r#"{"channel":"trades","data":[7]}"#,
        r#"{"channel":"post","data":{}}"#,
        r#"{"channel":"subscriptionResponse","data":{"method":"subscribe"}}"#,
        &deep,
    ] {
        tell(&mut relay, text, 30);
        assert_eq!(taken(&mut relay, 1), [""; 0], "{text}");
    }
    assert!(relay.counts().unusable >= 13, "{:?}", relay.counts());
    tell(&mut relay, r#"{"channel":"allMids","data":{"mids":{}}}"#, 40);
    assert_eq!(taken(&mut relay, 1).len(), 1);
}
