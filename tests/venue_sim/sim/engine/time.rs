//! The passing of time: funding, the scheduled cancel, TWAP slices.

use super::fill::Funding;
use super::news::News;
use super::{Engine, HISTORY_KEPT, push_bounded};
use rust_decimal::Decimal;

const HOUR_MS: u64 = 3_600_000;

/// The hour a moment lies in, counted from the epoch.
pub(super) fn hour(at_ms: u64) -> u64 {
    at_ms / HOUR_MS
}

impl Engine {
    /// Moves the clock, never back, and does what fell due.
    pub(crate) fn advance_to(&mut self, now_ms: u64) {
        self.now_ms = self.now_ms.max(now_ms);
        if self.scheduled_cancel_ms.is_some_and(|at_ms| at_ms <= self.now_ms) {
            self.scheduled_cancel_ms = None;
            self.cancel_all("scheduledCancel");
        }
        self.run_twaps();
        let hour = hour(self.now_ms);
        if hour > self.funded_hour {
            self.funded_hour = hour;
            self.pay_funding(self.settings.funding_rate);
        }
    }

    /// One funding payment for each position. Hours that a jump of the clock skipped are not made up for.
    pub(crate) fn pay_funding(&mut self, rate: Decimal) {
        if rate.is_zero() {
            return;
        }
        let marks: Vec<_> = self.account.positions.keys().map(|&asset| (asset, self.mark(asset))).collect();
        for (asset, mark) in marks {
            let Some(position) = self.account.positions.get_mut(&asset) else { continue };
            let paid = position.szi * mark * rate;
            position.funding_since_open += paid;
            match &mut position.isolated_usd {
                None => self.account.cross_usd -= paid,
                Some(usd) => *usd -= paid,
            }
            let entry = Funding { at_ms: self.now_ms, asset, usd: -paid, szi: position.szi, rate };
            *self.account.funding.entry(asset).or_default() += paid;
            self.tell(News::Funding(entry.clone()));
            push_bounded(&mut self.funding, entry, HISTORY_KEPT);
        }
        self.liquidate();
    }
}
