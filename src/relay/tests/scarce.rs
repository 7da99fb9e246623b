//! Messages that are few: what is left of them when clients that signed on nothing had theirs.

use serde_json::{Value, json};

use super::{CLIENT, acknowledged, coins, relay, sent, sent_until, taken, tell};
use crate::relay::messages::{Input, Output};
use crate::relay::room::Relay;

const MIDS: &str = r#"{"type":"allMids"}"#;
const SIGNED: u64 = 1;
const UNSIGNED: u64 = 2;

fn trades(coin: usize) -> Value {
    json!({"type": "trades", "coin": format!("C{coin}")})
}

/// A relay with an open line that holds so many coins' trades for who signed nothing, and the mids and one of these for a client.
fn crowded(feeds: usize) -> (Relay, usize) {
    let mut relay = relay(1_200);
    for coin in 0..feeds {
        relay.subscribe(UNSIGNED, &trades(coin).to_string(), 0).unwrap();
    }
    for asked in [MIDS.to_owned(), trades(7).to_string()] {
        relay.subscribe(SIGNED, &asked, 0).unwrap();
    }
    relay.vouch(SIGNED, CLIENT.parse().unwrap());
    assert_eq!(relay.step(0, Input::Tick, 0), [Output::Connect]);
    let mut all = sent(relay.step(0, Input::Connected, 0));
    let list: Vec<String> = (0..feeds).map(|coin| format!(r#""C{coin}":"1""#)).collect();
    all.extend(tell(&mut relay, &coins(1).replace(r#""BTC":"1""#, &list.join(",")), 10));
    acknowledge(&mut relay, &all, 20);
    (relay, all.len())
}

fn acknowledge(relay: &mut Relay, asked: &[String], now_ms: u64) {
    for text in asked.iter().filter(|text| text.contains(r#""subscribe""#)) {
        let asked: Value = serde_json::from_str(text).unwrap();
        tell(relay, &acknowledged(&asked["subscription"]), now_ms);
    }
}

/// The socket ends, and what is sent on the next.
fn again(relay: &mut Relay, now_ms: u64) -> Vec<String> {
    relay.step(0, Input::Closed, now_ms);
    let mut ticks = (now_ms..now_ms + 5_000).step_by(20);
    let open_ms = ticks.find(|now_ms| relay.step(0, Input::Tick, *now_ms).contains(&Output::Connect)).unwrap();
    let asked = sent(relay.step(0, Input::Connected, open_ms));
    acknowledge(relay, &asked, open_ms);
    asked
}

#[test]
fn after_a_loss_clients_that_signed_have_theirs_first() {
    let (mut relay, mut count) = crowded(500);
    assert_eq!(count, 502, "the list, the mids and the trades");
    let is_signeds = |text: &String| text.contains("allMids") || text.contains(r#""C7""#);
    for (now_ms, most) in [(5_000, 875 - 502), (10_000, 2)] {
        let asked = again(&mut relay, now_ms);
        count += asked.len();
        assert_eq!(asked.len(), most);
        assert!(asked[..2].iter().all(is_signeds), "{:?}", &asked[..3]);
    }
    assert_eq!(count, 877, "what is kept is for who signed alone");
    relay.subscribe(SIGNED, r#"{"type":"outcomeMetaUpdates"}"#, 15_000).unwrap();
    assert_eq!(sent(relay.step(0, Input::Tick, 15_000)).len(), 1);
}

#[test]
fn ends_leave_what_is_kept_for_clients_that_signed() {
    let (mut relay, mut count) = crowded(500);
    relay.leave(UNSIGNED, 1_000);
    let ends = sent(relay.step(0, Input::Tick, 1_000));
    count += ends.len();
    assert!(count == 875 && ends.iter().all(|text| text.contains("unsubscribe")), "{count}");
    taken(&mut relay, SIGNED);
    for kind in ["outcomeMetaUpdates", "fastAssetCtxs"] {
        relay.subscribe(SIGNED, &json!({"type": kind}).to_string(), 1_100).unwrap();
        let asked = sent(relay.step(0, Input::Tick, 1_100));
        assert!(asked.len() == 1 && asked[0].contains(kind), "{asked:?}");
    }
    assert_eq!(taken(&mut relay, SIGNED), [""; 0]);
    for text in &ends {
        let said: Value = serde_json::from_str(text).unwrap();
        tell(&mut relay, &super::ended(&said["subscription"]), 1_200);
    }
    // The others follow once there is room for them.
    let mut more = 0;
    for now_ms in (1_300..65_000).step_by(100) {
        let asked = sent(relay.step(0, Input::Tick, now_ms));
        if asked.iter().any(|text| text.contains("ping")) {
            tell(&mut relay, r#"{"channel":"pong"}"#, now_ms);
        }
        for text in asked
            .iter()
            .filter(|text| text.contains("unsubscribe") && text.contains("trades") && !text.contains(r#""C7""#))
        {
            let said: Value = serde_json::from_str(text).unwrap();
            tell(&mut relay, &super::ended(&said["subscription"]), now_ms);
            more += 1;
        }
    }
    assert_eq!(ends.len() + more, 499, "all but the one that the client has too");
}

/// Anybody can make up dexes, and many can wait for each.
#[test]
fn what_cannot_be_asked_for_yet_is_not_looked_at_all_the_time() {
    let of_dex = |dex: usize| json!({"type": "trades", "coin": format!("d{dex}:A")}).to_string();
    let mut relay = relay(1_200);
    for client in 0..40 {
        for dex in 0..300 {
            relay.subscribe(100 + client, &of_dex(dex), 0).unwrap();
        }
    }
    relay.step(0, Input::Tick, 0);
    let asked = sent(relay.step(0, Input::Connected, 0));
    assert!(asked.len() >= 9, "{asked:?}");
    let looked_at =
        |relay: &Relay, now_ms: u64| relay.feeds.values().filter(|f| !f.is_own() && f.rests_until_ms <= now_ms).count();
    assert_eq!([looked_at(&relay, 499), looked_at(&relay, 500)], [0, relay.counts().subscriptions]);
    // Who comes is looked at, and an answer may concern all.
    relay.subscribe(99, &of_dex(299), 10).unwrap();
    assert_eq!(looked_at(&relay, 10), 1);
    relay.step(0, Input::Tick, 10);
    assert_eq!(looked_at(&relay, 10), 0);
    assert!(sent_until(&mut relay, 0, 100, 61_000).len() >= 9, "their turn comes");
}
