//! How far the audit of the book has come: which read of the account waits to be compared, and what was found.

use crate::guard::state::book::sums::{Standing, Sums, differs};
use crate::venue::info::AccountMode;
use rust_decimal::Decimal;

/// A read of the account that is compared with the book.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) standing: Standing,
    /// When it was taken in.
    pub(crate) taken_ms: u64,
    pub(crate) mode: AccountMode,
    /// Whether nothing is held.
    pub(crate) is_flat: bool,
    /// Whether all that is held shares the account's margin, in markets that are known.
    pub(crate) is_cross: bool,
    /// What all that is held is worth, longs and shorts alike.
    pub(crate) notional: Decimal,
    /// Rows count as read up to it once they were from then on.
    pub(crate) rows_from_ms: u64,
    /// How often they were, and did not explain it.
    pub(crate) tries: u32,
    /// What it was off by when they last did not.
    pub(crate) off_by: Option<Decimal>,
    /// Whether that was the same each time.
    pub(crate) is_steady: bool,
    /// The least that it was off by at any time, with what openings have swallowed; zero where that was on both sides.
    pub(crate) least: Option<Decimal>,
}

/// Fills of other purses than the core perps' of which no sum says what they moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Foreign {
    /// The time of the newest one, UTC ms.
    pub(crate) newest_ms: u64,
    /// The most that all of them can have moved.
    pub(crate) usd: Decimal,
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

/// Rows of which no sum was written down yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unwritten {
    /// The times of the oldest and the newest one, UTC ms.
    pub(crate) oldest_ms: u64,
    pub(crate) newest_ms: u64,
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
    /// What is on record since a sum was last written down, whatever it comes to.
    pub(crate) unwritten: Option<Unwritten>,
    /// When sums were last written down because rows had come (venue's time, UTC ms).
    pub(crate) moved_ms: Option<u64>,
    /// Whether a read has added up with the opening, in this life or an earlier one.
    pub(crate) is_proved: bool,
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
    pub(crate) foreign: Option<Foreign>,
    /// What openings have taken in as prices of two moments since something was last told: without a row that is missing it stays
    /// within what such prices are apart by.
    pub(crate) swallowed: Decimal,
    /// When the account was last compared, or that it could not be was told.
    pub(crate) compared_ms: u64,
    /// When that was last looked at.
    pub(crate) ticked_ms: u64,
}

impl Audit {
    /// The sum begins, with an account of this mode.
    pub(crate) fn begin(&mut self, mode: Option<AccountMode>) {
        (self.mode, self.extremes, self.foreign, self.is_proved) = (mode, None, None, false);
        self.swallowed = Decimal::ZERO;
    }

    /// A fill of another purse may have moved so much. One of before an opening, or before a read that added up, is in that.
    pub(crate) fn note_foreign(&mut self, time_ms: u64, usd: Decimal, opened_ms: Option<u64>) {
        let is_clean = self.difference.is_some_and(|difference| !differs(difference));
        let clean_ms = self.last.as_ref().filter(|_| is_clean).map(|(standing, _)| standing.at_ms);
        if Some(time_ms) >= opened_ms.max(clean_ms) {
            let held = self.foreign.get_or_insert(Foreign { newest_ms: time_ms, usd: Decimal::ZERO });
            *held = Foreign { newest_ms: held.newest_ms.max(time_ms), usd: held.usd.saturating_add(usd) };
        }
    }

    /// A read of this moment added up: what came before it has moved nothing that is not known.
    pub(crate) fn vouch(&mut self, at_ms: u64) {
        self.foreign = self.foreign.filter(|foreign| foreign.newest_ms >= at_ms);
    }

    /// The most that fills of other purses can have moved.
    pub(crate) fn foreign_usd(&self) -> Decimal {
        self.foreign.map_or(Decimal::ZERO, |foreign| foreign.usd)
    }

    /// A row of this time is on record.
    pub(crate) fn note_row(&mut self, time_ms: u64) {
        let row = Unwritten { oldest_ms: time_ms, newest_ms: time_ms };
        let rows = self.unwritten.get_or_insert(row);
        rows.oldest_ms = rows.oldest_ms.min(time_ms);
        rows.newest_ms = rows.newest_ms.max(time_ms);
    }

    /// Whether a sum of this moment tells of rows that none before does.
    pub(crate) fn has_rows_by(&self, at_ms: u64) -> bool {
        self.unwritten.is_some_and(|rows| rows.oldest_ms <= at_ms)
    }

    /// A sum of this moment is written down.
    pub(crate) fn note_written(&mut self, at_ms: u64) {
        let newest_ms = self.unwritten.take().map(|rows| rows.newest_ms);
        newest_ms.into_iter().filter(|newest_ms| *newest_ms > at_ms).for_each(|newest_ms| self.note_row(newest_ms));
    }
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
