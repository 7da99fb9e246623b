//! The equities of the last reads: what an account was worth when money came in or went out.

use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::settled_reading::jumps;
use crate::guard::state::risk::transfers::SeenTransfers;
use rust_decimal::Decimal;
use std::collections::VecDeque;

/// Samples kept: at one a second far more than the ledger is ever behind.
const KEPT: usize = 600;

/// The equities of the last reads, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct EquityHistory(VecDeque<EquitySample>);

impl EquityHistory {
    pub(crate) fn add(&mut self, sample: EquitySample) {
        self.0.push_back(sample);
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
    }

    /// Begins anew: the equity is kept somewhere else.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The time of the first one.
    pub(crate) fn first_ms(&self) -> Option<u64> {
        self.0.front().map(|first| first.at_ms)
    }

    /// The time of the first read after a flow at `time_ms`, where that one is further from the read before than the `flows`
    /// moved: another may have moved the rest.
    pub(crate) fn unexplained_at(&self, time_ms: u64, flows: &SeenTransfers) -> Option<u64> {
        let last = self.0.iter().rev().find(|sample| sample.at_ms < time_ms)?;
        let next = self.0.iter().find(|sample| sample.at_ms >= time_ms)?;
        let moved = flows.between(last.at_ms.saturating_add(1), next.at_ms.saturating_add(1));
        jumps(last.equity.saturating_add(moved), next.equity).then_some(next.at_ms)
    }

    /// What the account was worth just before a flow at `time_ms` that stands in `flows`, or else was of `unsure` USDC.
    /// `None` before the first read.
    ///
    /// Prices move between two reads: half of what was won or lost between them is taken to have come before the flow.
    pub(crate) fn before(&self, time_ms: u64, unsure: Decimal, flows: &SeenTransfers) -> Option<Decimal> {
        let last = self.0.iter().rev().find(|sample| sample.at_ms < time_ms).map(|last| {
            let moved = flows.between(last.at_ms.saturating_add(1), time_ms);
            last.equity.saturating_add(moved)
        });
        let after = self.0.iter().find(|sample| sample.at_ms >= time_ms);
        let next = after.map(|next| {
            let moved = flows.between(time_ms, next.at_ms.saturating_add(1)).saturating_add(unsure);
            next.equity.saturating_sub(moved)
        });
        match (last, next) {
            (Some(last), Some(next)) => last.saturating_add(next).checked_div(Decimal::TWO),
            (one, other) => one.or(other),
        }
    }
}
