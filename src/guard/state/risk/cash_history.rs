//! The cash of the last reads, and of the last one of which the ledger has told everything.
//!
//! What an account lost beyond the cash that is gone since then, it lost on positions that it holds: no withdrawal can
//! explain that, so nothing has to be waited for. No halt is decided here.

use crate::guard::state::risk::cash_balance::Cash;
use crate::guard::state::risk::transfers::Transfer;
use rust_decimal::Decimal;
use std::collections::VecDeque;

/// The ledger shows a flow so late at most.
pub(crate) const LEDGER_LATE_MS: u64 = 10_000;

/// Reads kept: two minutes of them, where the ledger is read every minute.
const KEPT: usize = 128;

/// The cash of the last reads, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct CashHistory {
    /// The newest of which the ledger has told everything.
    told: Option<Cash>,
    later: VecDeque<Cash>,
}

impl CashHistory {
    pub(crate) fn add(&mut self, cash: Cash) {
        self.later.push_back(cash);
        if self.later.len() > KEPT {
            self.later.pop_front();
        }
    }

    /// Takes this for the cash of which everything is told: nothing that flowed before it is in what marks are compared with.
    pub(crate) fn begin_with(&mut self, cash: Cash) {
        self.told = Some(cash);
    }

    /// Takes in that the ledger was read, from `begun_ms` on.
    pub(crate) fn on_ledger(&mut self, begun_ms: u64) {
        while let Some(cash) = self.later.front()
            && cash.begun_ms.saturating_add(LEDGER_LATE_MS) <= begun_ms
        {
            self.told = self.later.pop_front();
        }
    }

    /// In parts, as the marks: what went before a deposit, and that the ledger does not tell of yet, is a part of what the
    /// account was worth then.
    pub(crate) fn shift(&mut self, flow: &Transfer) {
        self.told.iter_mut().chain(&mut self.later).for_each(|cash| cash.scale(flow));
    }

    /// The cash that is gone and that a withdrawal could explain; `None` where the ledger has not told of enough.
    pub(crate) fn gone(&self, now: &Cash) -> Option<Decimal> {
        let told = self.told.as_ref()?;
        // Also of what came in since then, and of what was won on a position that was closed.
        let seen = self.later.iter().chain([told]).map(|cash| cash.usd.saturating_add(now.realized_since(cash)));
        let most = seen.max().unwrap_or_default();
        Some(most.saturating_sub(now.usd).max(Decimal::ZERO))
    }

    /// The cash that came in and that a deposit could explain, of which the ledger has not told yet.
    pub(crate) fn come(&self, now: &Cash) -> Decimal {
        let seen = self.later.iter().chain(&self.told).map(|cash| cash.usd.saturating_add(now.realized_since(cash)));
        let least = seen.min().unwrap_or(now.usd);
        now.usd.saturating_sub(least).max(Decimal::ZERO)
    }

    /// Begins anew: the cash is kept somewhere else.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
