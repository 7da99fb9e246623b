//! A venue as the socket shows it, and the troubles that it can have. Times are the test's.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::base::address::Address;

pub(super) const ACCOUNT: Address = Address([0xa1; 20]);
/// The venue's clock when the steady one is at zero.
pub(super) const EPOCH: u64 = 1_791_480_000_000;
pub(super) const COINS: [&str; 4] = ["BTC", "ETH", "SOL", "kPEPE"];

const CADENCE_MS: u64 = 5_000;
const CTX_MS: u64 = 500;
/// Rows of a snapshot of fills.
const SNAPSHOT: usize = 30;

/// A seeded source of numbers (SplitMix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// What is wrong at the moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Trouble {
    /// No socket opens.
    pub(super) refuses: bool,
    /// Nothing gets through either way, and no end shows it.
    pub(super) half_open: bool,
    /// This feed's data stops.
    pub(super) dead_feed: Option<String>,
    /// Frames come so much later.
    pub(super) lag_ms: u64,
    /// Of a hundred frames so many are lost, doubled, held back, or cut.
    pub(super) lost: u64,
    pub(super) doubled: u64,
    pub(super) late: u64,
    pub(super) garbage: u64,
    /// The server shows states so old, with their times.
    pub(super) behind_ms: u64,
    /// Snapshots hold one fill.
    pub(super) short_snapshot: bool,
    /// The venue does not have this feed any more.
    pub(super) not_served: Option<String>,
    /// Another account is shown where one is named.
    pub(super) is_strange: bool,
}

/// A fill of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fill {
    pub(super) time: u64,
    pub(super) tid: u64,
    pub(super) start: i64,
    pub(super) size: i64,
}

/// The venue and its end of the one socket.
pub(super) struct Venue {
    pub(super) random: Random,
    pub(super) trouble: Trouble,
    pub(super) fills: Vec<Fill>,
    /// The position after each change, by the venue's time.
    pub(super) positions: BTreeMap<u64, i64>,
    pub(super) is_open: bool,
    subscribed: BTreeSet<String>,
    /// Frames on their way, by when they arrive and in which order.
    wire: BTreeMap<(u64, u64), String>,
    sent: u64,
    next_ms: BTreeMap<String, u64>,
}

impl Venue {
    pub(super) fn new(seed: u64, trouble: Trouble) -> Self {
        Self {
            random: Random(seed),
            trouble,
            fills: Vec::new(),
            positions: BTreeMap::from([(0, 0)]),
            is_open: false,
            subscribed: BTreeSet::new(),
            wire: BTreeMap::new(),
            sent: 0,
            next_ms: BTreeMap::new(),
        }
    }

    pub(super) fn position(&self, venue_ms: u64) -> i64 {
        *self.positions.range(..=venue_ms).next_back().unwrap().1
    }

    /// Tries to open the socket: whether it does.
    pub(super) fn connect(&mut self) -> bool {
        self.close();
        self.is_open = !self.trouble.refuses;
        self.is_open
    }

    pub(super) fn close(&mut self) {
        self.is_open = false;
        self.subscribed.clear();
        self.wire.clear();
        self.next_ms.clear();
    }

    /// Trades once.
    pub(super) fn trade(&mut self, now_ms: u64) {
        let time = EPOCH + now_ms;
        let size = i64::try_from(self.random.below(9)).unwrap() - 4;
        let start = self.position(time);
        if size == 0 {
            return;
        }
        let fill = Fill { time, tid: self.fills.len() as u64, start, size };
        self.fills.push(fill);
        self.positions.insert(time, start + size);
        let user = self.user();
        self.push(now_ms, "userFills", &json!({"user": user, "fills": [row(fill)]}));
        self.push(now_ms, "userEvents", &json!({"fills": [row(fill)]}));
    }

    /// Takes what the other end sent. An unknown coin ends the socket.
    pub(super) fn receive(&mut self, now_ms: u64, text: &str) {
        if !self.is_open || self.trouble.half_open {
            return;
        }
        let frame: Value = serde_json::from_str(text).unwrap();
        let subscription = frame["subscription"].clone();
        let key = subscription.to_string();
        match frame["method"].as_str().unwrap() {
            "ping" => self.send(now_ms, &json!({"channel": "pong"})),
            "unsubscribe" if self.subscribed.remove(&key) => {
                self.next_ms.remove(&key);
                self.ack(now_ms, "unsubscribe", &subscription);
            }
            "unsubscribe" => self.error(now_ms, &format!("Already unsubscribed: {key}")),
            _ if self.trouble.not_served.as_deref() == subscription["type"].as_str() => {
                self.error(now_ms, &format!("Error parsing JSON into valid websocket request: {text}"));
            }
            _ if subscription.get("coin").is_some_and(|coin| !COINS.contains(&coin.as_str().unwrap())) => self.close(),
            _ if !self.subscribed.insert(key.clone()) => self.error(now_ms, &format!("Already subscribed: {key}")),
            _ => {
                self.ack(now_ms, "subscribe", &subscription);
                self.first(now_ms, &subscription);
            }
        }
    }

    /// The frames that arrive by now.
    pub(super) fn arrived(&mut self, now_ms: u64) -> Vec<String> {
        if self.is_open {
            self.repeat(now_ms);
        }
        if self.trouble.half_open {
            self.wire.clear();
        }
        let later = self.wire.split_off(&(now_ms + 1, 0));
        std::mem::replace(&mut self.wire, later).into_values().collect()
    }

