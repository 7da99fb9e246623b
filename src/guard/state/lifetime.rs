//! Until when the venue may act on what is forwarded, and what it costs where it comes too late.

/// What is forwarded is refused by the venue after this: nothing lands late.
pub(crate) const FORWARD_LIFE_MS: u64 = 15_000;

/// A send may take so long: what has less left may come too late at a venue that is well.
const LEAST_LIFE_MS: u64 = 1_000;

/// The venue counts so many for each request that comes after its expiry. Source:
/// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
const LATE_COST: u64 = 5;

/// How many requests of the account an action costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Price {
    pub(crate) in_time: u64,
    /// What may be lost by it: counted until its answer.
    pub(crate) most: u64,
}

impl Price {
    /// That of so many orders or cancels with this life. Whether what carries an expiry of its client's comes too late is up
    /// to that client.
    pub(crate) fn of(requests: usize, life_ms: Option<u64>) -> Self {
        let in_time = u64::try_from(requests).unwrap_or(u64::MAX);
        let price = Self { in_time, most: in_time };
        if life_ms.is_some_and(is_clients) { Self { most: price.late(), ..price } } else { price }
    }

    /// What it costs where it came too late.
    pub(crate) fn late(self) -> u64 {
        self.in_time.saturating_mul(LATE_COST)
    }
}

/// Whether a life is the one that a client gave: it ends before the guard's own.
pub(crate) fn is_clients(life_ms: u64) -> bool {
    life_ms < FORWARD_LIFE_MS
}

/// Whether a life is over before a send can be counted on to have come.
pub(crate) fn is_short(life_ms: u64) -> bool {
    life_ms < LEAST_LIFE_MS
}

/// How long what is decided on at `from_ms` may live: until the end that its client gave, and no longer than the guard's own.
pub(crate) fn life_ms(expires_ms: Option<u64>, from_ms: u64) -> u64 {
    expires_ms.map_or(FORWARD_LIFE_MS, |expires_ms| expires_ms.saturating_sub(from_ms).min(FORWARD_LIFE_MS))
}
