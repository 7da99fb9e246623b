//! Nonces: the windows of the clients' and the guard's own sequence.

use std::collections::BTreeSet;

use super::code::Code;

/// Nonces remembered for each client, as at the venue.
pub(super) const REMEMBERED: usize = 100;
/// How far back a nonce may lie.
const BACK_MS: u64 = 2 * 24 * 60 * 60 * 1000;
/// How far ahead a nonce may lie.
const AHEAD_MS: u64 = 24 * 60 * 60 * 1000;

/// The highest nonces of one client.
#[derive(Debug, Clone, Default)]
pub(super) struct Window(BTreeSet<u64>);

impl Window {
    /// Uses a nonce up.
    pub(super) fn burn(&mut self, nonce: u64, now_ms: u64) -> Result<(), (Code, String)> {
        let (oldest, newest) = (now_ms.saturating_sub(BACK_MS), now_ms.saturating_add(AHEAD_MS));
        if nonce < oldest || nonce > newest {
            let text = format!("nonce {nonce} is outside {oldest} to {newest}; use the time in milliseconds");
            return Err((Code::NonceOutOfWindow, text));
        }
        if self.0.contains(&nonce) {
            return Err((Code::NonceReused, format!("nonce {nonce} was used before; use a new one")));
        }
        match self.0.first() {
            Some(lowest) if self.0.len() >= REMEMBERED && nonce < *lowest => {
                let text =
                    format!("nonce {nonce} is below {lowest}, the lowest of the last {REMEMBERED}; use a new one");
                Err((Code::NonceOutOfWindow, text))
            }
            _ => {
                self.remember(nonce);
                Ok(())
            }
        }
    }

    /// The nonces remembered, lowest first.
    pub(super) fn nonces(&self) -> &BTreeSet<u64> {
        &self.0
    }

    /// Remembers a nonce that was used before a restart.
    pub(super) fn remember(&mut self, nonce: u64) {
        self.0.insert(nonce);
        if self.0.len() > REMEMBERED {
            self.0.pop_first();
        }
    }
}

/// The guard's own nonces: strictly increasing milliseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnNonces {
    last: u64,
}

impl OwnNonces {
    pub(super) fn next(&mut self, now_ms: u64) -> u64 {
        self.last = now_ms.max(self.last.saturating_add(1));
        self.last
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    pub(super) fn remember(&mut self, nonce: u64) {
        self.last = self.last.max(nonce);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000_000;

    #[test]
    fn a_window_holds_the_hundred_highest() {
        let mut window = Window::default();
        for nonce in NOW..NOW + 100 {
            window.burn(nonce, NOW).unwrap();
        }
        assert_eq!(window.burn(NOW + 50, NOW).unwrap_err().0, Code::NonceReused);
        assert_eq!(window.burn(NOW - 1, NOW).unwrap_err().0, Code::NonceOutOfWindow);
        window.burn(NOW + 200, NOW).unwrap();
        // The lowest was pushed out: it can no longer be told from a new one, so it is below the window.
        assert_eq!(window.burn(NOW, NOW).unwrap_err().0, Code::NonceOutOfWindow);
    }

    #[test]
    fn two_days_back_and_one_ahead() {
        for (nonce, fits) in
            [(NOW - BACK_MS, true), (NOW - BACK_MS - 1, false), (NOW + AHEAD_MS, true), (NOW + AHEAD_MS + 1, false)]
        {
            assert_eq!(Window::default().burn(nonce, NOW).is_ok(), fits, "{nonce}");
        }
    }

    #[test]
    fn own_nonces_increase_when_the_clock_does_not() {
        let mut own = OwnNonces::default();
        assert_eq!((own.next(10), own.next(10), own.next(5), own.next(20)), (10, 11, 12, 20));
        own.remember(100);
        assert_eq!(own.next(30), 101);
    }
}
