//! The threads and channels that carry requests, reads, sends and records to and from the pure core.
//!
//! ARCHITECTURE.md holds their map. What is decided about a request may not enter: that is the core's alone.

mod clock;
mod desk;
pub mod gate;
pub mod http;
mod intake;
mod log;
mod message;
mod plan;
mod poller;
mod questions;
mod release;
mod ring;
mod routes;
mod run;
mod schedule;
mod sender;
pub mod thread;
mod watch;
mod ws;

pub use plan::{Plan, RunError};
pub use run::{journal_owner, run};
