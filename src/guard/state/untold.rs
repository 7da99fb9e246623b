//! Requests that were refused without an event of their own, to be told of by one `decision` event together.

/// What was not told yet.
#[derive(Debug, Default)]
pub(crate) struct Untold {
    count: u64,
    /// The code of the last one.
    code: &'static str,
    /// When some were last told of.
    told_ms: u64,
}

/// At most one event in so long.
const EVERY_MS: u64 = 1_000;

impl Untold {
    /// Takes note of refusals.
    pub(crate) fn add(&mut self, count: u64, code: &'static str) {
        self.count = self.count.saturating_add(count);
        self.code = code;
    }

    /// How many are to be told of now, and the last one's code.
    pub(crate) fn take(&mut self, now_ms: u64) -> Option<(u64, &'static str)> {
        if self.count == 0 || now_ms.saturating_sub(self.told_ms) < EVERY_MS {
            return None;
        }
        self.told_ms = now_ms;
        Some((std::mem::take(&mut self.count), self.code))
    }
}
