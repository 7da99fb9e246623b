//! How often each thing is read of the venue.

use crate::base::ip_share::IP_BUDGET;
use crate::venue::weight_ledger::read_floor;

/// Weight of the prices, the account and its spot balance, and of the open orders.
const QUICK_WEIGHT: u64 = 2 + 2 + 2;
const ORDERS_WEIGHT: u64 = 20;
const MINUTE_MS: u64 = 60_000;

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
    /// proportion to at most ten and thirty, and so far that all of them fit into the floor kept for the steady reads:
    /// what they took beyond it a flood of clients' requests would keep from them.
    #[must_use]
    pub(in crate::service) fn for_budget(budget: u32) -> Self {
        let orders_ms = stretch(budget, 5_000, 30_000);
        let of_orders = (ORDERS_WEIGHT * MINUTE_MS).checked_div(orders_ms).unwrap_or_default();
        let left = u64::from(read_floor(budget)).saturating_sub(of_orders);
        let fitting_ms = (QUICK_WEIGHT * MINUTE_MS).checked_div(left).unwrap_or(10_000);
        let quick_ms = stretch(budget, 1_000, 10_000).max(fitting_ms).min(10_000);
        Self { prices_ms: quick_ms, account_ms: quick_ms, orders_ms }
    }
}

/// How old a mark at the mid may be that an entry is judged by: half a minute at the whole budget, so that reading the marks
/// ahead of the entries of a bot that trades on costs 40 weight a minute more, and in proportion at a smaller one, up to two
/// reads on their interval: more of them would have to come from what entries need.
#[must_use]
pub(in crate::service) fn marks_max_age_ms(budget: u32) -> u64 {
    stretch(budget, 30_000, 120_000)
}

/// A time at the whole budget, stretched in proportion to at most `most`.
fn stretch(budget: u32, ms: u64, most: u64) -> u64 {
    let whole = u64::from(IP_BUDGET);
    ms.saturating_mul(whole).checked_div(u64::from(budget)).unwrap_or(most).clamp(ms, most)
}

/// How often the same is read while the live feed tells of it: to see that it tells the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Audits {
    /// Mids.
    pub(super) prices_ms: u64,
    /// The account.
    pub(super) account_ms: u64,
    /// Open orders.
    pub(super) orders_ms: u64,
    /// Markets with their marks, and the allowance.
    pub(super) seldom_ms: u64,
    /// The account's mode and its ledger.
    pub(super) rarely_ms: u64,
}

/// A budget under this has the small audits.
const SMALL_BUDGET: u32 = 600;

impl Audits {
    /// At most 60 weight a minute with a large budget and 30 with a small one.
    pub(super) fn for_budget(budget: u32) -> Self {
        let is_small = budget < SMALL_BUDGET;
        let (prices_ms, seldom_ms, rarely_ms) =
            if is_small { (60_000, 360_000, 900_000) } else { (30_000, 120_000, 300_000) };
        Self { prices_ms, account_ms: 30_000, orders_ms: 120_000, seldom_ms, rarely_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ip_share::SMALLEST_BUDGET;

    #[test]
    fn marks_serve_for_longer_where_the_share_is_small() {
        let at = [IP_BUDGET, 900, 600, 300, SMALLEST_BUDGET].map(marks_max_age_ms);
        assert_eq!(at, [30_000, 40_000, 60_000, 120_000, 120_000]);
    }

    #[test]
    fn the_steady_reads_fit_into_their_floor_at_any_share() {
        let at = |budget: u32| {
            let Intervals { prices_ms, account_ms, orders_ms } = Intervals::for_budget(budget);
            [prices_ms, account_ms, orders_ms]
        };
        assert_eq!(
            [at(IP_BUDGET), at(600), at(300)],
            [[1_000, 1_000, 5_000], [2_000, 2_000, 10_000], [4_000, 4_000, 20_000]]
        );
        assert_eq!(at(SMALLEST_BUDGET), [10_000, 10_000, 30_000]);
        for budget in SMALLEST_BUDGET..=IP_BUDGET {
            let [prices_ms, account_ms, orders_ms] = at(budget);
            // Thousandths of a weight, so that nothing is rounded away.
            let weight = |each: u64, every_ms: u64| each * MINUTE_MS * 1_000 / every_ms;
            let needed = weight(2, prices_ms) + weight(4, account_ms) + weight(20, orders_ms);
            assert!(needed <= u64::from(read_floor(budget)) * 1_000 + 999, "{budget}: {needed}");
        }
    }

    #[test]
    fn audits_leave_nearly_all_of_the_budget() {
        for (budget, most) in [(SMALLEST_BUDGET, 30_000), (SMALL_BUDGET - 1, 30_000), (SMALL_BUDGET, 60_000)] {
            let Audits { prices_ms, account_ms, orders_ms, seldom_ms, rarely_ms } = Audits::for_budget(budget);
            // Thousandths; the account with its spot balance, and the wallet's approval every hour.
            let weight = |each: u64, every_ms: u64| each * MINUTE_MS * 1_000 / every_ms;
            let steady = weight(2, prices_ms) + weight(4, account_ms) + weight(20, orders_ms);
            let beside = weight(40, seldom_ms) + weight(40, rarely_ms) + weight(20, 3_600_000);
            assert!(steady + beside <= most, "{budget}: {steady} and {beside}");
        }
    }
}
