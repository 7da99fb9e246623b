//! Equity by the minute, kept for ninety days: what one minute was measured as, the file of them, and the answer about it.
//!
//! A minute in which nothing was measured has no point, here and in every answer. No rule goes by any of this, and nothing
//! of the core, the journal, threads or clocks may enter.

mod point;
mod ring;
mod runs;
#[cfg(test)]
mod tests;

pub use point::{MINUTE_MS, Point};
pub use ring::{KEPT_MINUTES, Ring};
pub use runs::{Run, Runs};
