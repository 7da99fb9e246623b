//! The answer of `GET /guard/equity`: the account's equity over time, where it was measured.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::amounts::known;

/// A part of what is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EquityPage {
    /// The version of the schema.
    pub schema: u32,
    /// How many minutes a point stands for at most.
    pub step: u64,
    /// Those asked for, oldest first.
    pub points: Vec<EquityPoint>,
    /// Where to ask on from, UTC ms; `None` where nothing is left.
    pub next: Option<u64>,
}

/// Minutes that follow each other, in each of which the equity was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EquityPoint {
    /// The start of the first of them, UTC ms.
    pub at_ms: u64,
    /// How many they are.
    pub minutes: u64,
    /// The last equity measured in them, USDC.
    #[serde(with = "known")]
    pub equity: Decimal,
    /// The lowest one.
    #[serde(with = "known")]
    pub low: Decimal,
    /// The highest one.
    #[serde(with = "known")]
    pub high: Decimal,
}
