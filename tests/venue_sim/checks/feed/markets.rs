//! The market feeds.

use super::{Socket, control, hold, quiet_venue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

#[test]
fn the_best_prices_come_when_they_change() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    socket.subscribe(&json!({"type": "bbo", "coin": "BTC"}));
    assert_eq!(socket.hear_on("bbo")["bbo"][0]["px"], "59999.0");
    sim.price("ETH", "2600").unwrap();
    sim.price("BTC", "60000").unwrap();
    socket.hears_nothing();
    sim.price("BTC", "61000").unwrap();
    assert_eq!(socket.hear_on("bbo")["bbo"][1]["px"], "61001.0");
    control(&sim, &json!({"op": "book", "coin": "BTC", "depth": "0"}));
    assert_eq!(socket.hear_on("bbo")["bbo"], json!([null, null]));
    socket.say(&json!({"method": "unsubscribe", "subscription": {"type": "bbo", "coin": "BTC"}}).to_string());
    assert_eq!(socket.hear_on("subscriptionResponse")["method"], "unsubscribe");
    sim.price("BTC", "62000").unwrap();
    socket.hears_nothing();
}

#[test]
fn books_and_mids_come_again_by_their_clocks() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    socket.subscribe(&json!({"type": "l2Book", "coin": "BTC"}));
    let levels = |book: &Value| book["levels"][0].as_array().unwrap().len();
    assert_eq!(levels(&socket.hear_on("l2Book")), 20);
    socket.subscribe(&json!({"type": "l2Book", "coin": "BTC", "fast": true}));
    let fast = socket.hear_on("l2Book");
    assert_eq!((levels(&fast), &fast["fast"]), (5, &json!(true)));
    socket.subscribe(&json!({"type": "allMids"}));
    let mids = socket.hear_on("allMids")["mids"].take();
    assert_eq!((&mids["BTC"], &mids["PURR/USDC"]), (&json!("60000.0"), &json!("0.2")));
    sim.price("BTC", "61000").unwrap();
    socket.hears_nothing();
    sim.setting("feed_mids_ms", 100).unwrap();
    assert_eq!(socket.hear_on("allMids")["mids"]["BTC"], "61000.0");
}

#[test]
fn the_market_sees_trades_by_the_side_that_took() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    socket.subscribe(&json!({"type": "trades", "coin": "BTC"}));
    assert_eq!(socket.hear_on("trades"), json!([]));
    let rests = json!({"op": "order", "a": 3, "b": true, "p": "59000", "s": "0.01", "r": false,
        "t": {"limit": {"tif": "Gtc"}}});
    control(&sim, &rests);
    sim.price("BTC", "59000").unwrap();
    let trade = socket.hear_on("trades")[0].take();
    assert_eq!((&trade["side"], &trade["px"]), (&json!("A"), &json!("59000.0")));
    assert_eq!(trade["users"][0], super::ACCOUNT);
    hold(&sim, "0.02");
    assert_eq!(socket.hear_on("trades")[0]["side"], "B");
    socket.subscribe(&json!({"type": "trades", "coin": "ETH"}));
    assert_eq!(socket.hear_on("trades"), json!([]));
}

#[test]
fn a_candle_stretches_with_the_price() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    socket.subscribe(&json!({"type": "candle", "coin": "BTC", "interval": "1M"}));
    assert_eq!(socket.hear_on("candle")["c"], "60000.0");
    let mut said = Value::Null;
    for px in ["61000", "59000"] {
        sim.price("BTC", px).unwrap();
        said = socket.hear_on("candle");
    }
    let shown = ["o", "h", "l", "c"].map(|key| said[key].clone());
    assert_eq!(shown, ["60000.0", "61000.0", "59000.0", "59000.0"]);
}

#[test]
fn the_compressed_feed_has_everything_once_and_then_what_changed() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    socket.subscribe(&json!({"type": "fastAssetCtxs"}));
    let first = inflated(&socket.hear_on("fastAssetCtxs"));
    assert_eq!(first["BTC"], json!({"markPx": "60000.0", "midPx": "60000.0"}));
    assert_eq!(first["MATIC"]["midPx"], Value::Null);
    control(&sim, &json!({"op": "price", "coin": "BTC", "px": "61000", "mark": "60000"}));
    sim.setting("feed_ctxs_ms", 100).unwrap();
    assert_eq!(inflated(&socket.hear_on("fastAssetCtxs")), json!({"BTC": {"midPx": "61000.0"}}));
}

/// One stored block of raw DEFLATE.
fn inflated(data: &Value) -> Value {
    let bytes = STANDARD.decode(data.as_str().unwrap()).unwrap();
    let (head, body) = bytes.split_at(5);
    let len = u16::from_le_bytes([head[1], head[2]]);
    assert_eq!((head[0], usize::from(len)), (1, body.len()));
    assert_eq!(!len, u16::from_le_bytes([head[3], head[4]]));
    serde_json::from_slice(body).unwrap()
}

#[test]
fn a_spot_pair_answers_on_a_channel_of_its_own() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    socket.subscribe(&json!({"type": "activeAssetCtx", "coin": "PURR/USDC"}));
    assert_eq!(socket.hear_on("activeSpotAssetCtx")["coin"], "PURR/USDC");
    for (name, key) in [("assetCtxs", "dex"), ("allDexsAssetCtxs", "ctxs")] {
        socket.subscribe(&json!({"type": name}));
        assert!(socket.hear_on(name).get(key).is_some(), "{name}");
    }
    socket.subscribe(&json!({"type": "spotAssetCtxs"}));
    assert_eq!(socket.hear_on("spotAssetCtxs")[0]["coin"], "PURR/USDC");
}
