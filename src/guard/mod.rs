//! The pure core: judges requests, keeps the view of the account and decides what is sent.
//!
//! One function drives it: [`Guard::step`] takes an input and the time, and returns effects. There is no clock, no
//! I/O, no randomness and no thread in this room, so that a seeded simulation can drive it through any schedule.

mod alerts;
pub mod book;
mod builder;
mod care;
mod clock;
mod close;
pub mod code;
pub mod config;
mod cover;
mod decide;
mod doubt;
pub mod effect;
mod event;
mod flatten;
mod gauges;
mod headroom;
mod held_back;
pub mod input;
mod intent;
mod judge;
mod nonce;
mod once;
mod own;
mod paper;
mod pending;
mod pretend;
mod protect;
mod reopen;
mod reply;
mod restore;
mod risk;
mod settle;
mod signer;
mod state;
mod status;
mod step;
mod view;
mod watch;

#[cfg(test)]
mod tests;

pub use code::Code;
pub use config::{Config, Mode};
pub use effect::{Answer, Decided, Deed, Effects, Keys, Read, Record, RiskRecord, SendAction, Urgency};
pub use event::KINDS;
pub use gauges::{ALERTS, Gauges, Money, OWNERS, RISK_STATES};
pub use input::{Input, Request, RequestBody, SendOutcome, Via};
pub use once::ONCE_PREFIX;
pub use pending::is_derived;
pub use reply::{Verdict, unrecorded};
pub use state::Guard;
