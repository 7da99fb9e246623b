//! A guard beside that venue: reads are answered or fail, frames are told or lost, and it dies at any moment.

use super::super::fixture::*;
use super::super::simulation::dice::Dice;
use super::venue::{BookVenue, frame};
use crate::guard::feed_news::FeedNews;
use crate::guard::{Command, Config, Effects, Guard, Input, Mode, Read};
use crate::rules::Rules;
use crate::venue::fill::Fill;
use crate::venue::history::{Page, fundings, ledger};
use crate::venue::info::{AccountMode, LEDGER_OVERLAP_MS};
use crate::venue::stream::topic::{AccountFeed, Topic};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::VecDeque;

pub(super) struct BookWorld {
    pub(super) dice: Dice,
    pub(super) venue: BookVenue,
    pub(super) guard: Guard,
    pub(super) journal: Vec<Value>,
    pub(super) checkpoints: Vec<(Value, usize)>,
    pub(super) risk: Vec<Value>,
    pub(super) reads: VecDeque<Read>,
    pub(super) has_feed: bool,
    /// Whether answers lack what has just happened.
    pub(super) lags: bool,
    /// By how much the balance is of other prices than what is held, by turns.
    pub(super) off: VecDeque<Decimal>,
    /// How many events before a checkpoint a start reads again: those of its own batch.
    pub(super) overlap: usize,
    /// From when on the ledger is read.
    ledger_ms: u64,
    /// As the venue says it.
    pub(super) mode: AccountMode,
    /// How far the guard's clock is ahead of the venue's.
    pub(super) ahead_ms: u64,
    /// The same behind it.
    pub(super) behind_ms: u64,
    /// So many answers about fills, and about funding, show nothing.
    pub(super) empty: [u32; 2],
}

fn settings(has_feed: bool) -> Config {
    Config { feed: has_feed, ..config(Mode::Testnet, Rules::default()) }
}

/// One of so many, where there is one.
fn take(left: &mut u32) -> bool {
    let is_one = *left > 0;
    *left -= u32::from(is_one);
    is_one
}

impl BookWorld {
    pub(super) fn new(seed: u64, has_feed: bool) -> Self {
        Self::with_clock(seed, has_feed, 0)
    }

    /// One whose first life begins with a clock that is so far ahead.
    pub(super) fn with_clock(seed: u64, has_feed: bool, ahead_ms: u64) -> Self {
        let guard = Guard::new(settings(has_feed), 0);
        let (dice, venue, journal) = (Dice::new(seed), BookVenue::new(), Vec::new());
        let mut world = Self {
            dice,
            venue,
            guard,
            journal,
            checkpoints: Vec::new(),
            risk: Vec::new(),
            reads: VecDeque::new(),
            has_feed,
            lags: false,
            off: VecDeque::new(),
            overlap: 0,
            ledger_ms: 0,
            mode: AccountMode::Standard,
            ahead_ms,
            behind_ms: 0,
            empty: [0, 0],
        };
        world.begin();
        world
    }

    /// The time by the guard's clock.
    pub(super) fn now_ms(&self) -> u64 {
        self.venue.now + self.ahead_ms - self.behind_ms
    }

    /// A life begins.
    fn begin(&mut self) {
        self.reads.clear();
        self.ledger_ms = self.guard.risk.ledger_since_ms(&self.guard.clock);
        let started = self.guard.start(self.now_ms());
        self.keep(started);
        self.take_checkpoint();
        self.step(Input::Universe(universe()));
        self.step(Input::AccountMode { mode: self.mode, begun_ms: self.now_ms() });
        if self.has_feed {
            let all = AccountFeed::ALL.map(Topic::Account).into_iter().chain([Topic::Mids]).collect();
            self.step(Input::Feed(FeedNews::Proved(all)));
        }
    }

    /// The guard dies; what the last step wanted written may not have been.
    pub(super) fn die(&mut self, unwritten: u64) {
        let unwritten = usize::try_from(unwritten).unwrap();
        self.journal.truncate(self.journal.len().saturating_sub(unwritten));
        let last_seq = self.journal.last().map_or(0, |event| event["seq"].as_u64().unwrap());
        self.guard = Guard::new(settings(self.has_feed), last_seq);
        self.risk.iter().for_each(|record| self.guard.restore_risk_json(record));
        self.checkpoints.retain(|(_, covered)| *covered <= self.journal.len());
        let last = self.checkpoints.last();
        last.iter().for_each(|(checkpoint, _)| {
            self.guard.restore_risk_json(checkpoint);
            self.guard.restore_checkpoint_json(checkpoint);
        });
        let covered = last.map_or(0, |(_, covered)| *covered);
        let first = covered.saturating_sub(self.overlap);
        self.journal.iter().skip(first).for_each(|event| self.guard.restore_json(event));
    }

    pub(super) fn rise(&mut self) {
        self.begin();
    }

    /// It dies, and the next life begins; without a checkpoint its journal alone tells it of this one.
    pub(super) fn live_on(&mut self, has_checkpoint: bool) {
        if has_checkpoint {
            self.take_checkpoint();
        } else {
            self.checkpoints.clear();
        }
        self.die(0);
        self.rise();
    }

    pub(super) fn take_checkpoint(&mut self) {
        let checkpoint = serde_json::from_str(&self.guard.checkpoint(self.now_ms())).unwrap();
        self.checkpoints.push((checkpoint, self.journal.len()));
    }

    fn keep(&mut self, effects: Effects) -> u64 {
        let new = events(&effects);
        let count = u64::try_from(new.len()).unwrap();
        self.journal.extend(new);
        self.risk.extend(effects.risk.iter().map(|record| serde_json::from_str::<Value>(&record.text).unwrap()));
        for deed in effects.immediate.into_iter().chain(effects.after_commit) {
            if let Command::Read(
                read @ (Read::BookFills { .. } | Read::Fundings { .. } | Read::Ledger { .. } | Read::LedgerSoon { .. }),
            ) = deed
            {
                self.reads.push_back(read);
            }
        }
        count
    }

