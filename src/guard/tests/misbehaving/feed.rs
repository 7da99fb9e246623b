//! The venue's live feed beside the reads: what it tells of the model venue's books, and what becomes of its frames: late, out
//! of turn, twice, lost, of a socket that ends, or made up. Everything is promised as without it, and no later.

use std::collections::{BTreeMap, VecDeque};

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::super::fixture::*;
use super::super::simulation::account::account;
use super::super::simulation::books::COINS;
use super::super::simulation::dice::Dice;
use super::checks::Tally;
use super::trouble::On;
use super::world::World;
use crate::guard::feed_news::{FeedCommand, FeedNews, Pace};
use crate::guard::{Input, Read};
use crate::venue::fill::Fill;
use crate::venue::history::Page;
use crate::venue::info::AccountMode;
use crate::venue::stream::data::Data;
use crate::venue::stream::frame::Frame;
use crate::venue::stream::topic::{AccountFeed, Topic};

/// A state is told again so often, and prices so often.
const STATES_MS: u64 = 5_000;
const PRICES_MS: u64 = 500;
/// With frames that are lost what happened may be told by the state after the next, or by an audit.
const LOSSY_SLACK_MS: u64 = 30_000;

/// What is wrong with it in this game.
#[derive(Debug, Clone, Copy)]
struct Manner {
    /// Frames come up to so late, and out of turn.
    late_ms: u64,
    /// One in so many is lost, comes twice, ends the socket, or is followed by one that is made up; 0 is never.
    lost: u64,
    doubled: u64,
    cut: u64,
    made_up: u64,
}

impl Manner {
    fn draw(dice: &mut Dice) -> Self {
        let mut one = |of: &[u64]| dice.pick(of);
        Self {
            late_ms: one(&[20, 100, 300, 1_000]),
            lost: one(&[0, 0, 3, 10, 50]),
            doubled: one(&[0, 5]),
            cut: one(&[0, 0, 100, 400]),
            made_up: one(&[0, 0, 60]),
        }
    }
}

/// The venue's end of the feed.
pub(super) struct Push {
    dice: Dice,
    manner: Manner,
    /// The socket's number, from when on it is there, and whether the core has read what it follows on.
    socket: u64,
    opens_ms: u64,
    is_open: bool,
    is_live: bool,
    waiting: Vec<FeedNews>,
    wire: Vec<(u64, FeedNews)>,
    fills: Vec<Fill>,
    held: BTreeMap<&'static str, Decimal>,
    orders: Vec<u64>,
    entries: usize,
    seen: usize,
    pub(super) pace: Pace,
    /// When a read of each kind began.
    pub(super) begun: BTreeMap<On, u64>,
    frames: usize,
    distrusted: usize,
    audited: usize,
}

impl Push {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed.wrapping_mul(11).wrapping_add(5));
        let manner = Manner::draw(&mut dice);
        let opens_ms = NOW + 500 + dice.roll(3_000);
        Self {
            dice,
            manner,
            socket: 0,
            opens_ms,
            is_open: false,
            is_live: false,
            waiting: Vec::new(),
            wire: Vec::new(),
            fills: Vec::new(),
            held: BTreeMap::new(),
            orders: Vec::new(),
            entries: 0,
            seen: 0,
            pace: Pace::default(),
            begun: BTreeMap::new(),
            frames: 0,
            distrusted: 0,
            audited: 0,
        }
    }

    pub(super) fn count(&self, tally: &mut Tally) {
        let Self { socket, frames, distrusted, audited, .. } = self;
        let sockets = usize::try_from(*socket).unwrap();
        for (what, count) in
            [("frames", *frames), ("sockets", sockets), ("distrusted", *distrusted), ("audited", *audited)]
        {
            tally.count_all(what, count);
        }
    }

    /// By how much later than without it everything may be known.
    pub(super) fn slack_ms(&self) -> u64 {
        let lossy_ms = if self.manner.lost > 0 || self.manner.made_up > 0 { LOSSY_SLACK_MS } else { 0 };
        self.manner.late_ms + STATES_MS + lossy_ms
    }

    /// How often something is read that is read so often without it.
    pub(super) fn paced(&self, on: On, every_ms: u64) -> u64 {
        let Pace { steady, beside } = self.pace;
        let audit_ms = match on {
            On::Prices | On::Account if steady => 30_000,
            On::Orders if steady => 120_000,
            On::Markets if beside => 120_000,
            On::Mode | On::Ledger if beside => 300_000,
            _ => 0,
        };
        every_ms.max(audit_ms)
    }

    /// Puts a frame on the wire, through all that is wrong with it.
    fn send(&mut self, now: u64, news: FeedNews) {
        if !self.is_open || self.dice.chance(self.manner.lost) {
            return;
        }
        for _ in 0..if self.dice.chance(self.manner.doubled) { 2 } else { 1 } {
            self.wire.push((now + self.dice.roll(self.manner.late_ms), news.clone()));
        }
    }

    fn tell(&mut self, now: u64, data: Data) {
        self.send(now, FeedNews::Told(Box::new(data)));
    }

    fn push(&mut self, now: u64, channel: &str, data: &Value) {
        let text = json!({"channel": channel, "data": data}).to_string();
        let Ok(Frame::Data(data)) = Frame::read(&text) else { panic!("no frame: {text}") };
        self.tell(now, data);
    }

    fn close(&mut self, now: u64) {
        (self.is_open, self.is_live) = (false, false);
        self.waiting.clear();
        self.wire.clear();
        self.opens_ms = now + 250 + self.dice.roll(3_000);
    }
}

