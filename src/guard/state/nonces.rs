//! Nonces: the windows of the clients' and the guard's own sequence.

use std::collections::BTreeSet;

/// Nonces remembered for each client, as at the venue.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/nonces-and-api-wallets>.
pub(crate) const REMEMBERED: usize = 100;

/// How far back a nonce may lie, as at the venue.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/nonces-and-api-wallets>.
const BACK_MS: u64 = 2 * 24 * 60 * 60 * 1000;

/// How far ahead a nonce may lie, as at the venue.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/nonces-and-api-wallets>.
const AHEAD_MS: u64 = 24 * 60 * 60 * 1000;

/// The highest nonces of one client.
#[derive(Debug, Clone, Default)]
pub(crate) struct Window(BTreeSet<u64>);

/// Why a client's nonce was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NonceRefusal {
    /// It was used before.
    Reused,
    /// It lies too far back or ahead: outside these two.
    FarFromNow { oldest: u64, newest: u64 },
    /// It is below the lowest of those remembered, so it may have been used.
    BelowRemembered { lowest: u64 },
}

impl Window {
    /// Uses a nonce up.
    pub(crate) fn burn(&mut self, nonce: u64, now_ms: u64) -> Result<(), NonceRefusal> {
        let (oldest, newest) = (now_ms.saturating_sub(BACK_MS), now_ms.saturating_add(AHEAD_MS));
        if nonce < oldest || nonce > newest {
            return Err(NonceRefusal::FarFromNow { oldest, newest });
        }
        if self.0.contains(&nonce) {
            return Err(NonceRefusal::Reused);
        }
        match self.0.first() {
            Some(lowest) if self.0.len() >= REMEMBERED && nonce < *lowest => {
                Err(NonceRefusal::BelowRemembered { lowest: *lowest })
            }
            _ => {
                self.remember(nonce);
                Ok(())
            }
        }
    }

    /// The nonces remembered, lowest first.
    pub(crate) fn nonces(&self) -> &BTreeSet<u64> {
        &self.0
    }

    /// Remembers a nonce that was used before a restart.
    pub(crate) fn remember(&mut self, nonce: u64) {
        self.0.insert(nonce);
        if self.0.len() > REMEMBERED {
            self.0.pop_first();
        }
    }
}

/// The venue's clock may be this far behind what its answers told, and it takes nothing later than a day ahead of that: from here on
/// a nonce that a wrong clock gave out was hardly taken, and to go on above it would have everything refused.
const MARGIN_MS: u64 = 600_000;

/// The guard gives out no more nonces than this ahead of the venue's time, at one each millisecond.
const LEAD_MS: u64 = 60_000;

/// The guard's own nonces: strictly increasing milliseconds of the venue's time.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnNonces {
    last: u64,
    /// The highest ones, for when the last turn out to be of a clock that was days ahead.
    highest: BTreeSet<u64>,
}

impl OwnNonces {
    /// The next nonce at this time of the venue's; `None` where that is not known yet and the machine's own must do.
    ///
    /// Those ahead of the venue's time were given out by a clock gone wrong. While the venue takes what is higher still, the
    /// numbers go on above them: it refuses what is below a hundred that it took. Beyond that it would refuse every
    /// action, so they bind no longer.
    pub(crate) fn next(&mut self, venue_ms: Option<u64>, now_ms: u64) -> u64 {
        if let Some(venue_ms) = venue_ms {
            let ceiling = venue_ms.saturating_add(AHEAD_MS - MARGIN_MS);
            if self.last >= ceiling {
                self.highest.retain(|nonce| *nonce <= venue_ms.saturating_add(LEAD_MS));
                self.last = self.highest.last().copied().unwrap_or_default();
            }
        }
        let nonce = venue_ms.unwrap_or(now_ms).max(self.last.saturating_add(1));
        self.remember(nonce);
        nonce
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn remember(&mut self, nonce: u64) {
        self.last = self.last.max(nonce);
        self.highest.insert(nonce);
        if self.highest.len() > REMEMBERED {
            self.highest.pop_first();
        }
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
        assert_eq!(window.burn(NOW + 50, NOW), Err(NonceRefusal::Reused));
        assert_eq!(window.burn(NOW - 1, NOW), Err(NonceRefusal::BelowRemembered { lowest: NOW }));
        window.burn(NOW + 200, NOW).unwrap();
        // The lowest was pushed out: it can no longer be told from a new one, so it is below the window.
        assert_eq!(window.burn(NOW, NOW), Err(NonceRefusal::BelowRemembered { lowest: NOW + 1 }));
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
        let next = |own: &mut OwnNonces, venue_ms| own.next(Some(venue_ms), 1);
        let given = [10, 10, 5, 20].map(|venue_ms| next(&mut own, venue_ms));
        assert_eq!(given, [10, 11, 12, 20]);
        own.remember(100);
        assert_eq!(next(&mut own, 30), 101);
        assert_eq!(OwnNonces::default().next(None, 7), 7);
    }

    #[test]
    fn nonces_that_the_venue_cannot_have_taken_bind_no_longer() {
        let mut own = OwnNonces::default();
        own.remember(NOW - 5);
        let ceiling = NOW + AHEAD_MS - MARGIN_MS;
        own.remember(ceiling - 2);
        assert_eq!(own.next(Some(NOW), NOW), ceiling - 1, "that one may have been taken");
        assert_eq!(own.next(Some(NOW), NOW), ceiling);
        assert_eq!(own.next(Some(NOW), NOW), NOW, "more would be refused");
        own.remember(NOW + 2 * AHEAD_MS);
        assert_eq!(own.next(None, NOW), NOW + 2 * AHEAD_MS + 1, "nobody knows yet which clock is wrong");
        assert_eq!(own.next(Some(NOW), NOW), NOW + 1);
    }
}
