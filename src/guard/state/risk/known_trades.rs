//! The trades that the venue's answers told of, with their prices. What they moved of the cash is known, and what is gone
//! beside it was rather withdrawn than lost. No halt is decided here.

use crate::base::amount::percent_of;
use rust_decimal::{Decimal, dec};
use std::collections::{BTreeMap, VecDeque};

/// As long as a loss may be in doubt, with the reads before it.
const KEPT_MS: u64 = 60_000;

/// Fills kept at most: of what is left out nothing is known.
const MOST: usize = 2_000;

/// The venue's fees stay below this share of what was traded, percent.
const FEES_PCT: Decimal = dec!(0.1);

/// A fill that an answer told of.
#[derive(Debug, Clone, Copy)]
struct Fill {
    at_ms: u64,
    asset: u32,
    /// Signed.
    size: Decimal,
    px: Decimal,
}

/// What the trades of a time came to.
#[derive(Debug, Default)]
pub(crate) struct Traded {
    /// Signed size by market.
    pub(crate) sizes: BTreeMap<u32, Decimal>,
    /// USDC paid for it, with the most that fees can have come to; negative for what came in.
    pub(crate) paid: Decimal,
}

/// The last fills that answers told of.
#[derive(Debug, Default)]
pub(crate) struct KnownTrades {
    fills: VecDeque<Fill>,
    /// When something may have been traded last of which no answer told.
    unknown_ms: Option<u64>,
}

impl KnownTrades {
    /// Takes in a fill of this signed size.
    pub(crate) fn add(&mut self, at_ms: u64, asset: u32, size: Decimal, px: Decimal) {
        while self.fills.front().is_some_and(|fill| at_ms.saturating_sub(fill.at_ms) > KEPT_MS) {
            self.fills.pop_front();
        }
        if self.fills.len() >= MOST
            && let Some(lost) = self.fills.pop_front()
        {
            self.unknown(lost.at_ms);
        }
        self.fills.push_back(Fill { at_ms, asset, size, px });
    }

    /// Takes in that something may have been traded of which nothing is told.
    pub(crate) fn unknown(&mut self, at_ms: u64) {
        self.unknown_ms = self.unknown_ms.max(Some(at_ms));
    }

    /// What was traded after one time and up to another, by answers; `None` where that may not be all.
    pub(crate) fn between(&self, after_ms: u64, until_ms: u64) -> Option<Traded> {
        if self.unknown_ms >= Some(after_ms) || until_ms.saturating_sub(after_ms) > KEPT_MS {
            return None;
        }
        let mut traded = Traded::default();
        for fill in self.fills.iter().filter(|fill| fill.at_ms > after_ms && fill.at_ms <= until_ms) {
            let size = traded.sizes.entry(fill.asset).or_default();
            *size = size.saturating_add(fill.size);
            let paid = fill.size.saturating_mul(fill.px);
            let fees = percent_of(paid.abs(), FEES_PCT);
            traded.paid = traded.paid.saturating_add(paid).saturating_add(fees);
        }
        Some(traded)
    }
}
