//! The gate: the public listener, and everything that must be true of a request before a handler sees it.
//!
//! It bounds connections, heads, bodies and time, reads each request whole, refuses what comes from where it must not, and
//! passes the rest on: orders, kills and health checks to their handler on the connection's own thread, other requests to
//! the HTTP workers, WebSocket handshakes to the service that speaks with them. What a request means may not enter: the gate
//! reads no body.
//!
//! Connections are bounded, and a client has a share of them. Whoever is nobody's client gives way to a newcomer (`slots`), and
//! a connection takes a place only once it has something to say (`lobby`). So whoever leaks or hoards connections keeps no
//! kill, no order and no health check out.

mod admission;
mod answer;
mod connection;
mod context;
mod head;
mod io;
mod limits;
mod listener;
mod lobby;
mod refusal;
mod slots;
mod upgrade;
mod worker_client;

pub(super) use admission::Hosts;
pub(super) use context::{Handler, Setup};
pub(in crate::service) use limits::Limits;
pub(super) use listener::Gate;
pub(super) use slots::Slot;
pub(in crate::service) use slots::Slots;
pub(super) use upgrade::Upgrade;

#[cfg(test)]
mod tests;
