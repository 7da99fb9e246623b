//! Subscriptions over which the venue ends the socket: they cost the others a socket or two, and not each.

use serde_json::{Value, json};

use super::{CLIENT, STRANGER, acknowledged, coins, holding, relay, sent, taken, tell};
use crate::relay::messages::{Input, Output};
use crate::relay::room::Relay;

const MIDS: &str = r#"{"type":"allMids"}"#;

fn bbo(coin: &str) -> Value {
    json!({"type": "bbo", "coin": coin})
}

/// What a venue is like that ends the socket over what has this in it.
struct Venue {
    hates: &'static str,
    /// The coins of its list.
    coins: &'static str,
    now_ms: u64,
    ends: u32,
    asked: Vec<String>,
    waiting: Vec<String>,
}

impl Venue {
    fn new(hates: &'static str) -> Self {
        Self {
            hates,
            coins: r#"{"BTC":"1","ETH":"1","SOL":"1"}"#,
            now_ms: 1_000,
            ends: 0,
            asked: Vec::new(),
            waiting: Vec::new(),
        }
    }

    fn list(&self, id: &Value) -> String {
        coins(id.as_u64().unwrap()).replace(r#"{"BTC":"1","ETH":"1","SOL":"1","@107":"1","PURR/USDC":"1"}"#, self.coins)
    }

    /// Plays so long: what comes in one step is answered in the next, as far as the venue gets.
    fn play(&mut self, relay: &mut Relay, for_ms: u64) {
        let until_ms = self.now_ms + for_ms;
        while self.now_ms < until_ms {
            self.now_ms += 20;
            let mut outputs = Vec::new();
            for text in std::mem::take(&mut self.waiting) {
                let said: Value = serde_json::from_str(&text).unwrap();
                let answer = match said["method"].as_str().unwrap() {
                    "ping" => r#"{"channel":"pong"}"#.to_owned(),
                    "post" => self.list(&said["id"]),
                    "unsubscribe" => super::ended(&said["subscription"]),
                    _ if text.contains(self.hates) => {
                        self.ends += 1;
                        outputs.clear();
                        outputs.extend(relay.step(0, Input::Closed, self.now_ms));
                        break;
                    }
                    _ => {
                        self.asked.push(text);
                        acknowledged(&said["subscription"])
                    }
                };
                outputs.extend(tell(relay, &answer, self.now_ms).into_iter().map(Output::Send));
            }
            outputs.extend(relay.step(0, Input::Tick, self.now_ms));
            if outputs.contains(&Output::Connect) {
                outputs = relay.step(0, Input::Connected, self.now_ms);
            }
            self.waiting.extend(sent(outputs));
        }
    }
}

#[test]
fn what_ends_the_socket_twice_is_refused_for_some_minutes() {
    let mut relay = holding(MIDS);
    let mut venue = Venue::new("ETH");
    taken(&mut relay, 1);
    relay.subscribe(2, &bbo("BTC").to_string(), 0).unwrap();
    venue.play(&mut relay, 1_000);
    assert_eq!(taken(&mut relay, 2), [acknowledged(&bbo("BTC"))]);
    for client in [3, 4] {
        relay.subscribe(client, &bbo("ETH").to_string(), venue.now_ms).unwrap();
    }
    venue.play(&mut relay, 20_000);
    assert_eq!(venue.ends, 2, "{:?}", venue.asked);
    let refusal = json!({"channel": "error", "data":
        r#"Invalid subscription {"type":"bbo","coin":"ETH"}: the venue ends the socket over it"#})
    .to_string();
    for client in [3, 4] {
        assert_eq!(taken(&mut relay, client), std::slice::from_ref(&refusal));
    }
    assert_eq!(taken(&mut relay, 1), [""; 0], "the others keep theirs");
    assert_eq!((relay.counts().held, relay.counts().subscriptions, relay.counts().open), (2, 2, 1));
    // The second socket ended at a moment before this one.
    relay.subscribe(4, &bbo("ETH").to_string(), 301_000).unwrap();
    assert_eq!(taken(&mut relay, 4), [refusal]);
    relay.subscribe(4, &bbo("ETH").to_string(), 301_000 + 20_000).unwrap();
    assert_eq!(taken(&mut relay, 4), [""; 0], "it may be well by then");
    venue.hates = "nothing";
    venue.now_ms = 321_000;
    venue.play(&mut relay, 1_000);
    assert_eq!(taken(&mut relay, 4), [acknowledged(&bbo("ETH"))]);
}

#[test]
fn of_many_that_were_asked_for_at_once_the_one_is_found() {
    let mut relay = relay(1_200);
    let mut venue = Venue::new(STRANGER);
    let spot = json!({"type": "spotState", "user": STRANGER});
    relay.subscribe(3, &spot.to_string(), 1_000).unwrap();
    let others: Vec<Value> =
        ["1m", "5m", "15m", "1h"].iter().map(|i| json!({"type": "candle", "coin": "BTC", "interval": i})).collect();
    for subscription in &others {
        relay.subscribe(1, &subscription.to_string(), 1_000).unwrap();
    }
    relay.subscribe(1, MIDS, 1_000).unwrap();
    venue.play(&mut relay, 30_000);
    assert_eq!(venue.ends, 3, "{:?}", venue.asked);
    let heard = taken(&mut relay, 3);
    assert!(heard.len() == 1 && heard[0].contains("ends the socket over it"), "{heard:?}");
    let heard = taken(&mut relay, 1);
    assert!(heard.len() == 5 && heard.iter().all(|text| text.contains("subscriptionResponse")), "{heard:?}");
}

#[test]
fn a_coin_that_is_listed_no_more_is_refused_and_nobody_loses_the_socket_over_it_again() {
    let mut relay = holding(MIDS);
    let mut venue = Venue::new("SOL");
    relay.subscribe(1, &bbo("BTC").to_string(), 0).unwrap();
    venue.play(&mut relay, 12_000);
    taken(&mut relay, 1);
    venue.coins = r#"{"BTC":"1","ETH":"1"}"#;
    relay.subscribe(3, &bbo("SOL").to_string(), venue.now_ms).unwrap();
    venue.play(&mut relay, 20_000);
    assert_eq!(venue.ends, 1, "the list is asked for before it is asked for again");
    let invalid =
        |coin: &str| json!({"channel": "error", "data": format!("Invalid subscription {}", bbo(coin))}).to_string();
    assert_eq!(taken(&mut relay, 3).len(), 1);
    // What is held and listed no more ends too, whatever the list was asked for.
    venue.coins = r#"{"ETH":"1"}"#;
    relay.subscribe(2, &bbo("NOPE").to_string(), venue.now_ms).unwrap();
    venue.play(&mut relay, 1_000);
    assert_eq!((taken(&mut relay, 2), taken(&mut relay, 1)), (vec![invalid("NOPE")], vec![invalid("BTC")]));
    assert_eq!((relay.counts().held, relay.counts().subscriptions, venue.ends), (1, 1, 1));
}

#[test]
fn a_venue_that_ends_each_socket_at_once_blames_nothing() {
    let mut relay = relay(1_200);
    relay.vouch(1, CLIENT.parse().unwrap());
    relay.subscribe(1, MIDS, 0).unwrap();
    let mut ends = 0;
    for now_ms in (0..300_000).step_by(20) {
        if relay.step(0, Input::Tick, now_ms).contains(&Output::Connect) {
            relay.step(0, Input::Connected, now_ms);
            relay.step(0, Input::Tick, now_ms);
            relay.step(0, Input::Closed, now_ms);
            ends += 1;
        }
    }
    assert!(ends > 10, "{ends}");
    assert_eq!((taken(&mut relay, 1), relay.counts().held), (vec![], 1));
    let mut venue = Venue::new("nothing");
    venue.now_ms = 400_000;
    venue.play(&mut relay, 1_000);
    assert_eq!(taken(&mut relay, 1), [acknowledged(&json!({"type": "allMids"}))]);
}

/// An end by chance, and another one an hour later.
#[test]
fn what_is_acknowledged_is_innocent() {
    let mut relay = holding(MIDS);
    taken(&mut relay, 1);
    let mut venue = Venue::new("1m");
    let candle = json!({"type": "candle", "coin": "BTC", "interval": "1m"});
    relay.subscribe(3, &candle.to_string(), 1_000).unwrap();
    venue.hates = "nothing";
    venue.play(&mut relay, 1_000);
    for _ in 0..5 {
        relay.step(0, Input::Closed, venue.now_ms);
        let ends = venue.ends;
        venue.hates = "1m";
        for _ in 0..3_000 {
            if venue.ends == ends {
                venue.play(&mut relay, 20);
            }
        }
        venue.hates = "nothing";
        venue.play(&mut relay, 60_000);
        let heard = taken(&mut relay, 3);
        assert!(heard.iter().all(|text| !text.contains("error")), "{heard:?}");
    }
}
