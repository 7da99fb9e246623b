//! The venue at the other end: it holds subscriptions as it is known to, and tells of them in numbers.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::relay::kind::Manner;
use crate::relay::subscription::Subscription;

/// What one socket holds, and what it will say.
#[derive(Default)]
pub(super) struct Socket {
    pub(super) held: BTreeMap<String, Subscription>,
    pub(super) says: VecDeque<String>,
}

/// The venue: the number of the newest thing that happened, by subscription.
#[derive(Default)]
pub(super) struct Venue {
    pub(super) newest: BTreeMap<String, u64>,
}

impl Venue {
    /// Takes in what a socket sent.
    pub(super) fn hear(&mut self, socket: &mut Socket, text: &str, coins: &[&str]) {
        let frame: Value = serde_json::from_str(text).unwrap();
        match frame["method"].as_str().unwrap() {
            "ping" => socket.says.push_back(r#"{"channel":"pong"}"#.to_owned()),
            "post" => {
                let mids: Value =
                    coins.iter().map(|coin| ((*coin).to_owned(), json!("1"))).collect::<serde_json::Map<_, _>>().into();
                let payload = json!({"type": "allMids", "data": mids});
                let response = json!({"type": "info", "payload": payload});
                socket.says.push_back(
                    json!({"channel": "post", "data": {"id": frame["id"], "response": response}}).to_string(),
                );
            }
            method => {
                let of = Subscription::read(&frame["subscription"]).unwrap();
                let normal = of.normal();
                if method == "unsubscribe" {
                    assert!(socket.held.remove(&normal).is_some(), "{normal} was not held");
                }
                let ack = format!(
                    r#"{{"channel":"subscriptionResponse","data":{{"method":"{method}","subscription":{normal}}}}}"#
                );
                socket.says.push_back(ack);
                if method == "unsubscribe" {
                    return;
                }
                if of.kind.manner != Manner::Events {
                    socket.says.push_back(self.tell(&of, true));
                }
                assert!(socket.held.insert(normal, of).is_none(), "subscribed twice");
            }
        }
    }

    /// Something new happens.
    pub(super) fn happen(&mut self, of: &Subscription) {
        *self.newest.entry(of.normal()).or_default() += 1;
    }

    /// What a feed says: its newest number, or as a first frame all of the last ones.
    pub(super) fn tell(&self, of: &Subscription, is_first: bool) -> String {
        let newest = self.newest.get(&of.normal()).copied().unwrap_or_default();
        let (user, channel) = (of.user, of.kind.channel);
        match of.kind.name {
            "userFills" => {
                let numbers: Vec<u64> =
                    if is_first { (newest.saturating_sub(29)..=newest).collect() } else { vec![newest] };
                let start = if is_first { r#""isSnapshot":true,"# } else { "" };
                let rows: Vec<String> = numbers.iter().map(|n| format!(r#"{{"n":{n}}}"#)).collect();
                format!(
                    r#"{{"channel":"userFills","data":{{{start}"user":"{}","fills":[{}]}}}}"#,
                    user.unwrap(),
                    rows.join(",")
                )
            }
            "orderUpdates" => format!(r#"{{"channel":"orderUpdates","data":[{{"n":{newest}}}]}}"#),
            "allMids" => format!(r#"{{"channel":"allMids","data":{{"mids":{{}},"n":{newest}}}}}"#),
            "spotState" => format!(r#"{{"channel":"spotState","data":{{"n":{newest},"user":"{}"}}}}"#, user.unwrap()),
            _ => format!(r#"{{"channel":"{channel}","data":{{"coin":"{}","n":{newest}}}}}"#, of.coin()),
        }
    }
}
