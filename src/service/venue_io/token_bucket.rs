//! Weight for reads out of turn, which flows in slowly and is bounded.

/// The bucket is filled with this part of the whole budget in a minute, and holds as much.
const BUDGET_PART: u32 = 10;
/// Two reads of the open orders: the least that a bucket holds.
const LEAST_CAPACITY: u32 = 40;
const MINUTE_MS: u64 = 60_000;

/// A token bucket, full at first.
#[derive(Debug)]
pub(super) struct TokenBucket {
    /// Weight that flows in within a minute.
    per_minute: u64,
    /// The weight that it may hold and holds, in units of 1/60000: so no time between two calls is rounded away.
    capacity: u64,
    level: u64,
    /// When it was filled last, on the steady clock.
    filled_steady_ms: u64,
}

impl TokenBucket {
    /// A bucket for a service that may spend `budget` weight in a minute.
    pub(super) fn new(budget: u32) -> Self {
        let per_minute = budget / BUDGET_PART;
        let capacity = u64::from(per_minute.max(LEAST_CAPACITY)).saturating_mul(MINUTE_MS);
        Self { per_minute: u64::from(per_minute), capacity, level: capacity, filled_steady_ms: 0 }
    }

    /// Takes `weight` out, if it holds that much.
    pub(super) fn take(&mut self, weight: u32, steady_ms: u64) -> bool {
        let gained = steady_ms.saturating_sub(self.filled_steady_ms).saturating_mul(self.per_minute);
        self.filled_steady_ms = self.filled_steady_ms.max(steady_ms);
        self.level = self.level.saturating_add(gained).min(self.capacity);
        let left = self.level.checked_sub(u64::from(weight).saturating_mul(MINUTE_MS));
        self.level = left.unwrap_or(self.level);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_flows_in_by_the_millisecond_up_to_the_capacity() {
        let mut bucket = TokenBucket::new(1_200);
        assert!(bucket.take(120, 0) && !bucket.take(1, 499));
        assert!(bucket.take(1, 500) && !bucket.take(1, 501));
        assert!(!bucket.take(121, 10_000_000) && bucket.take(120, 10_000_000));
    }
}
