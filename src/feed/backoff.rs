//! How long to wait before the next socket: longer each time, and not all guards at once.

const FIRST_MS: u64 = 250;
const LONGEST_MS: u64 = 10_000;

/// The pauses between sockets.
#[derive(Debug)]
pub(crate) struct Backoff {
    pause_ms: u64,
    random: u64,
}

impl Backoff {
    pub(crate) fn new(seed: u64) -> Self {
        Self { pause_ms: FIRST_MS, random: seed }
    }

    /// The next pause: doubled each time, less up to a quarter.
    pub(crate) fn next_ms(&mut self) -> u64 {
        let pause_ms = self.pause_ms;
        self.pause_ms = pause_ms.saturating_mul(2).min(LONGEST_MS);
        let quarter = pause_ms.div_euclid(4).max(1);
        pause_ms.saturating_sub(self.random().rem_euclid(quarter))
    }

    /// A socket served well: the next one is tried for soon.
    pub(crate) fn reset(&mut self) {
        self.pause_ms = FIRST_MS;
    }

    /// The next number of the SplitMix64 sequence.
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_ten_seconds_and_vary() {
        let mut backoff = Backoff::new(1);
        for most_ms in [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000] {
            let pause_ms = backoff.next_ms();
            assert!(pause_ms <= most_ms && pause_ms > most_ms * 3 / 4, "{pause_ms} of {most_ms}");
        }
        backoff.reset();
        assert!(backoff.next_ms() <= 250);
        let of = |seed| Backoff::new(seed).next_ms();
        assert!((0..20).any(|seed| of(seed) != of(seed + 1)));
    }
}