fn all_topics() -> FeedNews {
    FeedNews::Proved(AccountFeed::ALL.map(Topic::Account).into_iter().chain([Topic::Mids]).collect())
}

fn fill(time: u64, tid: u64, coin: &str, px: Decimal, (start, after): (Decimal, Decimal)) -> Value {
    let size = after - start;
    let side = if size > Decimal::ZERO { "B" } else { "A" };
    json!({"coin": coin, "px": px, "sz": size.abs(), "side": side, "time": time, "startPosition": start, "dir": "",
        "closedPnl": "0.0", "hash": "0x", "oid": 0, "crossed": true, "fee": "0.0", "tid": tid, "feeToken": "USDC"})
}

impl World {
    /// What happened in this step is told, and what arrives now is taken in.
    pub(super) fn push_news(&mut self) {
        let Some(mut push) = self.push.take() else { return };
        let now = self.now;
        if !push.is_open && now >= push.opens_ms {
            (push.is_open, push.socket) = (true, push.socket + 1);
            self.checks.note(now, || format!("socket {} opens", push.socket));
            let socket = push.socket;
            self.push = Some(push);
            self.give(Input::Feed(FeedNews::Opened { socket }));
            let Some(taken) = self.push.take() else { return };
            push = taken;
        }
        self.tell_fills(&mut push);
        self.tell_orders(&mut push);
        self.tell_flows(&mut push);
        self.tell_states(&mut push);
        if push.is_open && push.dice.chance(push.manner.made_up) {
            self.make_up(&mut push);
        }
        let is_cut = push.is_open && push.dice.chance(push.manner.cut);
        if is_cut {
            self.checks.note(now, || "the socket is cut".into());
            push.close(now);
        }
        let (arrived, wire): (Vec<_>, Vec<_>) =
            std::mem::take(&mut push.wire).into_iter().partition(|(at, _)| *at <= now);
        push.wire = wire;
        let mut arrived: VecDeque<(u64, FeedNews)> = arrived.into();
        arrived.make_contiguous().sort_by_key(|(at, _)| *at);
        push.frames += arrived.len();
        let is_price = |news: &FeedNews| matches!(news, FeedNews::Prices { .. });
        let mut given = Vec::new();
        for (_, news) in arrived {
            if push.is_live || is_price(&news) { given.push(news) } else { push.waiting.push(news) }
        }
        self.push = Some(push);
        if is_cut {
            self.give(Input::Feed(FeedNews::Proved([].into())));
        }
        for news in given {
            self.checks.note(now, || format!("told: {news:?}"));
            self.give(Input::Feed(news));
        }
    }

    fn tell_fills(&self, push: &mut Push) {
        let now = self.now;
        for (coin, after) in &self.venue.held[push.seen..] {
            let before = push.held.insert(coin, *after).unwrap_or_default();
            let told = fill(now, push.fills.len() as u64, coin, self.venue.books.book(coin), (before, *after));
            push.fills.push(serde_json::from_value(told.clone()).unwrap());
            push.push(now, "userFills", &json!({"user": ACCOUNT, "fills": [told.clone()]}));
            push.push(now, "user", &json!({"fills": [told]}));
        }
        push.seen = self.venue.held.len();
    }

    fn tell_orders(&self, push: &mut Push) {
        let open: Vec<u64> = self.venue.books.orders.keys().copied().collect();
        let gone: Vec<u64> = push.orders.iter().copied().filter(|oid| !open.contains(oid)).collect();
        let come: Vec<u64> = open.iter().copied().filter(|oid| !push.orders.contains(oid)).collect();
        for (oid, status) in gone.iter().map(|oid| (oid, "canceled")).chain(come.iter().map(|oid| (oid, "open"))) {
            let order = self.venue.books.orders.get(oid);
            let size = order.map_or(Decimal::ZERO, |order| order.sz);
            let order = json!({"coin": order.map_or("ETH", |order| &order.coin), "side": "B", "limitPx": "1", "sz": size,
                "origSz": size, "oid": oid, "timestamp": self.now});
            push.push(
                self.now,
                "orderUpdates",
                &json!([{"order": order, "status": status, "statusTimestamp": self.now}]),
            );
        }
        push.orders = open;
    }

