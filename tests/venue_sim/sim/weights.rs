//! The IP's weight: what each request costs, and what the last minute has cost.

use std::collections::VecDeque;

const MINUTE_MS: u64 = 60_000;

/// Weight spent in the last minute. One IP: everything here comes from loopback.
#[derive(Default)]
pub(crate) struct Weights {
    spent: VecDeque<(u64, u64)>,
    sum: u64,
}

impl Weights {
    /// Spends `weight`, unless that goes over `limit`.
    pub(crate) fn spend(&mut self, now_ms: u64, weight: u64, limit: Option<u64>) -> bool {
        self.forget(now_ms);
        if limit.is_some_and(|limit| self.sum.saturating_add(weight) > limit) {
            return false;
        }
        // A limit that is off needs no memory; one that comes on starts with what was spent under a limit.
        if limit.is_some() {
            self.spent.push_back((now_ms, weight));
            self.sum = self.sum.saturating_add(weight);
        }
        true
    }

    /// Weight of the last minute.
    pub(crate) fn used(&mut self, now_ms: u64) -> u64 {
        self.forget(now_ms);
        self.sum
    }

    fn forget(&mut self, now_ms: u64) {
        while let Some(&(at_ms, weight)) = self.spent.front()
            && at_ms.saturating_add(MINUTE_MS) <= now_ms
        {
            self.spent.pop_front();
            self.sum = self.sum.saturating_sub(weight);
        }
    }
}

/// Weight of an exchange request of `n` orders, cancels or modifies.
pub(crate) fn exchange_weight(n: usize) -> u64 {
    u64::try_from(n / 40).unwrap_or(u64::MAX).saturating_add(1)
}

/// Weight of a read that returned `items` entries.
pub(crate) fn info_weight(kind: &str, items: usize) -> u64 {
    let items = u64::try_from(items).unwrap_or(u64::MAX);
    match kind {
        "l2Book" | "allMids" | "clearinghouseState" | "orderStatus" | "spotClearinghouseState" | "exchangeStatus" => 2,
        "userRole" => 60,
        "recentTrades"
        | "historicalOrders"
        | "userFills"
        | "userFillsByTime"
        | "fundingHistory"
        | "userFunding"
        | "userNonFundingLedgerUpdates"
        | "twapHistory"
        | "userTwapSliceFills" => 20 + items / 20,
        "candleSnapshot" => 20 + items / 60,
        _ => 20,
    }
}
