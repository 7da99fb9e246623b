//! The MCP server for AI agents: JSON-RPC over standard input and output, trading only through a guard on this machine.
//!
//! It holds a client key and speaks the guard's HTTP API, so it can do what a bot can do and nothing more: rules,
//! clients, journals and the release of a kill are out of its reach, not merely unlisted. It knows no rule and judges
//! nothing; it says what was asked, what the guard and the venue made of it, and what to do next. It reads no
//! environment variable. Standard output carries protocol only.

mod answer;
mod args;
mod clean;
mod client_id;
mod desk;
mod dispatch;
mod era;
mod fate;
mod link;
mod order;
mod outcome;
mod records;
mod run;
mod schema;
mod send;
mod sight;
mod status;
mod tools;
mod wire;
mod words;

pub use link::{GuardUrl, UrlError};
pub use run::{Key, Options, RunError, run};

#[cfg(test)]
mod tests;
