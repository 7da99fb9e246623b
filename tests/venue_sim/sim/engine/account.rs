//! The account: cash, positions, and the leverage set for each market.

use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Leverage of one market.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Leverage {
    pub(crate) is_cross: bool,
    pub(crate) value: u32,
}

/// An open position.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    /// Base units, negative when short.
    pub(crate) szi: Decimal,
    pub(crate) entry_px: Decimal,
    /// The cash side of an isolated position; a cross position's is the account's.
    pub(crate) isolated_usd: Option<Decimal>,
    /// Funding paid since the position was opened.
    pub(crate) funding_since_open: Decimal,
}

impl Position {
    pub(crate) fn is_long(&self) -> bool {
        self.szi.is_sign_positive()
    }

    pub(crate) fn unrealized_pnl(&self, mark: Decimal) -> Decimal {
        self.szi * (mark - self.entry_px)
    }
}

/// The account.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// Cash of the cross side: deposits, less what longs cost, plus what shorts brought.
    pub(crate) cross_usd: Decimal,
    pub(crate) positions: BTreeMap<u32, Position>,
    pub(crate) leverage: BTreeMap<u32, Leverage>,
    /// Notional traded since the venue started.
    pub(crate) volume: Decimal,
    /// Requests counted against the account since the venue started.
    pub(crate) requests: u64,
    /// Funding paid over all time, by market.
    pub(crate) funding: BTreeMap<u32, Decimal>,
}

impl Account {
    pub(crate) fn new(equity: Decimal) -> Self {
        Self {
            cross_usd: equity,
            positions: BTreeMap::new(),
            leverage: BTreeMap::new(),
            volume: Decimal::ZERO,
            requests: 0,
            funding: BTreeMap::new(),
        }
    }
}
