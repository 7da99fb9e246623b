//! The live feed as a client meets it, over real sockets.

mod account;
mod closes;
mod limits;
mod markets;
mod posts;
mod recorded;
mod sockets;
mod troubles;

use crate::sim::{Sim, SimConfig, SimHandle};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::time::Duration;
use svc_guard::base::key::SecretKey;
use tungstenite::protocol::CloseFrame;
use tungstenite::{Error, Message, WebSocket};

const KEY: &str = "0x0123456789012345678901234567890123456789012345678901234567890123";
/// The account of the recorded frames.
const ACCOUNT: &str = "0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";
/// A read that hangs fails its test; a slow machine does not.
const PATIENCE: Duration = Duration::from_secs(60);

/// A venue whose state feeds say everything again ten times a second.
fn venue() -> SimHandle {
    let key = SecretKey::parse(KEY).unwrap();
    let sim = Sim::start(SimConfig::new(ACCOUNT.parse().unwrap(), key.address())).unwrap();
    sim.setting("feed_state_ms", 100).unwrap();
    sim
}

/// A venue that says nothing again by itself within a test.
fn quiet_venue() -> SimHandle {
    let sim = venue();
    for name in ["feed_state_ms", "feed_mids_ms", "feed_book_ms", "feed_fast_book_ms", "feed_ctx_ms", "feed_ctxs_ms"] {
        sim.setting(name, 1_000_000_000).unwrap();
    }
    sim
}

/// Does control operations that must succeed.
fn control(sim: &SimHandle, ops: &Value) -> Vec<Value> {
    sim.control(ops).unwrap()
}

/// Makes a trouble begin.
fn trouble(sim: &SimHandle, members: &Value) -> Value {
    let mut op = members.clone();
    op["op"] = json!("feed");
    control(sim, &op).remove(0)
}

/// Trades by hand until the account holds `szi` of BTC.
fn hold(sim: &SimHandle, szi: &str) {
    control(sim, &json!({"op": "position", "coin": "BTC", "szi": szi, "entry_px": "60000"}));
}

/// How a socket ended.
#[derive(PartialEq, Debug)]
enum End {
    /// With a close frame: its code and reason.
    Closed(u16, String),
    Cut,
}

struct Socket(WebSocket<TcpStream>);

impl Socket {
    fn try_open(sim: &SimHandle) -> Option<Self> {
        let stream = TcpStream::connect(sim.addr()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        tungstenite::client(format!("ws://{}/ws", sim.addr()), stream).ok().map(|(socket, _)| Self(socket))
    }

    fn open(sim: &SimHandle) -> Self {
        Self::try_open(sim).expect("a socket")
    }

    fn say(&mut self, text: &str) {
        self.0.send(Message::text(text)).unwrap();
    }

    /// The next frame as it came.
    fn hear_text(&mut self) -> String {
        loop {
            if let Message::Text(text) = self.0.read().unwrap() {
                return text.to_string();
            }
        }
    }

    fn hear(&mut self) -> Value {
        serde_json::from_str(&self.hear_text()).unwrap()
    }

    /// The data of the next frame, which must be of this channel.
    fn hear_on(&mut self, channel: &str) -> Value {
        let mut frame = self.hear();
        assert_eq!(frame["channel"], channel, "{frame}");
        frame["data"].take()
    }

    /// Subscribes and takes the acknowledgement.
    fn subscribe(&mut self, subscription: &Value) {
        self.say(&json!({"method": "subscribe", "subscription": subscription}).to_string());
        self.hear_on("subscriptionResponse");
    }

    /// Subscribes to a feed of the account.
    fn follow(&mut self, name: &str) {
        self.subscribe(&json!({"type": name, "user": ACCOUNT}));
    }

    fn ping(&mut self) {
        self.say("{\"method\":\"ping\"}");
    }

    /// Nothing has come since what was last heard.
    fn hears_nothing(&mut self) {
        self.ping();
        let next = self.hear();
        assert_eq!(next, json!({"channel": "pong"}));
    }

    /// Hears the socket out.
    fn end(mut self) -> End {
        loop {
            match self.0.read() {
                Ok(Message::Close(Some(CloseFrame { code, reason }))) => {
                    return End::Closed(code.into(), reason.to_string());
                }
                Ok(_) => {}
                Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("it lives on"),
                Err(_) => return End::Cut,
            }
        }
    }
}

/// Waits for the truth to be so.
fn until(sim: &SimHandle, what: &str, so: impl Fn(&Value) -> bool) {
    let begun = std::time::Instant::now();
    while !so(&sim.truth()["feed"]) {
        assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}: {}", sim.truth()["feed"]);
        std::thread::sleep(Duration::from_millis(1));
    }
}
