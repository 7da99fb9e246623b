//! When the account that is known was read, held against other moments of this machine's: whether it shows what had happened by then.

use crate::guard::state::guard::Guard;

/// A read that began so long after a moment is of after it, whatever the clocks say.
const SURELY_AFTER_MS: u64 = 10_000;

/// The moment of which the account was read, by both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownAt {
    begun_ms: u64,
    venue_ms: u64,
    /// The venue's time and the machine's at present.
    latest_ms: u64,
    now_ms: u64,
}

impl ShownAt {
    /// Whether it shows what had happened by a moment of this machine's: it was read after that, and is no answer that lags.
    pub(crate) fn is_later(&self, at_ms: u64) -> bool {
        // By whichever clock is ahead, for as long as reads may lag.
        let latest_ms = self.latest_ms.saturating_sub(self.now_ms.saturating_sub(at_ms));
        let is_old = self.begun_ms >= at_ms.saturating_add(SURELY_AFTER_MS);
        self.begun_ms >= at_ms && (self.venue_ms >= latest_ms || is_old)
    }
}

impl Guard {
    /// When the account that is known was read; `None` before it was.
    pub(in crate::guard) fn shown_at(&self, now_ms: u64) -> Option<ShownAt> {
        let account = self.view.account.as_ref()?;
        let latest_ms = self.clock.latest_ms();
        Some(ShownAt { begun_ms: account.begun_ms, venue_ms: account.venue_ms, latest_ms, now_ms })
    }
}