    /// How many events came of it.
    pub(super) fn step(&mut self, input: Input) -> u64 {
        if let Input::AccountMode { mode, .. } = &input {
            self.mode = *mode;
        }
        let effects = self.guard.step(input, self.now_ms());
        self.keep(effects)
    }

    pub(super) fn tell(&mut self, channel: &str, key: &str, rows: Value) -> u64 {
        let data = frame(channel, json!({"user": ACCOUNT, key: rows}));
        self.step(Input::Feed(FeedNews::Told(data)))
    }

    pub(super) fn read_account(&mut self) -> u64 {
        let (state, equity) = self.venue.account();
        let state = serde_json::from_value(state).unwrap();
        let off = self.off.front().copied().unwrap_or_default();
        self.off.rotate_left(self.off.len().min(1));
        self.step(Input::Account { state, equity: equity + off, begun_ms: self.now_ms() })
    }

    fn read_ledger(&mut self, since_ms: u64) -> u64 {
        let updates = ledger(&BookVenue::since(&self.venue.ledger, since_ms)).unwrap().rows;
        let begun_ms = self.now_ms();
        let read_ms = begun_ms.saturating_sub(self.ahead_ms) + self.behind_ms;
        self.ledger_ms = self.ledger_ms.max(read_ms.saturating_sub(LEDGER_OVERLAP_MS));
        self.step(Input::Ledger { updates, begun_ms })
    }

    /// Answers the oldest question.
    pub(super) fn answer(&mut self) -> u64 {
        let Some(read) = self.reads.pop_front() else { return 0 };
        let begun_ms = self.now_ms();
        self.venue.lag_ms = if self.lags { self.dice.roll(6_000) } else { 0 };
        let input = match read {
            Read::BookFills { since_ms, .. } => {
                let shown = if take(&mut self.empty[0]) { json!([]) } else { self.venue.fills_by_time(since_ms) };
                let fills: Vec<Fill> = serde_json::from_value(shown).unwrap();
                Input::BookFills { page: Page::from(fills), since_ms, begun_ms }
            }
            Read::Fundings { since_ms } => {
                let shown = if take(&mut self.empty[1]) { json!([]) } else { self.venue.funding_rows(since_ms) };
                let page = fundings(&shown).unwrap();
                Input::Fundings { page, since_ms, begun_ms }
            }
            Read::Ledger { since_ms, .. } | Read::LedgerSoon { since_ms } => return self.read_ledger(since_ms),
            read => panic!("{read:?}"),
        };
        self.step(input)
    }

    /// Time passes, and everything that is asked is answered.
    pub(super) fn live(&mut self, seconds: u64) {
        for second in 0..seconds {
            self.venue.now += 1_000;
            self.step(Input::Tick);
            if second % 60 == 0 {
                self.step(Input::AccountMode { mode: self.mode, begun_ms: self.now_ms() });
                self.read_ledger(self.ledger_ms);
            }
            self.read_account();
            while !self.reads.is_empty() {
                self.answer();
                self.step(Input::Tick);
            }
        }
    }

    pub(super) fn of_kind(&self, kind: &str) -> Vec<&Value> {
        self.journal.iter().filter(|event| event["kind"] == kind).collect()
    }

    /// The book is the venue's own record, each row once.
    pub(super) fn hold_to_record(&self) {
        let of = |fill: &Value| {
            let side = if fill["side"] == "B" || fill["side"] == "buy" { "buy" } else { "sell" };
            let number = |key: &str| fill[key].as_str().unwrap_or_default().parse::<rust_decimal::Decimal>().unwrap();
            let either = |one: &str, other: &str| if fill.get(one).is_some() { number(one) } else { number(other) };
            let amounts = [number("px"), either("size", "sz"), number("fee"), either("closed_pnl", "closedPnl")];
            let before = either("position_before", "startPosition");
            let ids = [&fill["time"], &fill["tid"], &fill["oid"]].map(|id| id.as_u64().unwrap());
            (
                ids,
                fill["coin"].to_string(),
                side,
                amounts,
                before,
                fill["cloid"].to_string(),
                fill["crossed"].to_string(),
            )
        };
        let mut kept: Vec<_> = self.of_kind("fill").into_iter().map(of).collect();
        let mut truth: Vec<_> = self.venue.fills.iter().map(of).collect();
        kept.sort();
        truth.sort();
        assert!(kept == truth, "{} fills on record, {} at the venue", kept.len(), truth.len());
        let of = |row: &Value| (row["time"].as_u64(), row["coin"].to_string(), row["usdc"].to_string());
        let mut kept: Vec<_> = self.of_kind("funding").into_iter().map(of).collect();
        let mut truth: Vec<_> = self.venue.fundings.iter().map(of).collect();
        kept.sort();
        truth.sort();
        assert_eq!(kept, truth);
        let usd = |usdc: &Value| usdc.as_str().unwrap().parse::<Decimal>().unwrap();
        let of = |row: &Value| (row["time"].as_u64(), row["type"].to_string(), usd(&row["usdc"]));
        let kept: Vec<_> = self.of_kind("transfer").into_iter().map(of).collect();
        let of = |row: &Value| {
            let (kind, moved) = (&row["delta"]["type"], usd(&row["delta"]["usdc"]));
            (row["time"].as_u64(), kind.to_string(), if kind == "withdraw" { -moved } else { moved })
        };
        let truth: Vec<_> = self.venue.ledger.iter().map(of).collect();
        assert_eq!(kept, truth);
    }
}
