//! The one ledger of what was sent and is not shown yet: orders, triggers and cancels.
//!
//! From the moment a decision is taken its orders count, until reads that began late enough show them or their
//! absence. A read that began before the venue answered proves nothing. Every event of a send (reserved, answered, never
//! sent, settled, read) reaches the ledger once, and the ledger all three kinds.

pub(crate) mod cancel;
mod cancelling;
mod cause;
mod closed_of_others;
mod elsewhere;
mod fills;
mod fired;
mod gone;
pub(crate) mod key;
pub(crate) mod ledger;
mod lost;
mod moves;
pub(crate) mod order;
mod pause;
mod recovered;
mod replaced;
pub(crate) mod trigger;
pub(crate) mod unshown;
