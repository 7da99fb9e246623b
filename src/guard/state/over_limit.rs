//! The memory of the over-limit watch: since when the reads show more than a limit allows, and what was done about it.

/// A cancel that changed nothing is tried again after a pause that doubles from one of these to the other.
const FIRST_PAUSE_MS: u64 = 2_000;
const LONGEST_PAUSE_MS: u64 = 60_000;

/// One time of being over a limit.
#[derive(Debug, Clone, Default)]
pub(crate) struct OverLimit {
    /// Since when; none while all fits.
    pub(crate) since_ms: Option<u64>,
    /// Only reads that began since then tell whether it still is so.
    pub(crate) reads_since_ms: u64,
    /// They told.
    pub(crate) is_confirmed: bool,
    /// A read of the open orders was asked for.
    pub(crate) is_asked: bool,
    /// The event of the last cancel.
    pub(crate) intent: Option<u64>,
    /// The entries that were open then.
    entries: usize,
    pause_ms: u64,
    not_before_ms: u64,
}

impl OverLimit {
    /// Whether another cancel may go out; pauses grow while the entries grow no fewer.
    pub(crate) fn is_due(&self, now_ms: u64) -> bool {
        now_ms >= self.not_before_ms
    }

    /// Takes note of a cancel, sent for the event `intent` while so many entries were open.
    pub(crate) fn cancelled(&mut self, intent: u64, entries: usize, now_ms: u64) {
        let is_fewer = self.intent.is_none() || entries < self.entries;
        let longer_ms = if is_fewer { 0 } else { self.pause_ms.saturating_mul(2) };
        self.pause_ms = longer_ms.clamp(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
        (self.intent, self.entries) = (Some(intent), entries);
        self.not_before_ms = now_ms.saturating_add(self.pause_ms);
        self.look_again(now_ms);
    }

    /// From here on only new reads count.
    pub(crate) fn look_again(&mut self, now_ms: u64) {
        (self.reads_since_ms, self.is_asked) = (now_ms, false);
    }
}
