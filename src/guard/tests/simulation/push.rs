//! The model venue's live feed beside the reads: its sockets, and what becomes of their frames: late, out of turn, twice, lost, of
//! a socket that ends, or made up.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::fixture::NOW;
use super::books::Books;
use super::dice::Dice;
use super::venue::Trade;
use crate::guard::feed_news::{FeedCommand, FeedNews, Pace};
use crate::venue::fill::Fill;
use crate::venue::info::AccountMode;
use crate::venue::stream::topic::{AccountFeed, Topic};

/// A state is told again so often.
pub(in crate::guard::tests) const STATES_MS: u64 = 5_000;
/// With frames that are lost what happened may be told by the state after the next, or by an audit.
const LOSSY_SLACK_MS: u64 = 30_000;

/// What is wrong with it in a game.
#[derive(Debug, Clone, Copy)]
pub(in crate::guard::tests) struct Manner {
    /// Frames come up to so late, and out of turn.
    pub(in crate::guard::tests) late_ms: u64,
    /// One in so many is lost, comes twice, ends the socket, or is followed by one that is made up; 0 is never.
    pub(in crate::guard::tests) lost: u64,
    pub(in crate::guard::tests) doubled: u64,
    pub(in crate::guard::tests) cut: u64,
    pub(in crate::guard::tests) made_up: u64,
}

impl Manner {
    /// By how much later than without it everything may be known.
    pub(in crate::guard::tests) fn slack_ms(&self) -> u64 {
        self.late_ms + if self.lost > 0 || self.made_up > 0 { LOSSY_SLACK_MS } else { 0 }
    }
}

/// What is read beside it, by how often that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::guard::tests) enum Beside {
    Values,
    Orders,
    Markets,
    Rest,
}

/// What there is to tell.
pub(in crate::guard::tests) struct Sight<'a> {
    pub(in crate::guard::tests) now: u64,
    pub(in crate::guard::tests) books: &'a Books,
    pub(in crate::guard::tests) trades: &'a [Trade],
    pub(in crate::guard::tests) ledger: &'a [(u64, u64, Value)],
    pub(in crate::guard::tests) mode: AccountMode,
}

/// What was told of it already.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) trades: usize,
    pub(super) fills: Vec<Fill>,
    pub(super) orders: BTreeSet<u64>,
    pub(super) entries: usize,
}

/// The venue's end of the feed.
pub(in crate::guard::tests) struct Push {
    pub(super) dice: Dice,
    pub(in crate::guard::tests) manner: Manner,
    /// The socket's number, from when on it is there, and whether the core has read what it follows on.
    pub(in crate::guard::tests) socket: u64,
    opens_ms: u64,
    is_open: bool,
    is_live: bool,
    waiting: Vec<FeedNews>,
    wire: Vec<(u64, FeedNews)>,
    pub(super) seen: Seen,
    pub(in crate::guard::tests) pace: Pace,
    /// How much of each there was.
    pub(in crate::guard::tests) frames: usize,
    pub(in crate::guard::tests) distrusted: usize,
    pub(in crate::guard::tests) audited: usize,
}

impl Push {
    /// One whose first socket opens within so long, half a second after the start.
    pub(in crate::guard::tests) fn new(mut dice: Dice, manner: Manner, within_ms: u64) -> Self {
        let opens_ms = NOW + 500 + dice.roll(within_ms);
        Self {
            dice,
            manner,
            socket: 0,
            opens_ms,
            is_open: false,
            is_live: false,
            waiting: Vec::new(),
            wire: Vec::new(),
            seen: Seen::default(),
            pace: Pace::default(),
            frames: 0,
            distrusted: 0,
            audited: 0,
        }
    }

    /// How often something is read that is read so often without it.
    pub(in crate::guard::tests) fn paced(&self, what: Beside, every_ms: u64) -> u64 {
        let Pace { steady, beside, .. } = self.pace;
        let audit_ms = match what {
            Beside::Values if steady => 30_000,
            Beside::Orders if steady => 120_000,
            Beside::Markets if beside => 120_000,
            Beside::Rest if beside => 300_000,
            _ => 0,
        };
        every_ms.max(audit_ms)
    }

