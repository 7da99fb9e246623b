//! Questions whose answers weigh by their length: that is known only once they are here, and the venue counts it all the same.

use super::{BUCKET_MS, Ledger, sum};
use crate::venue::weight::{Denied, Priority};

/// A question whose answer is waited for, and what is kept for its length.
#[derive(Debug)]
#[must_use]
pub struct OnWay {
    priority: Priority,
    kept: u32,
    is_too_long: bool,
}

impl Ledger {
    /// Spends the weight of a question, and keeps what the length of its answer may add (`most`) until it is here: however
    /// many are asked side by side, their answers fit. Where so much does not fit, or never would at a small share, a
    /// question goes by its own weight beside no other such: who asks one at a time is kept from none.
    ///
    /// # Errors
    /// As [`Self::try_spend`].
    pub fn try_ask(&mut self, priority: Priority, weight: u32, most: u32, now_ms: u64) -> Result<OnWay, Denied> {
        let fits_whole = self.has_room(priority, None, weight.saturating_add(most), now_ms);
        self.check(priority, None, weight, now_ms)?;
        if !fits_whole && (self.is_too_long_on_way || sum(&self.on_way) > 0) {
            return Err(Denied::Wait { ms: BUCKET_MS });
        }
        self.charge(priority, None, weight, now_ms);
        let kept = if fits_whole { most } else { 0 };
        self.is_too_long_on_way |= !fits_whole;
        if let Some(on_way) = self.on_way.get_mut(priority as usize) {
            *on_way = on_way.saturating_add(kept);
        }
        Ok(OnWay { priority, kept, is_too_long: !fits_whole })
    }

    /// The answer is here, and its length has added `weight`; or none came (`None`), and the venue may have counted all that
    /// was kept. What it did not take is anybody's again.
    pub fn settle(&mut self, OnWay { priority, kept, is_too_long }: OnWay, weight: Option<u32>, now_ms: u64) {
        if let Some(on_way) = self.on_way.get_mut(priority as usize) {
            *on_way = on_way.saturating_sub(kept);
        }
        self.is_too_long_on_way &= !is_too_long;
        self.charge(priority, None, weight.unwrap_or(kept), now_ms);
    }
}
