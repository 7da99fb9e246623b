//! A time of which the book of money may lack rows. Nothing that finds them may stand here.

use super::money::Fill;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// A time of which rows may be missing in the book.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Lack {
    /// When the first of them would be, UTC ms; `None` where that is not known.
    pub from_ms: Option<u64>,
    /// When the last of them would be.
    pub to_ms: Option<u64>,
    /// The market whose fills are missing, where its position says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coin: Option<String>,
    /// What the position moved by in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Decimal>,
}

impl Lack {
    /// Rows of these times, of any market.
    #[must_use]
    pub fn between(from_ms: Option<u64>, to_ms: Option<u64>) -> Self {
        Self { from_ms, to_ms, ..Self::default() }
    }

    /// Takes in a fill that is on record now; whether it was the last of those that are missing.
    pub fn take(&mut self, fill: &Fill) -> bool {
        let Some(after) = fill.position_after.filter(|_| self.spans(&fill.coin, fill.time)) else { return false };
        let Some(size) = &mut self.size else { return false };
        *size = size.saturating_sub(after.saturating_sub(fill.position_before));
        size.is_zero()
    }

    /// Whether a fill of this market and time may be one of those that are missing.
    fn spans(&self, coin: &str, time_ms: u64) -> bool {
        let is_within = |from_ms, to_ms| (from_ms..=to_ms).contains(&time_ms);
        self.coin.as_deref() == Some(coin)
            && self.from_ms.zip(self.to_ms).is_some_and(|(from_ms, to_ms)| is_within(from_ms, to_ms))
    }
}
