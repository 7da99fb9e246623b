//! The threads and channels that carry requests, reads, sends and records to and from the pure core.
//!
//! ARCHITECTURE.md holds their map. What is decided about a request may not enter: that is the core's alone.

mod bootstrap;
mod decision_loop;
mod equity_keeper;
mod inbox_places;
mod kill_to_write;
mod message;
mod metrics;
mod on_commit;
mod preflight;
mod relay_hub;
mod reporting;
mod run;
mod server;
mod service_context;
mod thread;
mod triggers;
mod turned_away;
mod venue_io;

pub use bootstrap::days_loss;
pub use preflight::{ApiWallet, NO_ADDRESS, PreflightedService, RunError, journal_owner};
pub use reporting::level::Level;
pub use reporting::notify::Asked;
pub use venue_io::api_wallet_check;
pub use venue_io::spent_weight::note_key_check;
