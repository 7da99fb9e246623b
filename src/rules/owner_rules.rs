//! The owner's rules as values, with their defaults.

use rust_decimal::Decimal;

use super::markets::Markets;

/// One owner's rules. A value of this type is always within the documented ranges when it came from
/// [`Rules::from_code`], [`Rules::from_toml`] or [`Rules::default`].
///
/// Percentages are of equity (capped by the owner's equity cap) unless the field says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Markets in which entries are allowed.
    pub markets: Markets,
    /// Percent of equity lost if one market's stop is hit. Range 0.01 to 100.
    pub loss_per_trade: Decimal,
    /// Percent of equity lost if every stop is hit. Range 0.01 to 100.
    pub open_risk: Decimal,
    /// Percent of the day's starting equity at which the daily loss stop fires. Range 0.01 to 100.
    pub daily_loss: Decimal,
    /// Percent below the peak equity at which the drawdown halt fires. Range 0.01 to 100.
    pub drawdown: Decimal,
    /// Percent from the mid beyond which an entry's price is pulled back. Range 0.01 to 50.
    pub collar: Decimal,
    /// Percent from the price at which the guard attaches a stop. Range 0.05 to 50, at most `max_stop`.
    pub stop: Decimal,
    /// Percent from the price: the widest stop allowed. Range 0.05 to 50.
    pub max_stop: Decimal,
    /// Highest leverage setting of a market. Range 1 to 100.
    pub leverage: u32,
    /// Percent of equity: one market's notional. Range 1 to 10000.
    pub position: Decimal,
    /// Percent of equity: the gross notional of all markets. Range 1 to 10000.
    pub exposure: Decimal,
    /// USDC: one order's notional, unlimited when `None`. Range 10 to 1000000000.
    pub order_value: Option<Decimal>,
    /// Entries a minute. Range 1 to 1200.
    pub orders_per_minute: u32,
    /// Open entries at one time. Range 1 to 1000.
    pub open_orders: u32,
    /// Seconds within which an identical entry is a duplicate; 0 turns the check off. Range 0 to 3600.
    pub duplicate_window: Decimal,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            markets: Markets::All,
            loss_per_trade: Decimal::TWO,
            open_risk: Decimal::from_parts(6, 0, 0, false, 0),
            daily_loss: Decimal::from_parts(5, 0, 0, false, 0),
            drawdown: Decimal::from_parts(15, 0, 0, false, 0),
            collar: Decimal::from_parts(5, 0, 0, false, 1),
            stop: Decimal::TWO,
            max_stop: Decimal::from_parts(5, 0, 0, false, 0),
            leverage: 5,
            position: Decimal::ONE_HUNDRED,
            exposure: Decimal::from_parts(300, 0, 0, false, 0),
            order_value: None,
            orders_per_minute: 60,
            open_orders: 50,
            duplicate_window: Decimal::ONE,
        }
    }
}

impl Rules {
    /// The duplicate window in milliseconds.
    #[must_use]
    pub fn duplicate_window_ms(&self) -> u64 {
        // In range the product is a whole number up to 3,600,000; a window from outside the range counts as none.
        self.duplicate_window
            .checked_mul(Decimal::ONE_THOUSAND)
            .and_then(|ms| u64::try_from(ms.trunc()).ok())
            .unwrap_or(0)
    }
}
