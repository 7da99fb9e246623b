//! A loss that looks like a breach and is not believed yet.

use crate::guard::state::risk::cash_balance::Cash;

/// A loss seen on two reads is believed after this long, whatever ledger and mode say or do not say.
pub(crate) const MAX_DOUBT_MS: u64 = 10_000;

/// A loss that is not believed yet.
#[derive(Debug, Clone)]
pub(crate) struct UnconfirmedLoss {
    /// When it was first seen, or seen again after a gap.
    pub(crate) seen_ms: u64,
    /// From when on the mode must be read: since cash moved last, the equity may be kept somewhere else.
    pub(crate) mode_from_ms: u64,
    /// It was asked for since: not by marks alone, for no cash has moved by them.
    pub(crate) is_mode_asked: bool,
    /// From when on the ledger must be read, and whether it was asked for then.
    pub(crate) ledger_from_ms: u64,
    pub(crate) is_ledger_asked: bool,
    /// Account reads in a row that show it: none since the account changed its purse.
    pub(crate) reads: u32,
    /// Whether the reads had a gap since it was first seen.
    pub(crate) had_gap: bool,
    /// The cash of the last read that did not show it.
    pub(crate) cash_before: Option<Cash>,
}

impl UnconfirmedLoss {
    pub(crate) fn cash_before(&mut self) -> Option<&mut Cash> {
        self.cash_before.as_mut()
    }

    /// The reads begin again after a gap. A loss that is still there was seen before it and after it; what the gap may
    /// hide is a withdrawal, so the ledger is given its time once more. Once: whoever makes gap after gap must not put a
    /// halt off for ever.
    pub(crate) fn on_gap(&mut self, ledger_from_ms: u64, now_ms: u64) {
        if !std::mem::replace(&mut self.had_gap, true) {
            (self.seen_ms, self.mode_from_ms, self.is_mode_asked) = (now_ms, now_ms, false);
            (self.ledger_from_ms, self.is_ledger_asked) = (ledger_from_ms, false);
        }
    }

    /// The account changed its purse: a loss that is still there is made sure of anew, and no longer than if it had not.
    pub(crate) fn on_change(&mut self) {
        (self.reads, self.cash_before) = (0, None);
    }

    pub(crate) fn may_go_on(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.seen_ms) < MAX_DOUBT_MS
    }
}
