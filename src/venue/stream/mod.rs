//! Frames of the venue's WebSocket: what is sent, and what comes, read with tolerance.
//!
//! A feed is no request: unknown keys are ignored, unknown kinds are named and left alone, and what cannot be read is an
//! error that says of which feed it was. Nothing here opens a socket, keeps time or remembers a frame.
//!
//! Sources: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/subscriptions> and
//! <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/timeouts-and-heartbeats>.

pub mod data;
pub mod events;
pub mod frame;
pub mod refusal;
pub mod topic;

#[cfg(test)]
#[path = "../../../tests/fuzz/venue_frame.rs"]
mod fuzz;
#[cfg(test)]
mod tests;
