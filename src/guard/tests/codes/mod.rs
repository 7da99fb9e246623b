//! Each code of a decision at its limit and one step past, a file a code. A code whose limit belongs to a longer story
//! has a test there whose name begins with it.

mod account_stale;
mod action_not_allowed;
mod at_limit;
mod bad_signature;
mod busy;
mod duplicate_order;
mod expired;
mod exposure_limit;
mod journal_error;
mod killed;
mod leverage_too_high;
mod loss_limit;
mod malformed;
mod margin_removal;
mod market_delisted;
mod market_not_allowed;
mod market_unknown;
mod named_alike;
mod nonce_out_of_window;
mod nonce_reused;
mod open_orders_limit;
mod open_risk_limit;
mod order_rate_limit;
mod order_unknown;
mod order_value_limit;
mod position_limit;
mod price_invalid;
mod price_stale;
mod size_invalid;
mod starting;
mod stopping;
mod trigger_entry_not_allowed;
mod venue_budget;
mod wrong_account;
mod wrong_network;
