//! The day's loss and the drawdown, reckoned apart from the guard: from what was won and lost, with no ledger.

use rust_decimal::{Decimal, dec};

use super::books::Books;
use crate::guard::Guard;

const DAY_MS: u64 = 86_400_000;
/// How near to a limit counts as at it, either way.
const NEAR: Decimal = dec!(0.97);
const BEYOND: Decimal = dec!(1.03);
/// A loss is believed this long after it was there at the latest, while the venue answers.
const BELIEVED_MS: u64 = 15_000;
/// A halt that fires has a loss at most this old: it is looked at for ten seconds.
const FRESH_MS: u64 = 20_000;

/// One limit: a share of an equity, and the loss measured against it.
#[derive(Debug, Default)]
struct Limit {
    /// What had been won where the measure begins.
    from: Decimal,
    near_ms: u64,
    beyond_since: Option<u64>,
}

impl Limit {
    /// The share of the limit that is lost.
    fn share(&self, books: &Books, percent: Decimal) -> Decimal {
        let limit = (self.from + books.flows) * percent / dec!(100);
        let lost = self.from - books.pnl();
        if limit > Decimal::ZERO { lost / limit } else { Decimal::ZERO }
    }

    fn look(&mut self, now: u64, share: Decimal) {
        if share >= NEAR {
            self.near_ms = now;
        }
        self.beyond_since = (share >= BEYOND).then(|| self.beyond_since.unwrap_or(now));
    }
}

#[derive(Debug, Default)]
pub(super) struct Limits {
    day: u64,
    of_day: Limit,
    drawdown: Limit,
    excused_until: u64,
    /// What had flowed when last looked at, and when that changed: what hides a loss shows in the ledger a little later.
    flows: (Decimal, u64),
    state: &'static str,
}

impl Limits {
    pub(super) fn begin(&mut self, books: &Books) {
        (self.day, self.of_day.from, self.drawdown.from) = (books.at_ms / DAY_MS, books.pnl(), books.pnl());
        self.state = "active";
    }

    pub(super) fn excuse(&mut self, until: u64) {
        self.excused_until = self.excused_until.max(until);
    }

    /// The guard took in a read of the account that shows this.
    pub(super) fn read(&mut self, books: &Books, begun_ms: u64) {
        if begun_ms / DAY_MS > self.day {
            (self.day, self.of_day.from) = (begun_ms / DAY_MS, books.pnl());
        }
        self.drawdown.from = self.drawdown.from.max(books.pnl());
    }

    /// A person cleared a halt at this equity.
    pub(super) fn resumed(&mut self, books: &Books) {
        self.drawdown.from = books.pnl();
        self.state = "active";
    }

    pub(super) fn look(&mut self, now: u64, guard: &Guard, books: &Books) -> Result<(), String> {
        let rules = &guard.config.rules;
        if self.flows.0 != books.flows {
            self.flows = (books.flows, now);
        }
        self.of_day.look(now, self.of_day.share(books, rules.daily_loss));
        self.drawdown.look(now, self.drawdown.share(books, rules.drawdown));
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
