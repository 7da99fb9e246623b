//! The same subscriptions at the guard and at the venue: the same frames, byte for byte but for the client's own address.

use super::*;
use crate::feed::covered_in_all;

/// Feeds that tell of what happens: the venue says it on every socket in the same words.
fn feeds(user: &str) -> Vec<Value> {
    let of_user = ["orderUpdates", "userEvents", "userFills", "userNonFundingLedgerUpdates", "userHistoricalOrders"];
    let of_user = of_user.map(|kind| json!({"type": kind, "user": user}));
    let mut feeds: Vec<Value> = of_user.into();
    feeds.extend([of_coin("trades", "BTC"), of_coin("bbo", "BTC")]);
    feeds.push(json!({"type": "candle", "coin": "BTC", "interval": "1m"}));
    feeds
}

/// All frames until this one of the ledger's, but for acknowledgements and candles, whose turn is their own.
fn heard(subscriber: &mut Subscriber, last: &str) -> Vec<String> {
    let mut frames = Vec::new();
    loop {
        let frame = subscriber.hear();
        let is_last = frame.contains(last);
        frames.push(frame);
        if is_last {
            return frames;
        }
    }
}

fn spelled(key: &svc_guard::base::key::SecretKey) -> String {
    key.address().to_string().to_uppercase().replace("0X", "0x")
}

#[test]
fn what_happens_is_told_in_the_venues_bytes() {
    let stand = stand();
    fill(&stand, "0.2");
    until("the position", || stand.status()["positions"].as_array().filter(|held| !held.is_empty()).map(drop));
    let own = spelled(&stand.client);
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
    fill(&stand, "0.5");
    price(&stand, "60100");
    // What is told last comes after the guard's stop, on both.
    covered_in_all(&stand, "BTC", "0.5");
    stand.venue.control(&json!({"op": "deposit", "usd": "7"})).unwrap();
    let is_event = |frame: &String| !frame.contains("isSnapshot") && !frame.contains("\"candle\"");
    let kept = |frames: Vec<String>| frames.into_iter().filter(is_event).collect::<Vec<_>>();
    let (direct, through) = (kept(heard(&mut direct, "\"7.0\"")), kept(heard(&mut through, "\"7.0\"")));
    let told = |frames: &[String], channel: &str| {
        let start = format!("{{\"channel\":\"{channel}\"");
        frames.iter().filter(|frame| frame.starts_with(&start)).cloned().collect::<Vec<_>>()
    };
    for channel in
        ["orderUpdates", "user", "userFills", "userHistoricalOrders", "userNonFundingLedgerUpdates", "trades"]
    {
        let expected: Vec<_> = told(&direct, channel);
        let got: Vec<_> = told(&through, channel).iter().map(|frame| frame.replace(&own, ACCOUNT)).collect();
        assert_eq!(got.last(), expected.last(), "{channel}");
        assert!(channel == "orderUpdates" || channel == "userHistoricalOrders" || !got.is_empty(), "{channel}");
    }
    let newest = |frames: &[String]| told(frames, "bbo").last().cloned();
    assert_eq!(newest(&through), newest(&direct));
    let fills = told(&through, "userFills");
    assert!(fills.iter().all(|frame| frame.contains(&own) && !frame.contains(ACCOUNT)), "{fills:?}");
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
