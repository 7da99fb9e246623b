//! The first read of a life, until another bears it out.
//!
//! Nothing tells that one read alone is not wrong, and all is measured by the first. It sets its marks at once, on disk too: what is
//! lost from then on counts, and a death must not forget it. But where the next one shows what neither trades nor prices explain
//! one of both is wrong, and until a third agrees with either the marks are those of before the first, with the newer read's.

use crate::base::amount::percent_of;
use crate::guard::state::risk::cash_balance::Cash;
use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::marks::Marks;
use crate::guard::state::risk::settled_reading::{WINDFALL, jumps};
use crate::guard::state::risk::transfers::Transfer;
use rust_decimal::{Decimal, dec};

/// While nobody watches it an account may win or lose so much, percent.
const AWAY_PCT: Decimal = dec!(25);

/// Trades that were heard of since may have won or lost so much, percent.
const TRADED_PCT: Decimal = dec!(10);

/// The second read is asked for at once for so long, and the third; then they come by their interval.
const PRESSING_MS: u64 = 3_000;

/// A read that contradicts the first is believed after this long, whatever is read or not read.
const MAX_DISPUTED_MS: u64 = 10_000;

/// The first read of a life.
#[derive(Debug, Clone)]
pub(crate) struct FirstReading {
    cash: Cash,
    /// When it was taken in; none of one that an earlier life has left without a word.
    taken_ms: Option<u64>,
    /// When a trade was last heard of by then.
    traded_ms: Option<u64>,
    /// The marks without it.
    before: Marks,
    /// Whether it set marks that are on disk.
    pub(crate) is_written: bool,
    dispute: Option<Dispute>,
}

/// Two reads of which one is wrong.
#[derive(Debug, Clone)]
struct Dispute {
    /// The read that contradicts the first.
    cash: Cash,
    since_ms: u64,
    /// The marks with the first.
    set_aside: Marks,
}

/// The facts known beside the reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside {
    pub(crate) mode_ms: u64,
    pub(crate) traded_ms: Option<u64>,
    pub(crate) now_ms: u64,
}

/// The word of a later read on the first.
#[derive(Debug)]
pub(crate) enum Word {
    /// The same moment, read twice, is one witness.
    Nothing,
    BornOut,
    /// Nobody has contradicted it in this way before.
    Contradicted,
    /// Another has, but not all is known that would have to be.
    Disputed,
    /// Another has: this one.
    Misread(Box<Cash>),
}

impl FirstReading {
    /// The first read of this life, of an account with these marks before it.
    pub(crate) fn new(cash: Cash, before: Marks, is_written: bool, beside: &Beside) -> Self {
        let (taken_ms, traded_ms) = (Some(beside.now_ms), beside.traded_ms);
        Self { cash, taken_ms, traded_ms, before, is_written, dispute: None }
    }

    /// One of an earlier life that ended before another bore it out.
    pub(crate) fn recorded(mark: EquitySample, before: Marks) -> Self {
        let cash = Cash::recorded(mark);
        Self { cash, taken_ms: None, traded_ms: None, before, is_written: true, dispute: None }
    }

    pub(crate) fn before(&self) -> &Marks {
        &self.before
    }

    pub(crate) fn before_mut(&mut self) -> &mut Marks {
        &mut self.before
    }

    /// The equity that it showed.
    pub(crate) fn mark(&self) -> EquitySample {
        EquitySample { at_ms: self.cash.at_ms, equity: self.cash.equity }
    }

    /// Takes in a later read.
    pub(crate) fn hear(&mut self, cash: &Cash, beside: &Beside) -> Word {
        if self.is_like(cash, beside) {
            return if self.is_borne_out(cash, beside) { Word::BornOut } else { Word::Nothing };
        }
        let Some(dispute) = &mut self.dispute else { return Word::Contradicted };
        let is_over = beside.now_ms.saturating_sub(dispute.since_ms) >= MAX_DISPUTED_MS;
        let agrees = cash.at_ms > dispute.cash.at_ms && is_explained(&dispute.cash, cash, Decimal::ZERO);
        // What was marked before may be of another purse than both of these.
        let is_known = self.before.peaks.highest().is_none() || beside.mode_ms >= dispute.cash.begun_ms;
        if is_over || agrees && is_known {
            return Word::Misread(Box::new(dispute.cash.clone()));
        }
        if agrees {
            return Word::Disputed;
        }
        dispute.cash = cash.clone();
        Word::Contradicted
    }

    /// Whether this is another moment of the same account.
    pub(crate) fn is_borne_out(&self, cash: &Cash, beside: &Beside) -> bool {
        cash.at_ms > self.cash.at_ms && self.is_like(cash, beside)
    }

    fn is_like(&self, cash: &Cash, beside: &Beside) -> bool {
        if self.taken_ms.is_none() {
            let differs = cash.equity.saturating_sub(self.cash.equity).abs();
            return differs <= percent_of(self.cash.equity.abs(), AWAY_PCT);
        }
        let has_traded = beside.traded_ms > self.traded_ms;
        let more_pct = if has_traded { TRADED_PCT } else { Decimal::ZERO };
        is_explained(&self.cash, cash, percent_of(self.cash.equity.abs(), more_pct))
    }

    /// Keeps the marks that were gone by until this read contradicted it; the marks to go by now are those of before the first.
    pub(crate) fn set_aside(&mut self, marks: &mut Marks, cash: &Cash, now_ms: u64) {
        let newer = std::mem::replace(marks, self.before.clone());
        if self.dispute.is_none() {
            self.dispute = Some(Dispute { cash: cash.clone(), since_ms: now_ms, set_aside: newer });
        }
    }

    /// Ends what contradicts it: the marks with it, if others are gone by.
    pub(crate) fn uphold(&mut self) -> Option<Marks> {
        self.dispute.take().map(|dispute| dispute.set_aside)
    }

    /// Whether the next read is to come at once.
    pub(crate) fn is_pressing(&self, now_ms: u64) -> bool {
        let since = |at_ms: u64| now_ms.saturating_sub(at_ms);
        match (&self.dispute, self.taken_ms) {
            (Some(dispute), _) => since(dispute.since_ms) < MAX_DISPUTED_MS,
            (None, Some(taken_ms)) => since(taken_ms) < PRESSING_MS,
            (None, None) => false,
        }
    }

    /// The equity that limits go by where this much is shown: the least of what may be true.
    pub(crate) fn judged(&self, shown: Decimal) -> Decimal {
        if self.dispute.is_some() {
            return shown.min(self.cash.equity);
        }
        let known = self.before.peaks.highest().map(|peak| peak.equity);
        known.filter(|known| shown > known.saturating_mul(WINDFALL)).map_or(shown, |known| known.min(shown))
    }

    pub(crate) fn shift(&mut self, flow: &Transfer) {
        self.cash.shift(flow);
        self.before.shift(flow);
        if let Some(dispute) = &mut self.dispute {
            dispute.cash.shift(flow);
            dispute.set_aside.shift(flow);
        }
    }
}

/// Whether the account can have become this since: the equity is as it was, or all but so much of what it differs by is of prices
/// and trades.
fn is_explained(before: &Cash, cash: &Cash, more: Decimal) -> bool {
    !jumps(before.equity, cash.equity) || cash.follows(before, more)
}
