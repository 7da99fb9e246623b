//! Whether an entry can be judged at all: kill switch, halts, shutdown, journal, and the age of the last reads. One file
//! a rule; `checks.rs` holds their order.

pub(crate) mod account_mode;
pub(crate) mod account_stale;
pub(crate) mod busy;
pub(crate) mod checks;
pub(crate) mod halted;
pub(crate) mod journal_error;
pub(crate) mod killed;
pub(crate) mod markets_changed;
pub(crate) mod price_stale;
pub(crate) mod starting;
pub(crate) mod stopping;
