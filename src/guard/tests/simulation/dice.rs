//! Numbers from a seed: the same world on every machine.

use rust_decimal::Decimal;

pub(in crate::guard::tests) struct Dice(u64);

impl Dice {
    pub(in crate::guard::tests) fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// 0 to `sides - 1` (xorshift).
    pub(in crate::guard::tests) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides.max(1)
    }

    pub(in crate::guard::tests) fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    /// As [`Self::one_in`], and never for 0.
    pub(in crate::guard::tests) fn chance(&mut self, sides: u64) -> bool {
        sides > 0 && self.one_in(sides)
    }

    /// One of these.
    pub(in crate::guard::tests) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.roll(of.len() as u64)).unwrap()]
    }

    /// A factor within so many hundredths of a percent of one.
    pub(in crate::guard::tests) fn factor(&mut self, hundredths_pct: u64) -> Decimal {
        let spread = i64::try_from(self.roll(2 * hundredths_pct + 1)).unwrap_or_default();
        Decimal::new(10_000 - i64::try_from(hundredths_pct).unwrap_or_default() + spread, 4)
    }
}
