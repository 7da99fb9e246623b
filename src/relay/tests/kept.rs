//! The bound of its own that what is kept for who comes late has: no memory of a client who does not wait for it.

use serde_json::{Value, json};

use super::{acknowledged, ended, holding, sent, taken, tell};
use crate::relay::messages::Input;
use crate::relay::room::Relay;

/// Bytes of one long frame.
const LONG: usize = 900_000;
/// Most that is kept.
const MOST: usize = 8 * 1024 * 1024;

/// Feeds of states, more of which are told than is kept.
fn feeds() -> Vec<Value> {
    let coins = ["BTC", "ETH", "SOL", "@107", "PURR/USDC"];
    let of_coin = |kind: &'static str| coins.map(|coin| json!({"type": kind, "coin": coin}));
    ["l2Book", "bbo", "activeAssetCtx"].into_iter().flat_map(of_coin).collect()
}

fn frame(feed: &Value, number: usize) -> String {
    let data = json!({"coin": feed["coin"], "n": number, "padding": "x".repeat(LONG)});
    json!({"channel": feed["type"], "data": data}).to_string()
}

/// A relay that holds all of them for client 1, which reads each frame as it comes.
fn told() -> Relay {
    let mut relay = holding(&feeds()[0].to_string());
    for feed in &feeds() {
        relay.subscribe(1, &feed.to_string(), 0).unwrap();
        sent(relay.step(0, Input::Tick, 0));
        tell(&mut relay, &acknowledged(feed), 0);
        tell(&mut relay, &frame(feed, 1), 0);
        assert!(taken(&mut relay, 1).contains(&frame(feed, 1)));
    }
    relay
}

#[test]
fn what_is_kept_has_a_bound_and_who_comes_late_has_the_rest_told_again() {
    let mut relay = told();
    assert!(relay.kept.bytes() <= MOST, "{}", relay.kept.bytes());
    let mut begun_anew = 0;
    for feed in &feeds() {
        relay.subscribe(2, &feed.to_string(), 10_000).unwrap();
        if taken(&mut relay, 2) == [acknowledged(feed), frame(feed, 1)] {
            continue;
        }
        begun_anew += 1;
        assert!(sent(relay.step(0, Input::Tick, 10_000)).iter().any(|text| text.contains("unsubscribe")));
        assert_eq!(tell(&mut relay, &ended(feed), 10_000).len(), 1);
        tell(&mut relay, &acknowledged(feed), 10_000);
        tell(&mut relay, &frame(feed, 2), 10_000);
        assert_eq!(taken(&mut relay, 2), [acknowledged(feed), frame(feed, 2)]);
    }
    assert!((6..=12).contains(&begun_anew), "{begun_anew}");
    assert_eq!((relay.counts().slow, relay.kept.bytes() <= MOST), (0, true));
}

#[test]
fn who_has_little_waiting_is_not_closed_for_what_is_kept() {
    let mut relay = told();
    for feed in &feeds() {
        tell(&mut relay, &frame(feed, 2), 0);
        assert_eq!(taken(&mut relay, 1), [frame(feed, 2)]);
    }
    // Some megabytes wait for who comes late.
    for feed in feeds().iter().take(4) {
        relay.subscribe(2, &feed.to_string(), 100).unwrap();
    }
    for feed in feeds().iter().take(2) {
        tell(&mut relay, &frame(feed, 3), 100);
    }
    assert_eq!((relay.counts().slow, relay.too_heavy(2)), (0, None));
}

/// Rows add up as states do: those of a venue that begins each feed with as much as is kept of one.
#[test]
fn rows_that_are_kept_are_within_the_same_bound() {
    let user = |number: u64| format!("0x{number:040x}");
    let kinds = [("userFills", "fills"), ("userFundings", "fundings"), ("userTwapHistory", "history")];
    let mut relay = holding(r#"{"type":"allMids"}"#);
    for number in 1..=4 {
        for (kind, key) in kinds {
            let feed = json!({"type": kind, "user": user(number)});
            relay.subscribe(1, &feed.to_string(), 0).unwrap();
            sent(relay.step(0, Input::Tick, 0));
            tell(&mut relay, &acknowledged(&feed), 0);
            let row = json!({"n": number, "padding": "x".repeat(LONG)});
            let data = json!({"isSnapshot": true, "user": user(number), key: [row]});
            tell(&mut relay, &json!({"channel": kind, "data": data}).to_string(), 0);
            assert!(taken(&mut relay, 1).len() >= 2, "{feed}");
        }
    }
    assert!(relay.kept.bytes() <= MOST, "{}", relay.kept.bytes());
    // One of twelve that is kept no longer: what comes next is passed on all the same, and who comes late waits for the whole.
    let feed = json!({"type": "userFills", "user": user(1)});
    let let_go = relay.feeds.values().filter(|feed| !feed.is_own() && feed.kept_bytes() == 0).count();
    assert!(let_go >= 3, "{let_go}");
    let news = json!({"channel": "userFills", "data": {"user": user(1), "fills": [{"n": 7}]}}).to_string();
    tell(&mut relay, &news, 0);
    assert_eq!(taken(&mut relay, 1), [news]);
    relay.subscribe(2, &feed.to_string(), 0).unwrap();
    let is_whole = taken(&mut relay, 2).len() == 2;
    assert!(is_whole || relay.feeds.values().any(|feed| feed.is_stale), "{feed}");
}
