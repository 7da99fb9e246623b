//! The equities of the last reads: what an account was worth when money came in or went out. One that
//! jumped and that nothing has settled yet may have been read wrong: a flow is not measured by it where another will do.
//!
//! Between two reads marks move the equity. Its cash is still that of the read, so what flowed since the read is not in it, and
//! it shows no flow: it says what the account was worth before one, and nothing of after.

use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::settled_reading::jumps;
use crate::guard::state::risk::transfers::SeenTransfers;
use rust_decimal::Decimal;
use std::collections::VecDeque;

/// Samples kept: at two a second far more than the ledger is ever behind.
const KEPT: usize = 1_200;

/// Of those by marks one in this time is kept, and the newest.
const MARKED_MS: u64 = 500;

/// An equity of the account.
#[derive(Debug, Clone, Copy)]
struct Known {
    sample: EquitySample,
    /// The time of its cash: that of the read.
    cash_ms: u64,
    is_settled: bool,
}

impl Known {
    fn is_read(&self) -> bool {
        self.sample.at_ms == self.cash_ms
    }

    /// The equity, carried on by what flowed after its cash was read, up to `until_ms`.
    fn carried(&self, flows: &SeenTransfers, until_ms: u64) -> Decimal {
        let moved = flows.between(self.cash_ms.saturating_add(1), until_ms.saturating_add(1));
        self.sample.equity.saturating_add(moved)
    }
}

/// The equities of the last reads, oldest first, and of marks between them.
#[derive(Debug, Clone, Default)]
pub(crate) struct EquityHistory(VecDeque<Known>);

impl EquityHistory {
    pub(crate) fn add(&mut self, sample: EquitySample, is_settled: bool) {
        self.push(Known { sample, cash_ms: sample.at_ms, is_settled });
    }

    /// Takes in what marks have made of the equity since the last read.
    pub(crate) fn add_marked(&mut self, sample: EquitySample) {
        let Some(last) = self.0.back().copied() else { return };
        let Some(read) = self.0.iter().rev().find(|known| known.is_read()) else { return };
        if sample.at_ms <= last.sample.at_ms {
            return;
        }
        let is_settled = read.is_settled && !jumps(read.sample.equity, sample.equity);
        let marked = Known { sample, cash_ms: read.cash_ms, is_settled };
        let before_ms = self.0.iter().rev().nth(1).map_or(0, |known| known.sample.at_ms);
        if !last.is_read() && sample.at_ms.saturating_sub(before_ms) < MARKED_MS {
            self.0.pop_back();
        }
        self.push(marked);
    }

    fn push(&mut self, known: Known) {
        self.0.push_back(known);
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
    }

    /// The equity is kept somewhere else: what was read since the last settled one may be of that already, or of nothing.
    pub(crate) fn drop_unsettled(&mut self) {
        while self.0.back().is_some_and(|known| !known.is_settled) {
            self.0.pop_back();
        }
    }

    /// Begins anew: the reads so far were wrong.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The time of the first one.
    pub(crate) fn first_ms(&self) -> Option<u64> {
        self.0.front().map(|first| first.sample.at_ms)
    }

    /// The time of the first read after a flow at `time_ms`, where that one is further from the read before than the `flows`
    /// moved: another may have moved the rest. Before any read follows, the flow's own time: none tells that it had no company.
    pub(crate) fn unexplained_at(&self, time_ms: u64, flows: &SeenTransfers) -> Option<u64> {
        let (last, next) = self.around(time_ms, flows);
        let Some(next) = next else { return last.map(|_| time_ms) };
        jumps(last?.carried(flows, next.at_ms), next.equity).then_some(next.at_ms)
    }

    /// What the account was worth just before a flow at `time_ms` that stands in `flows`, or else was of `unsure` USDC.
    /// `None` before the first read.
    ///
    /// Prices move between two reads: half of what was won or lost between them is taken to have come before the flow.
    pub(crate) fn before(&self, time_ms: u64, unsure: Decimal, flows: &SeenTransfers) -> Option<Decimal> {
        let (last, next) = self.around(time_ms, flows);
        let last = last.map(|last| last.carried(flows, time_ms.saturating_sub(1)));
        let next = next.map(|next| {
            let moved = flows.between(time_ms, next.at_ms.saturating_add(1)).saturating_add(unsure);
            next.equity.saturating_sub(moved)
        });
        match (last, next) {
            (Some(last), Some(next)) => last.saturating_add(next).checked_div(Decimal::TWO),
            (one, other) => one.or(other),
        }
    }

    /// The same by settled reads alone: what was read since may be of another purse.
    pub(crate) fn before_by_settled(&self, time_ms: u64, flows: &SeenTransfers) -> Option<Decimal> {
        let mut settled = self.0.iter().rev().filter(|known| known.is_settled && known.sample.at_ms < time_ms);
        settled.next().map(|known| known.carried(flows, time_ms.saturating_sub(1)))
    }

    /// The last read before a flow at `time_ms` and the first one after it that the flows explain by it. The last settled one
    /// stands in for one that nothing explains; where that does not help either, they are what they are.
    fn around(&self, time_ms: u64, flows: &SeenTransfers) -> (Option<Known>, Option<EquitySample>) {
        let earlier = || self.0.iter().rev().filter(|known| known.sample.at_ms < time_ms).copied();
        let reads = || self.0.iter().filter(|known| known.is_read());
        let later = || reads().map(|known| known.sample).filter(|sample| sample.at_ms >= time_ms);
        let nearest = earlier().next();
        let settled = earlier().find(|known| known.is_settled).or(nearest);
        let explained = |last: Known| {
            later()
                .find(|next| !jumps(last.carried(flows, next.at_ms), next.equity))
                .map(|next| (Some(last), Some(next)))
        };
        let first = later().next();
        let both = nearest.and_then(explained).or_else(|| settled.and_then(explained));
        both.unwrap_or((if first.is_some() { nearest } else { settled }, first))
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;

    #[test]
    fn what_was_settled_tells_what_a_doubted_purse_does_not() {
        let mut history = EquityHistory::default();
        let flows = SeenTransfers::default();
        assert_eq!(history.before_by_settled(150, &flows), None);
        for (at_ms, equity, is_settled) in
            [(100, dec!(10000), true), (200, dec!(1000), false), (300, dec!(1000), false)]
        {
            history.add(EquitySample { at_ms, equity }, is_settled);
        }
        assert_eq!([101, 250].map(|at_ms| history.before_by_settled(at_ms, &flows)), [Some(dec!(10000)); 2]);
        assert_eq!(history.before(250, Decimal::ZERO, &flows), Some(dec!(1000)));
        assert_eq!(history.before_by_settled(100, &flows), None);
    }
}
