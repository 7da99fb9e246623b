//! The day's loss and the drawdown, reckoned apart from the guard: from what a share of the account is worth, with no
//! ledger.

use std::collections::VecDeque;

use rust_decimal::{Decimal, dec};

use super::books::Books;
use crate::guard::Guard;

const DAY_MS: u64 = 86_400_000;
/// How near to a limit counts as at it, either way: what prices do between a flow and the reads beside it is not known.
const NEAR: Decimal = dec!(0.9);
const BEYOND: Decimal = dec!(1.1);
/// A loss is believed this long after it was there at the latest, while the venue answers.
const BELIEVED_MS: u64 = 15_000;
/// A halt that fires has a loss at most this old: it is looked at for ten seconds.
const FRESH_MS: u64 = 20_000;

/// For so long the guard may not be sure yet of what it saw.
const UNSURE_MS: u64 = 12_000;

/// One limit: a share of an equity, and the loss measured against it.
#[derive(Debug, Default)]
struct Limit {
    /// What a share was worth where the measure begins: at most and at least, as far as the guard may have seen it.
    most: Decimal,
    least: Decimal,
    near_ms: u64,
    beyond_since: Option<u64>,
}

impl Limit {
    fn begin(&mut self, px: Decimal) {
        (self.most, self.least) = (px, px);
    }

    /// What a share was worth may have been seen wrong by this part.
    fn blur(&mut self, part: Decimal) {
        self.most *= dec!(1) + part;
        self.least *= dec!(1) - part;
    }

    /// The share of the limit that is lost, measured from there.
    fn lost(from: Decimal, books: &Books, percent: Decimal) -> Decimal {
        (dec!(1) - books.share_px() / from) * dec!(100) / percent
    }

    fn look(&mut self, now: u64, books: &Books, percent: Decimal) {
        if Self::lost(self.most, books, percent) >= NEAR {
            self.near_ms = now;
        }
        let is_beyond = Self::lost(self.least, books, percent) >= BEYOND;
        self.beyond_since = is_beyond.then(|| self.beyond_since.unwrap_or(now));
    }
}

#[derive(Debug, Default)]
pub(super) struct Limits {
    day: u64,
    of_day: Limit,
    drawdown: Limit,
    /// The last reads that the guard took in, newest first: their time, and what a share was worth.
    reads: VecDeque<(u64, Decimal)>,
    /// The parts of the account that flowed since the last read: what prices did meanwhile is not known to the guard.
    flowed: Decimal,
    /// When the day's first read was.
    day_began_ms: u64,
    excused_until: u64,
    /// What had flowed when last looked at, and when that changed: what hides a loss shows in the ledger a little later.
    flows: (Decimal, u64),
    state: &'static str,
}

impl Limits {
    pub(super) fn begin(&mut self, books: &Books) {
        self.day = books.at_ms / DAY_MS;
        self.of_day.begin(books.share_px());
        self.drawdown.begin(books.share_px());
        self.state = "active";
    }

    pub(super) fn excuse(&mut self, until: u64) {
        self.excused_until = self.excused_until.max(until);
    }

    /// The guard took in a read of the account that shows this.
    pub(super) fn read(&mut self, books: &Books) {
        let (at_ms, px) = (books.at_ms, books.share_px());
        let before = self.reads.front().map_or(px, |(_, before)| *before);
        let part = std::mem::take(&mut self.flowed) * (px / before - dec!(1)).abs();
        self.of_day.blur(part);
        self.drawdown.blur(part);
        self.reads.push_front((at_ms, px));
        while self
            .reads
            .get(self.reads.len().wrapping_sub(2))
            .is_some_and(|(older_ms, _)| older_ms + UNSURE_MS <= at_ms)
        {
            self.reads.pop_back();
        }
        if at_ms / DAY_MS > self.day {
            (self.day, self.day_began_ms) = (at_ms / DAY_MS, at_ms);
            self.of_day.begin(px);
        } else if at_ms < self.day_began_ms + UNSURE_MS {
            self.of_day.most = self.of_day.most.max(px);
            self.of_day.least = self.of_day.least.min(px);
        }
        self.drawdown.most = self.drawdown.most.max(px);
        if self.reads.back().is_some_and(|(oldest_ms, _)| oldest_ms + UNSURE_MS <= at_ms) {
            let lasting = self.reads.iter().map(|(_, px)| *px).min().unwrap_or_default();
            self.drawdown.least = self.drawdown.least.max(lasting);
        }
    }

    /// A person cleared a halt at this equity.
    pub(super) fn resumed(&mut self, books: &Books) {
        self.drawdown.begin(books.share_px());
        self.reads.clear();
        self.state = "active";
    }

    pub(super) fn look(&mut self, now: u64, guard: &Guard, books: &Books) -> Result<(), String> {
        let rules = &guard.config.rules;
        if self.flows.0 != books.flows {
            let moved = (books.flows - self.flows.0).abs();
            self.flowed += moved / books.equity().min(books.equity() - books.flows + self.flows.0).max(dec!(1));
            self.flows = (books.flows, now);
        }
        self.of_day.look(now, books, rules.daily_loss);
        self.drawdown.look(now, books, rules.drawdown);
        let state = guard.risk.state.name();
        let before = std::mem::replace(&mut self.state, state);
        let is_fresh = |limit: &Limit| now <= limit.near_ms + FRESH_MS;
        let is_due = |limit: &Limit| {
            limit.beyond_since.is_some_and(|since| now > since.max(self.excused_until).max(self.flows.1) + BELIEVED_MS)
        };
        let told = |what: &str| {
            let figures = guard.risk.figures(books.equity(), &guard.config);
            Err(format!("{what}: {figures:?} in the guard, {self:?}, equity {}, flows {}", books.equity(), books.flows))
        };
        match (before, state) {
            ("active", "halted_for_day") if !is_fresh(&self.of_day) => told("a halt without a loss of the day"),
            ("active" | "halted_for_day", "stopped") if !is_fresh(&self.drawdown) => told("a halt without a drawdown"),
            (_, "active") if is_due(&self.of_day) => told("a loss of the day that fires nothing"),
            (_, "active" | "halted_for_day") if is_due(&self.drawdown) => told("a drawdown that fires nothing"),
            _ => Ok(()),
        }
    }
}
