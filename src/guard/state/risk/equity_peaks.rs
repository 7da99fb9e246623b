//! Equities with their time, and the highest of them.

use rust_decimal::Decimal;
use std::collections::VecDeque;

/// Steps of the staircase kept: at one a second far more than the ledger is ever behind.
const MAX_STEPS: usize = 1_440;

/// An equity at a time of the venue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EquitySample {
    /// The venue's time, UTC ms.
    pub(crate) at_ms: u64,
    /// USDC.
    pub(crate) equity: Decimal,
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
    pub(crate) fn shift(&mut self, time_ms: u64, usd: Decimal) {
        let before = self.0.iter_mut().filter(|mark| mark.at_ms < time_ms);
        before.for_each(|mark| mark.equity = mark.equity.saturating_add(usd));
    }

    /// Begins anew at this equity.
    pub(crate) fn reset(&mut self, mark: EquitySample) {
        self.0.clear();
        self.0.push_back(mark);
    }
}
