//! Subscriptions through the guard: a client hears what it would hear at the venue, whatever becomes of the way there and
//! whoever else listens.

mod crowd;
mod ends;
mod idle;
mod memory;
mod out_of_turn;
mod own_socket;
mod paper;
mod same_bytes;
mod troubles;

use std::collections::BTreeMap;
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

    /// Listens until enough came: the frames on each of some channels in their order, but for first ones that say so.
    fn streams(&mut self, channels: &[&str], is_enough: impl Fn(&Streams) -> bool) -> Streams {
        let mut streams = Streams::new();
        while !is_enough(&streams) {
            let frame = self.hear();
            let channel = value(&frame)["channel"].as_str().unwrap().to_owned();
            if channels.contains(&channel.as_str()) && !frame.contains("isSnapshot") {
                streams.entry(channel).or_default().push(frame);
            }
        }
        streams
    }

    /// Reads one frame: why the connection is closed, if that is what it says.
    fn end(&mut self) -> Option<(u16, String)> {
        match self.socket.read().unwrap() {
            Message::Close(close) => close.map(|close| (close.code.into(), close.reason.to_string())),
            _ => None,
        }
    }

    /// Why it is closed in the end; what comes before is passed over.
    fn closed(&mut self) -> (u16, String) {
        loop {
            if let Some(end) = self.end() {
                return end;
            }
        }
    }

    /// Subscribes, and waits for the acknowledgement: what it says.
    fn subscribed(&mut self, subscription: &Value) -> Value {
        self.subscribe(subscription);
        value(&self.hear_on("subscriptionResponse"))["data"]["subscription"].clone()
    }
}

/// Frames by channel.
type Streams = BTreeMap<String, Vec<String>>;

/// Whether a deposit of so much was told.
fn is_told(streams: &Streams, usdc: &str) -> bool {
    streams.get("userNonFundingLedgerUpdates").is_some_and(|rows| rows.iter().any(|row| row.contains(usdc)))
}

/// Holds everything that a client hears on each channel to what is heard at the venue; the client's own address stands for the
/// account. A channel's frames come in their order, and what more comes after is for another time.
fn same_streams(through: &mut Subscriber, direct: &Streams, own: &str) {
    let channels: Vec<&str> = direct.keys().map(String::as_str).collect();
    let is_long = |got: &Streams| direct.iter().all(|(on, all)| got.get(on).is_some_and(|got| got.len() >= all.len()));
    let got = through.streams(&channels, is_long);
    for (channel, expected) in direct {
        let got = got[channel].iter().take(expected.len());
        let got: Vec<String> = got.map(|frame| frame.replace(own, ACCOUNT)).collect();
        assert_eq!(&got, expected, "{channel}");
    }
}

/// Holds what a client of this address is told of a state to what the venue tells: the same bytes, but for their clocks.
fn same_state(stand: &Stand, subscription: &Value, own: &str) {
    let is_pair = subscription["coin"].as_str().is_some_and(|coin| coin.contains(['/', '@']));
    // What is no perp has its context told on a channel of its own.
    let channel = if is_pair { "activeSpotAssetCtx" } else { subscription["type"].as_str().unwrap() };
    let (mut direct, mut through) = (Subscriber::at_venue(stand), Subscriber::at_guard(stand));
    let mut of_own = subscription.clone();
    if let Some(user) = of_own.get_mut("user") {
        *user = json!(own);
    }
    direct.subscribed(subscription);
    through.subscribed(&of_own);
    until(&format!("the venue's {channel}"), || {
        let (expected, got) = (direct.hear_on(channel), through.hear_on(channel));
        assert!(of_own.get("user").is_none() || got.contains(own) && !got.contains(ACCOUNT), "{got}");
        (without_clocks(&got.replace(own, ACCOUNT)) == without_clocks(&expected)).then_some(())
    });
}

/// A frame without the moment that it was made at.
fn without_clocks(frame: &str) -> String {
    let mut left = frame.to_owned();
    for clock in ["\"time\":", "\"serverTime\":"] {
        let parts: Vec<&str> = left.split(clock).collect();
        let (first, others) = parts.split_first().unwrap();
        let others = others.iter().map(|part| part.trim_start_matches(|digit: char| digit.is_ascii_digit()));
        left = [*first].into_iter().chain(others).collect::<Vec<_>>().join(clock);
    }
    left
}

/// The client's address as a bot may write it.
fn spelled(stand: &Stand) -> String {
    stand.client.address().to_string().to_uppercase().replace("0X", "0x")
}

fn deposit(stand: &Stand, usd: &str) {
    stand.venue.control(&json!({"op": "deposit", "usd": usd})).unwrap();
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

/// A line of the metrics.
fn metric(stand: &Stand, series: &str) -> u64 {
    let page = stand.get("/metrics").body;
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in {page}")).parse().unwrap()
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
