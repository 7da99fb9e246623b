//! How far the audit of the book has come: which read of the account waits to be compared, and what was found.

use crate::guard::state::book::sums::{Standing, Sums};
use crate::venue::info::AccountMode;
use rust_decimal::Decimal;

/// A read of the account that is compared with the book.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) standing: Standing,
    /// When it was taken in.
    pub(crate) taken_ms: u64,
    pub(crate) mode: AccountMode,
    /// Whether anything is held.
    pub(crate) is_flat: bool,
    /// Rows count as read up to it once they were from then on.
    pub(crate) rows_from_ms: u64,
    /// How often they were, and did not explain it.
    pub(crate) tries: u32,
}

/// The highest and lowest equity, and the worst fall from a high to a later low: transfers apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extremes {
    pub(crate) highest: Decimal,
    pub(crate) lowest: Decimal,
    pub(crate) worst_fall: Decimal,
    /// The highest of all so far, from which a fall is measured.
    top: Decimal,
}

impl Extremes {
    pub(crate) fn from(equity: Decimal) -> Self {
        Self { highest: equity, lowest: equity, worst_fall: Decimal::ZERO, top: equity }
    }

    pub(crate) fn add(&mut self, equity: Decimal) {
        self.highest = self.highest.max(equity);
        self.lowest = self.lowest.min(equity);
        self.top = self.top.max(equity);
        self.worst_fall = self.worst_fall.max(self.top.saturating_sub(equity));
    }
}

/// The audit.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    pub(crate) candidate: Option<Candidate>,
    /// The venue's time of the last read that was looked at.
    pub(crate) looked_ms: u64,
    /// The last one that was compared, with its sums.
    pub(crate) last: Option<(Standing, Sums)>,
    pub(crate) extremes: Option<Extremes>,
    /// The hour that was last written down.
    pub(crate) hour: Option<u64>,
    /// The last sums that were written down, and of when (venue's time, UTC ms).
    pub(crate) written: Option<(u64, Sums)>,
    /// What the account's mode was.
    pub(crate) mode: Option<AccountMode>,
    /// Whether it did not add up when it was last written down.
    pub(crate) is_off: bool,
    /// What it was off by when it was last compared; `None` where it could not be.
    pub(crate) difference: Option<Decimal>,
    /// How often it did not add up.
    pub(crate) discrepancies: u64,
    /// When the ledger was last read, and when that was last asked for.
    pub(crate) ledger_ms: u64,
    pub(crate) ledger_asked_ms: u64,
    /// A fill of another purse than the core perps' has come since the last comparison.
    pub(crate) has_foreign: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;

    #[test]
    fn a_fall_is_from_a_high_to_a_later_low() {
        let mut extremes = Extremes::from(dec!(10));
        [dec!(4), dec!(12), dec!(7), dec!(11)].into_iter().for_each(|equity| extremes.add(equity));
        assert_eq!((extremes.highest, extremes.lowest, extremes.worst_fall), (dec!(12), dec!(4), dec!(6)));
    }
}