    /// A socket opens, where that is due.
    pub(in crate::guard::tests) fn opens(&mut self, now: u64) -> Option<FeedNews> {
        let is_due = !self.is_open && now >= self.opens_ms;
        is_due.then(|| {
            (self.is_open, self.socket) = (true, self.socket + 1);
            FeedNews::Opened { socket: self.socket }
        })
    }

    /// What happened is told; what of all that was told arrives now.
    pub(in crate::guard::tests) fn turn(&mut self, sight: &Sight<'_>) -> Vec<FeedNews> {
        self.tell(sight);
        if self.is_open && self.dice.chance(self.manner.made_up) {
            self.make_up(sight);
        }
        if self.is_open && self.dice.chance(self.manner.cut) {
            return self.close(sight.now);
        }
        let wire = std::mem::take(&mut self.wire);
        let (mut arrived, wire): (Vec<_>, Vec<_>) = wire.into_iter().partition(|(at, _)| *at <= sight.now);
        self.wire = wire;
        arrived.sort_by_key(|(at, _)| *at);
        self.frames += arrived.len();
        let is_price = |news: &FeedNews| matches!(news, FeedNews::Prices { .. });
        let is_live = self.is_live;
        let (given, waiting): (Vec<_>, Vec<_>) =
            arrived.into_iter().map(|(_, news)| news).partition(|news| is_live || is_price(news));
        self.waiting.extend(waiting);
        given
    }

    /// Puts a frame on the wire, through all that is wrong with it.
    pub(super) fn send(&mut self, now: u64, news: &FeedNews) {
        if !self.is_open || self.dice.chance(self.manner.lost) {
            return;
        }
        for _ in 0..if self.dice.chance(self.manner.doubled) { 2 } else { 1 } {
            self.wire.push((now + self.dice.roll(self.manner.late_ms), news.clone()));
        }
    }

    /// The socket ends, and everything on it.
    pub(in crate::guard::tests) fn close(&mut self, now: u64) -> Vec<FeedNews> {
        (self.is_open, self.is_live) = (false, false);
        self.waiting.clear();
        self.wire.clear();
        self.opens_ms = now + 250 + self.dice.roll(3_000);
        vec![FeedNews::Proved([].into())]
    }

    /// The core has died, and its next life has a socket of its own.
    pub(in crate::guard::tests) fn dies(&mut self, now: u64) {
        self.close(now);
        self.pace = Pace::default();
    }

    /// Does what the core has for it; what comes of that.
    pub(in crate::guard::tests) fn obey(&mut self, now: u64, command: &FeedCommand) -> Vec<FeedNews> {
        match command {
            FeedCommand::BaselineRead(socket) if *socket == self.socket && self.is_open => {
                self.is_live = true;
                let mut news = std::mem::take(&mut self.waiting);
                news.push(all_topics());
                news
            }
            FeedCommand::Distrust(_) => {
                self.distrusted += 1;
                self.close(now)
            }
            FeedCommand::Pace(pace) => {
                self.pace = *pace;
                self.audited += usize::from(pace.steady);
                Vec::new()
            }
            FeedCommand::BaselineRead(_) | FeedCommand::Universe(_) | FeedCommand::Wanted(_) => Vec::new(),
        }
    }

    /// The fills since then, as a read of them shows them, and how late that is.
    pub(in crate::guard::tests) fn fills_since(&mut self, since_ms: u64) -> (Vec<Fill>, u64) {
        let fills = self.seen.fills.iter().filter(|fill| fill.time >= since_ms).cloned().collect();
        (fills, self.dice.roll(400))
    }
}

fn all_topics() -> FeedNews {
    FeedNews::Proved(AccountFeed::ALL.map(Topic::Account).into_iter().chain([Topic::Mids]).collect())
}
