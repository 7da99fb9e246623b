//! Equities with their time, and the highest of them.

use crate::guard::state::risk::transfers::Transfer;
use rust_decimal::Decimal;
use std::collections::VecDeque;

/// Steps of the staircase kept: at one a second far more than the ledger is ever behind.
const MAX_STEPS: usize = 1_440;

/// Decimals of an equity that was moved with a flow.
const DECIMALS: u32 = 8;

/// An equity at a time of the venue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EquitySample {
    /// The venue's time, UTC ms.
    pub(crate) at_ms: u64,
    /// USDC.
    pub(crate) equity: Decimal,
}

impl EquitySample {
    /// Moves an equity reached before a flow with it: by what the account was worth after the flow, in parts of what it was
    /// worth before. So what was lost since stays the same share of it.
    pub(crate) fn move_with(&mut self, flow: &Transfer) {
        if flow.time_ms <= self.at_ms {
            return;
        }
        let scaled = flow.before.filter(|before| *before > Decimal::ZERO).and_then(|before| {
            let after = before.saturating_add(flow.usd).max(Decimal::ZERO);
            self.equity.checked_mul(after)?.checked_div(before)
        });
        // Nothing has no parts. What a flow of an earlier version was measured by is not known.
        let moved = scaled.unwrap_or_else(|| self.equity.saturating_add(flow.usd));
        self.equity = moved.max(Decimal::ZERO).round_dp(DECIMALS).normalize();
    }
}

/// The peaks in the order in which they were reached, each higher than all before it. A deposit that is not in the
/// ledger yet looks like a new peak; when it shows up, the older peaks move with it, and the true peak stands again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Peaks(VecDeque<EquitySample>);

impl Peaks {
    /// The highest.
    pub(crate) fn highest(&self) -> Option<EquitySample> {
        self.0.iter().copied().max_by_key(|mark| mark.equity)
    }

    /// Takes an equity in; whether it is a new peak.
    pub(crate) fn add(&mut self, mark: EquitySample) -> bool {
        if self.highest().is_some_and(|highest| mark.equity <= highest.equity) {
            return false;
        }
        self.0.push_back(mark);
        if self.0.len() > MAX_STEPS {
            self.0.pop_front();
        }
        true
    }

    /// Moves the peaks reached before a flow with it.
    pub(crate) fn move_with(&mut self, flow: &Transfer) {
        self.0.iter_mut().for_each(|mark| mark.move_with(flow));
    }

    /// Puts older peaks in the place of those reached before a time.
    pub(crate) fn put_back(&mut self, older: Self, before_ms: u64) {
        let later = std::mem::replace(self, older).0.into_iter();
        self.0.extend(later.filter(|mark| mark.at_ms >= before_ms));
        let over = self.0.len().saturating_sub(MAX_STEPS);
        self.0.drain(..over);
    }

    /// Begins anew at this equity.
    pub(crate) fn reset(&mut self, mark: EquitySample) {
        self.0.clear();
        self.0.push_back(mark);
    }
}
