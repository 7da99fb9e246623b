//! The threads and channels that carry requests, reads, sends and records to and from the pure core.
//!
//! ARCHITECTURE.md holds their map. What is decided about a request may not enter: that is the core's alone.

pub mod agent;
mod desk;
mod door;
pub mod gate;
pub mod http;
mod intake;
mod log;
mod message;
mod metrics;
mod notify;
mod plan;
mod poller;
mod questions;
mod release;
mod ring;
mod routes;
mod run;
mod schedule;
mod sender;
mod shared;
pub mod thread;
mod told;
mod waits;
mod wake;
mod watch;
mod ws;

pub use log::Level;
pub use notify::Asked;
pub use plan::{ApiWallet, Prepared, RunError, journal_owner};
