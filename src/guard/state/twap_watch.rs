//! The TWAP orders of an account that must be flat, as far as they are known. No interval brings their read: it is asked
//! for here, again and again, since another program may begin one at any time.

/// Between two reads while none runs.
const EVERY_MS: u64 = 30_000;

/// Between two reads while one runs, or nobody could say.
const AGAIN_MS: u64 = 10_000;

/// Between two reads where there is cause to look at once.
const APART_MS: u64 = 5_000;

/// Between an answer that shows none for the first time and the next: one alone is not believed.
const SECOND_MS: u64 = 2_000;

/// Answers that show none, one after another, by which none runs.
const ENOUGH: u8 = 2;

/// The TWAP orders of an account that must be flat.
#[derive(Debug, Clone, Default)]
pub(crate) struct TwapWatch {
    asked_ms: Option<u64>,
    /// There is cause to look before the interval is over.
    is_urgent: bool,
    /// How many ran at the last read that was answered.
    running: Option<usize>,
    /// How many answers in a row have shown none.
    none: u8,
    /// How many ran then in markets where no position can be closed.
    elsewhere: usize,
    /// Since when nobody can say whether one runs.
    unread_ms: Option<u64>,
    /// The failure was told of.
    is_told: bool,
}

impl TwapWatch {
    /// Whether they should be read now; asked once a read.
    pub(crate) fn ask(&mut self, now_ms: u64) -> bool {
        let pause_ms = match self.running {
            Some(0) if self.none < ENOUGH && self.unread_ms.is_none() => SECOND_MS,
            _ if self.is_urgent => APART_MS,
            Some(0) if self.unread_ms.is_none() => EVERY_MS,
            _ => AGAIN_MS,
        };
        if self.asked_ms.is_some_and(|asked_ms| now_ms.saturating_sub(asked_ms) < pause_ms) {
            return false;
        }
        (self.asked_ms, self.is_urgent) = (Some(now_ms), false);
        if self.running.is_none() {
            self.unread_ms.get_or_insert(now_ms);
        }
        true
    }

    /// Has them read at once: what was closed came back, or one was just cancelled.
    pub(crate) fn look_again(&mut self) {
        self.is_urgent = true;
    }

    /// Takes in how many run, and how many elsewhere.
    pub(crate) fn on_read(&mut self, running: usize, elsewhere: usize) {
        (self.running, self.elsewhere) = (Some(running), elsewhere);
        self.none = if running == 0 { self.none.saturating_add(1) } else { 0 };
        (self.unread_ms, self.is_told) = (None, false);
    }

    /// Takes in that they could not be read. Returns whether that is news.
    pub(crate) fn on_failure(&mut self, now_ms: u64) -> bool {
        self.unread_ms.get_or_insert(now_ms);
        !std::mem::replace(&mut self.is_told, true)
    }

    /// Whether the last answers showed none, and nothing has called for another since.
    pub(crate) fn is_clear(&self) -> bool {
        self.running == Some(0) && self.none >= ENOUGH && self.unread_ms.is_none() && !self.is_urgent
    }

    /// How many ran at the last answer.
    pub(crate) fn running(&self) -> usize {
        self.running.unwrap_or_default()
    }

    /// How many run, wherever; `None` where nobody can say.
    pub(crate) fn known(&self) -> Option<usize> {
        self.running.filter(|_| self.unread_ms.is_none()).map(|running| running.saturating_add(self.elsewhere))
    }

    /// Since when nobody can say whether one runs.
    pub(crate) fn unread_ms(&self) -> Option<u64> {
        self.unread_ms
    }
}
