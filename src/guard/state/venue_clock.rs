//! The venue's time, as far as reads tell it: what nonces and expiries are counted in.
//!
//! The machine's clock may be wrong, and may be set right at any moment. Between two reads the venue's time goes on with
//! the machine's, but a leap of that one is not followed.

/// A longer pause than this between two steps is a leap of the clock, or a machine that slept: the next read tells.
const LEAP_MS: u64 = 10_000;

/// How old the venue's time may be in an answer that was made at once.
const LAG_MS: u64 = 2_000;

/// The venue's time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VenueClock {
    /// The venue's time at the last step; none before the first read.
    venue_ms: Option<u64>,
    /// The machine's time at the last step.
    now_ms: u64,
}

impl VenueClock {
    /// Goes on to this time of the machine's.
    pub(crate) fn advance(&mut self, now_ms: u64) {
        let passed_ms = now_ms.saturating_sub(self.now_ms).min(LEAP_MS);
        self.venue_ms = self.venue_ms.map(|venue_ms| venue_ms.saturating_add(passed_ms));
        self.now_ms = now_ms;
    }

    /// Takes in that the venue's time was `venue_ms` at some moment since `begun_ms`.
    pub(crate) fn read(&mut self, venue_ms: u64, begun_ms: u64) {
        let latest_ms = venue_ms.saturating_add(self.now_ms.saturating_sub(begun_ms)).saturating_add(LAG_MS);
        self.venue_ms = Some(self.venue_ms.unwrap_or(self.now_ms).clamp(venue_ms, latest_ms));
    }

    /// The venue's time; none before the first read.
    pub(crate) fn venue_ms(&self) -> Option<u64> {
        self.venue_ms
    }

    /// The venue's time, or the machine's before the first read.
    pub(crate) fn best_ms(&self) -> u64 {
        self.venue_ms.unwrap_or(self.now_ms)
    }

    /// A time that has passed by either clock.
    pub(crate) fn earliest_ms(&self) -> u64 {
        self.best_ms().min(self.now_ms)
    }

    /// A time that has not passed by one clock at least.
    pub(crate) fn latest_ms(&self) -> u64 {
        self.best_ms().max(self.now_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000_000;

    #[test]
    fn a_clock_that_is_right_is_left_alone() {
        let mut clock = VenueClock::default();
        clock.advance(NOW);
        assert_eq!((clock.venue_ms(), clock.best_ms()), (None, NOW));
        for (venue_ms, begun_ms) in [(NOW, NOW), (NOW - 50, NOW - 100), (NOW - 2_000, NOW - 10)] {
            clock.read(venue_ms, begun_ms);
            assert_eq!(clock.venue_ms(), Some(NOW));
        }
        clock.advance(NOW + 700);
        assert_eq!(clock.venue_ms(), Some(NOW + 700));
    }

    #[test]
    fn a_clock_that_is_wrong_is_corrected_and_its_leaps_are_not_followed() {
        let mut clock = VenueClock::default();
        clock.advance(NOW + 7_200_000);
        clock.read(NOW, NOW + 7_200_000);
        assert_eq!(clock.venue_ms(), Some(NOW + LAG_MS));
        // Set right.
        clock.advance(NOW + 5);
        assert_eq!(clock.venue_ms(), Some(NOW + LAG_MS));
        clock.advance(NOW + 105);
        assert_eq!(clock.venue_ms(), Some(NOW + LAG_MS + 100));
        // And set wrong again, by days.
        clock.advance(NOW + 200_000_000);
        assert_eq!(clock.venue_ms(), Some(NOW + LAG_MS + 100 + LEAP_MS));
        assert_eq!((clock.earliest_ms(), clock.latest_ms()), (NOW + 12_100, NOW + 200_000_000));
        // A machine that is behind.
        clock.advance(NOW - 3_600_000);
        clock.read(NOW + 20_000, NOW - 3_600_000);
        assert_eq!((clock.earliest_ms(), clock.latest_ms()), (NOW - 3_600_000, NOW + 20_000));
    }
}
