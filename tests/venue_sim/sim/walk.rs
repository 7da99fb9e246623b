//! Prices that move by themselves: a seeded random walk, the same for the same seed and number of steps.

use super::engine::Engine;
use rust_decimal::Decimal;

const STEP_EVERY_MS: u64 = 500;
/// Largest move in one step, in hundredths of a basis point.
const MAX_STEP: i64 = 200;
/// Steps made up for after a pause; a jump of the clock is not a run of prices.
const MAX_STEPS: u64 = 10;

/// The walk of every listed market.
pub(crate) struct Walk {
    state: u64,
    next_ms: u64,
}

impl Walk {
    pub(crate) fn new(seed: u64, now_ms: u64) -> Self {
        Self { state: seed, next_ms: now_ms.saturating_add(STEP_EVERY_MS) }
    }

    /// Takes the steps that have fallen due.
    pub(crate) fn step(&mut self, engine: &mut Engine) {
        for _ in 0..MAX_STEPS {
            if self.next_ms > engine.now_ms {
                return;
            }
            self.next_ms = self.next_ms.saturating_add(STEP_EVERY_MS);
            self.move_all(engine);
        }
        self.next_ms = engine.now_ms.saturating_add(STEP_EVERY_MS);
    }

    fn move_all(&mut self, engine: &mut Engine) {
        let listed: Vec<_> = engine.markets.iter().filter(|market| !market.delisted).cloned().collect();
        for market in listed {
            let span = u64::try_from(2 * MAX_STEP + 1).unwrap_or(1);
            let step = i64::try_from(self.next() % span).unwrap_or(0) - MAX_STEP;
            let moved = market.mid * (Decimal::ONE + Decimal::new(step, 6));
            let px = market.round_px(moved, step > 0);
            engine.set_price(market.name, px, px);
        }
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
