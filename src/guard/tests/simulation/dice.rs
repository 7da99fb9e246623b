//! Numbers from a seed: the same world on every machine.

use rust_decimal::Decimal;

pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// 0 to `sides - 1` (xorshift).
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides.max(1)
    }

    pub(super) fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    /// A factor within so many hundredths of a percent of one.
    pub(super) fn factor(&mut self, hundredths_pct: u64) -> Decimal {
        let spread = i64::try_from(self.roll(2 * hundredths_pct + 1)).unwrap_or_default();
        Decimal::new(10_000 - i64::try_from(hundredths_pct).unwrap_or_default() + spread, 4)
    }
}
