//! The day's loss by the records alone, for a person's command while no guard runs: the next start goes by the same figures.

use rust_decimal::Decimal;

use crate::base::day::Day;
use crate::guard::state::guard::Guard;

/// A day's loss with the limit that it halts at, USDC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DaysLoss {
    /// The UTC day.
    pub day: Day,
    /// What is lost since its start; money that flowed is no loss.
    pub loss: Decimal,
    /// The limit, of the day's start as it moved with what flowed; nought is none.
    pub limit: Decimal,
}

impl Guard {
    /// The loss at this equity of the day that the records tell of last.
    #[must_use]
    pub fn days_loss(&self, equity: Decimal) -> Option<DaysLoss> {
        let (day, figures) = (self.risk.day()?, self.risk.figures(equity, &self.config)?);
        Some(DaysLoss { day, loss: -figures.day_pnl, limit: figures.daily_loss_limit })
    }
}
