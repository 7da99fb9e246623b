//! Subscriptions through the guard: a client hears what it would hear at the venue, whatever becomes of the way there and
//! whoever else listens.

mod crowd;
mod own_socket;
mod same_bytes;
mod troubles;

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::stand::{ACCOUNT, Mode, Stand, until};

/// A subscriber at the guard or at the venue.
struct Subscriber {
    socket: WebSocket<TcpStream>,
}

impl Subscriber {
    fn at(to: SocketAddr) -> Self {
        let stream = TcpStream::connect(to).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self { socket: tungstenite::client(format!("ws://{to}/ws"), stream).unwrap().0 }
    }

    fn at_guard(stand: &Stand) -> Self {
        Self::at(stand.address())
    }

    fn at_venue(stand: &Stand) -> Self {
        Self::at(stand.venue.url().strip_prefix("http://").unwrap().parse().unwrap())
    }

    fn say(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
    }

    fn subscribe(&mut self, subscription: &Value) {
        self.say(&json!({"method": "subscribe", "subscription": subscription}).to_string());
    }

    /// The next frame as it came.
    fn hear(&mut self) -> String {
        loop {
            match self.socket.read().unwrap() {
                Message::Text(text) => return text.to_string(),
                Message::Close(close) => panic!("closed: {close:?}"),
                _ => {}
            }
        }
    }

    /// The next frame on a channel; others are passed over.
    fn hear_on(&mut self, channel: &str) -> String {
        loop {
            let frame = self.hear();
            if value(&frame)["channel"] == channel {
                return frame;
            }
        }
    }

    /// Subscribes, and waits for the acknowledgement: what it says.
    fn subscribed(&mut self, subscription: &Value) -> Value {
        self.subscribe(subscription);
        value(&self.hear_on("subscriptionResponse"))["data"]["subscription"].clone()
    }
}

fn value(frame: &str) -> Value {
    serde_json::from_str(frame).unwrap()
}

/// A service beside a venue whose limits on sockets do not count: tests cut more of them than a venue would let open.
fn stand() -> Stand {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    for name in ["feed_new_connections", "feed_connections"] {
        stand.venue.control(&json!({"op": "setting", "name": name, "value": null})).unwrap();
    }
    stand.start();
    stand
}

/// Has the venue's sockets suffer something.
fn trouble(stand: &Stand, trouble: Value) {
    let mut op = trouble;
    op["op"] = json!("feed");
    stand.venue.control(&op).unwrap();
}

fn price(stand: &Stand, px: &str) {
    stand.venue.control(&json!({"op": "price", "coin": "BTC", "px": px})).unwrap();
}

/// What the status says of subscriptions.
fn count(stand: &Stand, name: &str) -> u64 {
    stand.status()["subscriptions"][name].as_u64().unwrap()
}

/// How many sockets at the venue hold a subscription of this kind.
fn held_at_venue(stand: &Stand, kind: &str) -> usize {
    let truth = stand.venue.truth();
    let sockets = truth["feed"]["sockets"].as_array().unwrap().iter();
    let held = sockets.flat_map(|socket| socket["subscriptions"].as_array().unwrap().clone());
    held.filter(|held| held["subscription"]["type"] == kind).count()
}

fn of_account(kind: &str) -> Value {
    json!({"type": kind, "user": ACCOUNT})
}

fn of_coin(kind: &str, coin: &str) -> Value {
    json!({"type": kind, "coin": coin})
}

/// A fill of the account that nobody asked the guard for.
fn fill(stand: &Stand, szi: &str) {
    stand.venue.control(&json!({"op": "position", "coin": "BTC", "szi": szi, "entry_px": "60000"})).unwrap();
}
