//! The equity as the venue or its marks have just told it, for who keeps it over time. What is shown on without anything new
//! that tells it is no measurement.

use rust_decimal::Decimal;

use crate::guard::state::guard::Guard;

/// The account's equity, and what it is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// What it is, USDC.
    pub equity: Decimal,
    /// The venue's time of the account read.
    pub read_ms: u64,
    /// What newer marks make of it.
    pub marked: Option<Decimal>,
}

impl Measured {
    /// Whether something new tells it: another read of the account, of another moment of the venue's, or another mark.
    #[must_use]
    pub fn is_new(&self, before: Option<&Measured>) -> bool {
        before.is_none_or(|before| {
            self.read_ms != before.read_ms || (self.marked.is_some() && self.marked != before.marked)
        })
    }
}

impl Guard {
    /// The equity by the newest read of the account and the marks since; `None` where that read did not tell it, or where it
    /// is not sure how the account keeps it: what is carried on then is no measurement, nor is what a purse shows that the
    /// account may have no more.
    #[must_use]
    pub fn measured(&self) -> Option<Measured> {
        let is_purse_sure = self.risk.sure_mode().is_some();
        let account = self.view.account.as_ref().filter(|account| account.is_valued() && is_purse_sure)?;
        Some(Measured { equity: self.equity_now()?, read_ms: account.venue_ms, marked: account.marked })
    }
}