    fn user(&self) -> Address {
        if self.trouble.is_strange { Address([0xb2; 20]) } else { ACCOUNT }
    }

    /// What a subscription begins with.
    fn first(&mut self, now_ms: u64, subscription: &Value) {
        let user = self.user();
        let kind = subscription["type"].as_str().unwrap();
        match kind {
            "userFills" => {
                let most = if self.trouble.short_snapshot { 1 } else { SNAPSHOT };
                let rows: Vec<_> =
                    self.fills[self.fills.len().saturating_sub(most)..].iter().map(|fill| row(*fill)).collect();
                self.push(now_ms, kind, &json!({"isSnapshot": true, "user": user, "fills": rows}));
            }
            "userNonFundingLedgerUpdates" => {
                self.push(now_ms, kind, &json!({"isSnapshot": true, "user": user, "nonFundingLedgerUpdates": []}));
            }
            "userFundings" => self.push(now_ms, kind, &json!({"isSnapshot": true, "user": user, "fundings": []})),
            "orderUpdates" | "userEvents" => {}
            _ => drop(self.next_ms.insert(subscription.to_string(), now_ms)),
        }
    }

    /// Tells again what is told again and again.
    fn repeat(&mut self, now_ms: u64) {
        let due: Vec<_> =
            self.next_ms.iter().filter(|(_, at_ms)| **at_ms <= now_ms).map(|(key, _)| key.clone()).collect();
        for key in due {
            let subscription: Value = serde_json::from_str(&key).unwrap();
            let (kind, coin) = (subscription["type"].as_str().unwrap(), &subscription["coin"]);
            let every_ms = match kind {
                "activeAssetCtx" => CTX_MS,
                "bbo" => 100 + self.random.below(20_000),
                _ => CADENCE_MS,
            };
            self.next_ms.insert(key, now_ms + every_ms);
            let time = (EPOCH + now_ms).saturating_sub(self.trouble.behind_ms);
            let user = self.user();
            let data = match kind {
                "clearinghouseState" => json!({"dex": "", "user": user, "clearinghouseState": self.state(time)}),
                "openOrders" => json!({"dex": "", "user": user, "orders": []}),
                "spotState" => json!({"user": user, "spotState": {"balances": []}}),
                "webData3" => json!({"userState": {"user": user, "serverTime": time, "abstraction": "default"}}),
                "allMids" => json!({"mids": {"BTC": "80000.5"}}),
                "bbo" => json!({"coin": coin, "time": time, "bbo": [null, {"px": "1.5", "sz": "1", "n": 1}]}),
                _ => json!({"coin": coin, "ctx": {"markPx": "1.5", "oraclePx": "1.5", "midPx": null}}),
            };
            self.push(now_ms, kind, &data);
        }
    }

    pub(super) fn state(&self, time: u64) -> Value {
        let szi = self.position(time);
        let position = json!({"type": "oneWay", "position": {"coin": "BTC", "szi": szi.to_string(), "leverage": {"type": "cross",
            "value": 5}, "positionValue": "1.0", "unrealizedPnl": "0.0", "marginUsed": "0.0"}});
        let positions = if szi == 0 { json!([]) } else { json!([position]) };
        json!({"marginSummary": {"accountValue": "1.0"}, "crossMaintenanceMarginUsed": "0.0", "assetPositions": positions, "time": time})
    }

    fn ack(&mut self, now_ms: u64, method: &str, subscription: &Value) {
        self.send(
            now_ms,
            &json!({"channel": "subscriptionResponse", "data": {"method": method, "subscription": subscription}}),
        );
    }

    fn error(&mut self, now_ms: u64, text: &str) {
        self.send(now_ms, &json!({"channel": "error", "data": text}));
    }

    /// Data of a feed, if it is subscribed to and lives.
    fn push(&mut self, now_ms: u64, feed: &str, data: &Value) {
        let is_subscribed = self.subscribed.iter().any(|key| key.contains(&format!("\"{feed}\"")));
        if is_subscribed && self.trouble.dead_feed.as_deref() != Some(feed) {
            let channel = if feed == "userEvents" { "user" } else { feed };
            self.send(now_ms, &json!({"channel": channel, "data": data}));
        }
    }

    /// Puts a frame on the wire, through all that troubles it.
    fn send(&mut self, now_ms: u64, frame: &Value) {
        let Trouble { lag_ms, lost, doubled, late, garbage, .. } = self.trouble;
        if !self.is_open || self.random.chance(lost) {
            return;
        }
        let mut text = frame.to_string();
        if self.random.chance(garbage) {
            let end = usize::try_from(self.random.below(text.len() as u64)).unwrap();
            text.truncate(end);
        }
        let copies = if self.random.chance(doubled) { 2 } else { 1 };
        for _ in 0..copies {
            let held_ms = if self.random.chance(late) { self.random.below(3_000) } else { 0 };
            self.sent += 1;
            self.wire.insert((now_ms + lag_ms + held_ms + 20, self.sent), text.clone());
        }
    }
}

fn row(fill: Fill) -> Value {
    let Fill { time, tid, start, size } = fill;
    json!({"coin": "BTC", "px": "80000.0", "sz": size.abs().to_string(), "side": if size > 0 { "B" } else { "A" }, "time": time,
        "startPosition": start.to_string(), "closedPnl": "0.0", "oid": tid, "crossed": true, "fee": "0.0", "tid": tid,
        "feeToken": "USDC"})
}
