//! Limits that fill up, one file a rule, each named like its code. Those on size are run by `fit_to_limits.rs`, which
//! cuts an entry until it breaks none; those on how much is asked for by `throttle.rs`, which refuses.

pub(crate) mod duplicate_order;
pub(crate) mod exposure_limit;
pub(crate) mod loss_limit;
pub(crate) mod open_exits_limit;
pub(crate) mod open_orders_limit;
pub(crate) mod open_risk_limit;
pub(crate) mod order_rate_limit;
pub(crate) mod order_value_limit;
pub(crate) mod position_limit;
pub(crate) mod venue_budget;
