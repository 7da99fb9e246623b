//! The weight of requests against the venue's budget per IP address, and who may spend of it.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.

use thiserror::Error;

/// Who spends, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Closing everything, cover for bare positions, and the reads that either needs.
    Flatten,
    /// A client's exits and cancels.
    ClientExit,
    /// The guard's own steady reads of prices, account, open orders and ledger: a floor that no client can touch.
    Read,
    /// Its other reads, and those sooner than their interval: they live on what is kept for nothing else, clients' entries
    /// included.
    EarlyRead,
    /// A client's entries, settings and whatever else is no exit.
    ClientEntry,
    /// `/info` questions passed through for clients.
    PassThrough,
}

/// How many there are.
pub(super) const PRIORITIES: usize = 6;

impl Priority {
    /// Every priority, highest first.
    pub const ALL: [Self; PRIORITIES] =
        [Self::Flatten, Self::ClientExit, Self::Read, Self::EarlyRead, Self::ClientEntry, Self::PassThrough];

    /// The priority's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Flatten => "flatten",
            Self::ClientExit => "client_exit",
            Self::Read => "read",
            Self::EarlyRead => "early_read",
            Self::ClientEntry => "client_entry",
            Self::PassThrough => "pass_through",
        }
    }
}

/// Why nothing was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Denied {
    /// There will be room after this long, unless somebody else spends first.
    #[error(
        "the venue's budget for this address has no room for it beside what is kept for the guard and others; there is room in {ms} ms"
    )]
    Wait {
        /// Milliseconds from the time passed in.
        ms: u64,
    },
    /// The weight is over what this priority may ever spend in one minute.
    #[error("weight {weight} is over the {most} a minute that may be spent on this; raise ip_share or ask for less")]
    TooHeavy {
        /// The weight asked for.
        weight: u32,
        /// The most this priority may spend in one minute.
        most: u32,
    },
}

/// So many items of a batch weigh as much as one request more.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
const ITEMS_A_WEIGHT: usize = 40;

/// Weight of an `/exchange` request whose batch has `batch` items: `1 + batch/40`, rounded down.
#[must_use]
pub fn exchange_weight(batch: usize) -> u32 {
    u32::try_from(batch / ITEMS_A_WEIGHT).unwrap_or(u32::MAX).saturating_add(1)
}

/// Weight of an `/info` question of this type, without what its answer's length adds.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
#[must_use]
pub fn info_weight(kind: &str) -> u32 {
    match kind {
        "l2Book" | "allMids" | "clearinghouseState" | "orderStatus" | "spotClearinghouseState" | "exchangeStatus" => 2,
        "userRole" => 60,
        _ => 20,
    }
}

/// Weight that the length of an `/info` answer adds: known only once it is here, so it is charged to the ledger then.
/// `userNonFundingLedgerUpdates` is counted like the page's `nonUserFundingUpdates`, which no question is named.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
#[must_use]
pub fn info_extra(kind: &str, items: usize) -> u32 {
    let items_a_weight = match kind {
        "recentTrades"
        | "historicalOrders"
        | "userFills"
        | "userFillsByTime"
        | "fundingHistory"
        | "userFunding"
        | "userNonFundingLedgerUpdates"
        | "nonUserFundingUpdates"
        | "twapHistory"
        | "userTwapSliceFills"
        | "userTwapSliceFillsByTime"
        | "delegatorHistory"
        | "delegatorRewards"
        | "validatorStats" => 20,
        "candleSnapshot" => 60,
        _ => return 0,
    };
    u32::try_from(items / items_a_weight).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_the_venue() {
        assert_eq!([0, 1, 39, 40, 79, 80].map(exchange_weight), [1, 1, 1, 2, 2, 3]);
        assert_eq!(["allMids", "userRole", "meta", "neverHeardOf"].map(info_weight), [2, 60, 20, 20]);
        assert_eq!([0, 19, 20, 40].map(|n| info_extra("userFills", n)), [0, 0, 1, 2]);
        assert_eq!(info_extra("candleSnapshot", 60), 1);
        assert_eq!(info_extra("meta", 10_000), 0);
    }
}
