//! When an order that nothing shows may be cancelled next.

/// The pause after a cancel doubles from one of these to the other.
const FIRST_PAUSE_MS: u64 = 2_000;
const LONGEST_PAUSE_MS: u64 = 60_000;

/// The pauses between the cancels of one order: at once first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pause {
    ms: u64,
    until_ms: u64,
}

impl Pause {
    pub(super) fn is_due(&self, now_ms: u64) -> bool {
        now_ms >= self.until_ms
    }

    /// Takes note of a cancel.
    pub(super) fn tried(&mut self, now_ms: u64) {
        self.ms = self.ms.saturating_mul(2).clamp(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
        self.until_ms = now_ms.saturating_add(self.ms);
    }
}
