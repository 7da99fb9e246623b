//! The same subscriptions at the guard and at the venue: the same frames, byte for byte but for the client's own address.

use super::*;
use crate::book::one_slice;
use crate::feed::{covered_in_all, covered_once};

/// Feeds that tell of what happens: the venue says it on every socket in the same words.
fn feeds(user: &str) -> Vec<Value> {
    let of_user = ["orderUpdates", "userEvents", "userFills", "userNonFundingLedgerUpdates", "userHistoricalOrders"];
    let mut feeds: Vec<Value> = of_user.map(|kind| json!({"type": kind, "user": user})).into();
    feeds.push(of_coin("trades", "BTC"));
    feeds
}

const CHANNELS: [&str; 6] =
    ["orderUpdates", "user", "userFills", "userHistoricalOrders", "userNonFundingLedgerUpdates", "trades"];

#[test]
fn what_happens_is_told_in_the_venues_bytes() {
    let stand = stand();
    fill(&stand, "0.2");
    covered_in_all(&stand, "BTC", "0.2");
    let own = spelled(&stand);
    let (mut direct, mut through) = (Subscriber::at_venue(&stand), Subscriber::at_guard(&stand));
    for (at_venue, at_guard) in feeds(ACCOUNT).iter().zip(&feeds(&own)) {
        let acks = (direct.subscribed(at_venue), through.subscribed(at_guard));
        assert_eq!(acks.1.to_string().replace(&own, ACCOUNT), acks.0.to_string());
    }
    // A late client begins with what the venue begins with.
    let mut late = Subscriber::at_guard(&stand);
    for (kind, key) in [("userFills", "fills"), ("userNonFundingLedgerUpdates", "nonFundingLedgerUpdates")] {
        late.subscribe(&of_account(kind));
        let first = late.hear_on(kind);
        let mut again = Subscriber::at_venue(&stand);
        again.subscribe(&of_account(kind));
        assert_eq!(first, again.hear_on(kind), "{key}");
    }
    for szi in ["0.3", "0.4", "0.5"] {
        fill(&stand, szi);
        covered_in_all(&stand, "BTC", szi);
        covered_once(&stand, "BTC", szi);
    }
    // What is told last comes after the guard's stops, on both.
    deposit(&stand, "7");
    let heard = direct.streams(&CHANNELS, |heard| is_told(heard, "\"7.0\""));
    assert_eq!(heard.len(), CHANNELS.len(), "{heard:?}");
    assert!(heard["userFills"].len() == 3 && heard["orderUpdates"].len() >= 3, "{heard:?}");
    same_streams(&mut through, &heard, &own);
}

/// Orders that the venue carries out in slices, and what it tells of outcomes.
#[test]
fn what_is_told_of_slices_and_outcomes_is_told_in_the_venues_bytes() {
    let stand = stand();
    let own = spelled(&stand);
    let (mut direct, mut through) = (Subscriber::at_venue(&stand), Subscriber::at_guard(&stand));
    for kind in ["userTwapHistory", "userTwapSliceFills", "userEvents", "userNonFundingLedgerUpdates"] {
        let acks = (direct.subscribed(&of_account(kind)), through.subscribed(&json!({"type": kind, "user": own})));
        assert_eq!(acks.1.to_string().replace(&own, ACCOUNT), acks.0.to_string());
    }
    let outcomes = json!({"type": "outcomeMetaUpdates"});
    assert_eq!(through.subscribed(&outcomes), direct.subscribed(&outcomes));
    one_slice(&stand);
    let settled = r#"{"channel":"outcomeMetaUpdates","data":[{"outcomeSettled":23205}]}"#;
    trouble(&stand, json!({"kind": "garbage", "on": "outcomeMetaUpdates", "text": settled}));
    deposit(&stand, "7");
    let channels =
        ["userTwapHistory", "userTwapSliceFills", "user", "outcomeMetaUpdates", "userNonFundingLedgerUpdates"];
    let heard = direct.streams(&channels, |heard| is_told(heard, "\"7.0\""));
    assert_eq!(heard.len(), channels.len(), "{heard:?}");
    let events = &heard["user"];
    let are_told = ["twapHistory", "twapSliceFills"].map(|key| events.iter().any(|event| event.contains(key)));
    assert_eq!((are_told, heard["userTwapHistory"].len()), ([true; 2], 2), "{heard:?}");
    same_streams(&mut through, &heard, &own);
    // A late client begins with what the venue begins with.
    let (mut late, mut again) = (Subscriber::at_guard(&stand), Subscriber::at_venue(&stand));
    late.subscribe(&json!({"type": "userTwapSliceFills", "user": own}));
    again.subscribe(&of_account("userTwapSliceFills"));
    let (late, again) = (late.hear_on("userTwapSliceFills"), again.hear_on("userTwapSliceFills"));
    assert!(late.contains("twapId") && late.replace(&own, ACCOUNT) == again, "{late} {again}");
}

/// A state is told again and again, to each at its own moment: but for that moment it is the same.
#[test]
fn what_is_held_is_told_in_the_venues_bytes() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    stand.venue.control(&json!({"op": "setting", "name": "feed_state_ms", "value": 1_000})).unwrap();
    stand.start();
    fill(&stand, "0.2");
    covered_in_all(&stand, "BTC", "0.2");
    let own = spelled(&stand);
    for kind in ["clearinghouseState", "openOrders", "spotState", "webData3", "allDexsClearinghouseState", "twapStates"]
    {
        same_state(&stand, &of_account(kind), &own);
    }
    same_state(&stand, &json!({"type": "activeAssetData", "user": ACCOUNT, "coin": "BTC"}), &own);
    for kind in ["l2Book", "bbo", "activeAssetCtx"] {
        same_state(&stand, &of_coin(kind, "BTC"), &own);
    }
    same_state(&stand, &of_coin("activeAssetCtx", "PURR/USDC"), &own);
    same_state(&stand, &json!({"type": "candle", "coin": "BTC", "interval": "1m"}), &own);
    for book in [json!({"nSigFigs": 4}), json!({"fast": true})] {
        let mut subscription = of_coin("l2Book", "ETH");
        book.as_object().unwrap().iter().for_each(|(key, value)| subscription[key] = value.clone());
        same_state(&stand, &subscription, &own);
    }
    for kind in ["allMids", "assetCtxs", "spotAssetCtxs", "allDexsAssetCtxs", "fastAssetCtxs"] {
        same_state(&stand, &json!({"type": kind}), &own);
    }
}

#[test]
fn refusals_are_in_the_venues_words() {
    let stand = stand();
    let (mut direct, mut through) = (Subscriber::at_venue(&stand), Subscriber::at_guard(&stand));
    let mids = r#"{"method":"subscribe","subscription":{"type":"allMids"}}"#;
    for frame in [
        r#"{"method":"subscribe","subscription":{"type":"webData2","user":"0x1111111111111111111111111111111111111111"}}"#,
        r#"{"method":"subscribe", "subscription":{"type":"l2Book"}}"#,
        r#"{"method":"unsubscribe","subscription":{"type":"l2Book","coin":"BTC","nSigFigs":5}}"#,
        mids,
        mids,
        r#"{"method":"unsubscribe","subscription":{"type":"allMids"}}"#,
        r#"{"method":"ping"}"#,
    ] {
        direct.say(frame);
        through.say(frame);
        let next = |subscriber: &mut Subscriber| loop {
            let frame = subscriber.hear();
            if !frame.starts_with("{\"channel\":\"allMids\"") {
                return frame;
            }
        };
        assert_eq!(next(&mut through), next(&mut direct), "{frame}");
    }
}
