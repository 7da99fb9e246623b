//! One socket as the venue keeps it: what it has subscribed to, and what was last said to it.

use super::line::{Item, Leaves, Line};
use super::subscription::Subscription;
use super::troubles::{About, Troubles};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A frame on its way to one socket.
pub(crate) struct Frame<'a> {
    /// The subscription's type, or the channel of what is no data.
    pub(crate) feed: &'static str,
    pub(crate) coin: &'a str,
    pub(crate) is_data: bool,
    pub(crate) text: String,
}

/// A subscription that a socket holds.
pub(crate) struct Held {
    pub(crate) of: Subscription,
    /// When it last spoke.
    pub(crate) last_ms: u64,
    /// What it last said, where that matters for what it says next.
    pub(crate) said: Option<Value>,
    /// The prices it has told of, for the feed that tells of changes.
    pub(crate) prices: Map<String, Value>,
    /// It says nothing any more.
    pub(crate) dead: bool,
}

/// A socket.
pub(crate) struct Connection {
    pub(crate) line: Arc<Line>,
    pub(crate) opened_ms: u64,
    /// When it was last sent data or a pong: what keeps it open.
    pub(crate) told_ms: u64,
    pub(crate) held: Vec<Held>,
    /// Feeds that stay dead on this socket.
    pub(crate) dead: Vec<About>,
    /// Frames sent.
    sent: u64,
    /// Its queue was full.
    pub(crate) overrun: bool,
}

impl Connection {
    pub(crate) fn new(line: Arc<Line>, now_ms: u64) -> Self {
        Self { line, opened_ms: now_ms, told_ms: now_ms, held: Vec::new(), dead: Vec::new(), sent: 0, overrun: false }
    }

    /// Queues a frame, or what the troubles make of it.
    pub(crate) fn send(&mut self, frame: Frame<'_>, troubles: &mut Troubles, now_ms: u64) {
        let Frame { feed, coin, is_data, text } = frame;
        let fate = troubles.fate(feed, coin, is_data);
        if fate.lost {
            return;
        }
        let lag = Duration::from_millis(fate.lag_ms);
        let leaves = match fate.reorder_ms {
            Some(ms) => Leaves::Overtaken(lag.saturating_add(Duration::from_millis(ms)), feed),
            None if fate.all_lag => Leaves::After(lag),
            None if fate.lag_ms > 0 => Leaves::Late(lag),
            None => Leaves::Now,
        };
        if is_data || feed == "pong" {
            self.told_ms = now_ms;
        }
        let copies = if fate.twice { 2 } else { 1 };
        for _ in 0..copies {
            self.sent = self.sent.saturating_add(1);
            self.overrun |= !self.line.push(feed, Item::Text(text.clone()), leaves);
        }
    }

    /// Whether it carries what a trouble is about.
    pub(crate) fn carries(&self, about: &About) -> bool {
        about.is_any() || self.held.iter().any(|held| about.matches(held.of.kind.name, held.of.text("coin")))
    }

    pub(crate) fn show(&self, id: u64) -> Value {
        let held = |held: &Held| json!({"subscription": held.of.normal, "dead": held.dead});
        json!({"id": id, "opened_ms": self.opened_ms, "sent": self.sent, "queued": self.line.queued(),
            "half_open": self.line.is_silent(), "subscriptions": self.held.iter().map(held).collect::<Vec<_>>()})
    }
}
