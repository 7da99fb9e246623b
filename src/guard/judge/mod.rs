//! Judging: a request goes in, a plan or a veto comes out. One file a rule.
//!
//! The order of checks is fixed, and the first that fails decides: network, nonce, expiry, account, action type, kill
//! and risk state, admission, then each order in turn with budgets running down, then the limits of the whole action.
//! What can only reduce passes in every state and keeps its price and size.

pub(crate) mod admission;
pub(crate) mod cancel;
pub(crate) mod collar;
pub(crate) mod entry;
pub(crate) mod leverage;
pub(crate) mod market;
pub(crate) mod modify;
pub(crate) mod orders;
pub(crate) mod plan;
pub(crate) mod redundant_stops;
pub(crate) mod request;
pub(crate) mod single_use_cloid;
pub(crate) mod size;
pub(crate) mod stop;
pub(crate) mod throttle;
pub(crate) mod tick;
pub(crate) mod veto;
