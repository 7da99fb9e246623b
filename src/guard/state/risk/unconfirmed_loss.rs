//! A loss that looks like a breach and is not believed yet.

use crate::guard::state::risk::cash_balance::Cash;

/// A loss seen on two reads is believed after this long, whatever ledger and mode say or do not say.
const MAX_DOUBT_MS: u64 = 10_000;

/// A loss that is not believed yet.
#[derive(Debug, Clone)]
pub(crate) struct UnconfirmedLoss {
    /// When it was first seen: the mode must be read from then on.
    pub(crate) seen_ms: u64,
    /// From when on the ledger must be read, and whether it was asked for then.
    pub(crate) ledger_from_ms: u64,
    pub(crate) is_ledger_asked: bool,
    /// Account reads in a row that show it.
    pub(crate) reads: u32,
    /// The cash of the last read that did not show it.
    pub(crate) cash_before: Option<Cash>,
}

impl UnconfirmedLoss {
    pub(crate) fn cash_before(&mut self) -> Option<&mut Cash> {
        self.cash_before.as_mut()
    }

    pub(crate) fn may_go_on(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.seen_ms) < MAX_DOUBT_MS
    }
}
