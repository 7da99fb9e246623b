//! The weight of a rolling minute, second by second.

use crate::venue::weight::{PRIORITIES, Priority};

/// A rolling minute, and one bucket more because the oldest second is only partly past.
pub(super) const BUCKETS: usize = 61;
pub(super) const BUCKET_MS: u64 = 1000;

pub(super) type Spent = [u32; PRIORITIES];

/// What was spent in the last minute, second by second.
#[derive(Clone, Debug)]
pub(super) struct Minute {
    /// `(second, spent in it)`; a bucket of an older second is empty.
    pub(super) buckets: [(u64, Spent); BUCKETS],
}

impl Minute {
    pub(super) fn new() -> Self {
        Self { buckets: [(0, [0; PRIORITIES]); BUCKETS] }
    }

    pub(super) fn charge(&mut self, priority: Priority, weight: u32, second: u64) {
        let Some(bucket) = self.buckets.get_mut((second % BUCKETS as u64) as usize) else { return };
        if bucket.0 != second {
            *bucket = (second, [0; PRIORITIES]);
        }
        if let Some(spent) = bucket.1.get_mut(priority as usize) {
            *spent = spent.saturating_add(weight);
        }
    }

    /// What will still count at `second`.
    pub(super) fn spent_after(&self, second: u64) -> Spent {
        let oldest = second.saturating_sub(BUCKETS as u64 - 1);
        let mut sum = [0_u32; PRIORITIES];
        for (_, spent) in self.buckets.iter().filter(|(at, _)| *at >= oldest) {
            for (total, one) in sum.iter_mut().zip(spent) {
                *total = total.saturating_add(*one);
            }
        }
        sum
    }
}
