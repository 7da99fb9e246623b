//! The MCP server for AI agents: JSON-RPC over standard input and output, trading only through a guard on this machine.
//!
//! It holds a client key and speaks the guard's HTTP API, so it can do what a bot can do and nothing more: rules,
//! clients, journals and the release of a kill are out of its reach, not merely unlisted. It knows no rule and judges
//! nothing; it reports the request, the answers of guard and venue, and the next step. It reads no
//! environment variable. Standard output carries protocol only.

mod answer;
mod args;
mod client_id;
mod context;
mod dispatch;
mod freshness;
mod guard_client;
mod lines;
mod log;
mod order;
mod outcome;
mod owner_rules;
mod protocol_version;
mod recent_actions;
mod records;
mod run_error;
mod sanitize;
mod schema;
mod send;
mod server;
mod settlement_view;
mod start;
mod status;
mod texts;
mod tools;
mod trade_outcome;
mod wire;

pub use guard_client::{GuardUrl, UrlError};
pub use owner_rules::{OwnerRules, ReadRules, RuleInWords};
pub use run_error::RunError;
pub use start::{Key, Options, run};

#[cfg(test)]
mod tests;
