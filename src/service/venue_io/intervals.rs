//! How often each thing is read of the venue.

use crate::base::ip_share::IP_BUDGET;

/// How often things are read, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::service) struct Intervals {
    /// Mids.
    pub(in crate::service) prices_ms: u64,
    /// The account.
    pub(in crate::service) account_ms: u64,
    /// Open orders.
    pub(in crate::service) orders_ms: u64,
}

impl Intervals {
    /// The intervals that a budget of `budget` weight a minute affords: one second and five at 1200, stretched in
    /// proportion to at most ten and thirty.
    #[must_use]
    pub(in crate::service) fn for_budget(budget: u32) -> Self {
        let stretch = |ms: u64, most: u64| {
            let whole = u64::from(IP_BUDGET);
            ms.saturating_mul(whole).checked_div(u64::from(budget)).unwrap_or(most).clamp(ms, most)
        };
        Self {
            prices_ms: stretch(1_000, 10_000),
            account_ms: stretch(1_000, 10_000),
            orders_ms: stretch(5_000, 30_000),
        }
    }
}
