//! Rules on a single entry: its market, its form, its price, its leverage and its stop. One file a rule; `checks.rs`
//! holds their order.

pub(crate) mod checks;
pub(crate) mod collar;
pub(crate) mod entry_cover;
pub(crate) mod known_mark;
pub(crate) mod leverage_too_high;
pub(crate) mod lower_leverage;
pub(crate) mod market;
pub(crate) mod market_delisted;
pub(crate) mod market_not_allowed;
pub(crate) mod market_unknown;
pub(crate) mod price_invalid;
pub(crate) mod requested_stop;
pub(crate) mod size_invalid;
pub(crate) mod trigger_entry_not_allowed;
