//! Judging: a request goes in, a plan or a veto comes out. One file a rule, each named like its code.
//!
//! The order of checks is fixed, and the first that fails decides: network, nonce, expiry, account (`request.rs`), action
//! type (`action.rs`), kill and risk state, age of the reads (`admission/`), then each order in turn with budgets running
//! down (`orders.rs`, `modify.rs`, `entry/`), then the limits of the whole action (`throttle.rs`). An order that can only
//! reduce passes in every state and keeps its price and size.

pub(crate) mod action;
pub(crate) mod action_not_allowed;
pub(crate) mod admission;
pub(crate) mod attached_stops;
pub(crate) mod cancel;
pub(crate) mod cancel_by_id;
pub(crate) mod cancelled;
pub(crate) mod closing_part;
pub(crate) mod context;
pub(crate) mod entry;
pub(crate) mod exit;
pub(crate) mod fair_part;
pub(crate) mod fit_to_limits;
pub(crate) mod following_stops;
pub(crate) mod guard_order;
pub(crate) mod head;
pub(crate) mod left_out;
pub(crate) mod limits;
pub(crate) mod liquidation;
pub(crate) mod margin_removal;
pub(crate) mod modify;
pub(crate) mod nothing_to_reduce;
pub(crate) mod order_unknown;
pub(crate) mod orders;
pub(crate) mod plan;
pub(crate) mod redundant_stops;
pub(crate) mod request;
pub(crate) mod requested_stops;
pub(crate) mod reserved_cloid;
pub(crate) mod settings;
pub(crate) mod single_use_cloid;
pub(crate) mod size_limit;
pub(crate) mod stop;
pub(crate) mod stop_loosened;
pub(crate) mod throttle;
mod unequal_siblings;
pub(crate) mod veto;