    fn tell_flows(&self, push: &mut Push) {
        let shown: Vec<Value> =
            self.venue.ledger.iter().filter(|(shows_ms, ..)| *shows_ms <= self.now).map(|row| row.2.clone()).collect();
        if shown.len() > push.entries {
            let data = json!({"user": ACCOUNT, "nonFundingLedgerUpdates": &shown[push.entries..]});
            push.push(self.now, "userNonFundingLedgerUpdates", &data);
            push.entries = shown.len();
        }
    }

    fn tell_states(&self, push: &mut Push) {
        let (now, books) = (self.now, &self.venue.books);
        if now.is_multiple_of(PRICES_MS) {
            let marks = COINS.map(|coin| (coin.to_owned(), books.mid(coin))).into();
            let mids = COINS.map(|coin| (coin.to_owned(), books.book(coin))).into();
            push.send(now, FeedNews::Prices { marks, mids, begun_ms: now });
        }
        if now.is_multiple_of(STATES_MS) {
            if let Input::Account { state, .. } = account(books, now) {
                push.tell(now, Data::Account(ACCOUNT, Box::new(state)));
            }
            push.tell(now, Data::Mids(books.traded()));
        }
        if (now + 2_000).is_multiple_of(STATES_MS) {
            push.tell(now, Data::OpenOrders(ACCOUNT, books.orders.values().cloned().collect()));
            let mode = if self.mode == AccountMode::Standard { "default" } else { "unifiedAccount" };
            push.push(
                now,
                "webData3",
                &json!({"userState": {"user": ACCOUNT, "serverTime": now, "abstraction": mode}}),
            );
        }
    }

    /// Tells what never was.
    fn make_up(&self, push: &mut Push) {
        let (now, books) = (self.now, &self.venue.books);
        let coin = push.dice.pick(&COINS);
        let (held, mid) = (books.held(coin), books.mid(coin));
        self.push_trace(push, coin);
        match push.dice.roll(4) {
            0 => {
                let px = mid * push.dice.pick(&[dec!(0.5), dec!(0.85), dec!(1.15), dec!(2)]);
                let prices: BTreeMap<String, Decimal> = [(coin.to_owned(), px)].into();
                push.send(now, FeedNews::Prices { marks: prices.clone(), mids: prices, begun_ms: now });
            }
            1 => {
                let more = push.dice.pick(&[dec!(3), dec!(-3), dec!(0.1)]);
                let told = fill(now, 1_000_000 + now, coin, mid, (held, held + more));
                push.push(now, "userFills", &json!({"user": ACCOUNT, "fills": [told]}));
            }
            2 => {
                let mut other = books.clone();
                other.positions.remove(coin);
                if let Input::Account { state, .. } = account(&other, now) {
                    push.tell(now, Data::Account(ACCOUNT, Box::new(state)));
                }
            }
            _ => push.tell(now, Data::OpenOrders(ACCOUNT, Vec::new())),
        }
    }

    fn push_trace(&self, push: &Push, coin: &str) {
        if self.checks.is_traced {
            println!("+{}: made up in {coin}, {:?}", self.now - NOW, push.manner);
        }
    }

    /// Does what the core has for the feed.
    pub(super) fn told_feed(&mut self, command: FeedCommand) {
        let now = self.now;
        let Some(push) = &mut self.push else { return };
        match command {
            FeedCommand::BaselineRead(socket) if socket == push.socket && push.is_open => {
                push.is_live = true;
                let waiting = std::mem::take(&mut push.waiting);
                self.mail.extend(waiting.into_iter().map(|news| (now, Input::Feed(news))));
                self.mail.push((now, Input::Feed(all_topics())));
            }
            FeedCommand::Distrust(reason) => {
                self.checks.note(now, || format!("distrusted: {reason}"));
                push.distrusted += 1;
                push.close(now);
                self.mail.push((now, Input::Feed(FeedNews::Proved([].into()))));
            }
            FeedCommand::Pace(pace) => {
                push.pace = pace;
                push.audited += usize::from(pace.steady);
                for (on, (due_ms, _)) in &mut self.due {
                    let begun_ms = push.begun.get(on).copied().unwrap_or(now);
                    let every_ms = push.paced(*on, super::reads::every_ms(*on));
                    *due_ms = (*due_ms).min(begun_ms.saturating_add(every_ms).max(now));
                }
            }
            FeedCommand::BaselineRead(_) | FeedCommand::Universe(_) | FeedCommand::Wanted(_) => {}
        }
    }

    /// The fills are read.
    pub(super) fn read_fills(&mut self, read: &Read) {
        let (Read::Fills { since_ms }, Some(push)) = (read, &mut self.push) else { return };
        let fills: Vec<Fill> = push.fills.iter().filter(|fill| fill.time >= *since_ms).cloned().collect();
        let late = push.dice.roll(400);
        self.mail.push((self.now + late, Input::Fills { page: Page::from(fills), begun_ms: self.now }));
    }
}
