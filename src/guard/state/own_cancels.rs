//! The guard's own cancels of single stops, by order id: one that the venue answered is not sent again at once because a read
//! goes on showing the order. A read may lag, and a venue that refuses a cancel refuses the next one too.

use std::collections::BTreeMap;

/// The pause after a cancel doubles from one of these to the other.
const FIRST_PAUSE_MS: u64 = 1_000;
const LONGEST_PAUSE_MS: u64 = 60_000;

/// What was sent of them and has not shown yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnCancels(BTreeMap<u64, Pause>);

#[derive(Debug, Clone, Copy)]
struct Pause {
    ms: u64,
    until_ms: u64,
}

impl OwnCancels {
    /// Whether a cancel of this order may go out.
    pub(crate) fn is_due(&self, oid: u64, now_ms: u64) -> bool {
        self.0.get(&oid).is_none_or(|pause| now_ms >= pause.until_ms)
    }

    /// Takes note of the end of one, whatever it was.
    pub(crate) fn ended(&mut self, oid: u64, now_ms: u64) {
        let before_ms = self.0.get(&oid).map_or(0, |pause| pause.ms);
        let ms = before_ms.saturating_mul(2).clamp(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
        self.0.insert(oid, Pause { ms, until_ms: now_ms.saturating_add(ms) });
    }

    /// Forgets the orders that a read shows no more.
    pub(crate) fn retain(&mut self, is_shown: impl Fn(u64) -> bool) {
        self.0.retain(|oid, _| is_shown(*oid));
    }
}
