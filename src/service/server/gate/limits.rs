//! The bounds of a connection.

use std::time::Duration;

/// The bounds of connections, in number and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) struct Limits {
    /// Connections at one moment, upgraded ones included.
    pub(in crate::service) connections: usize,
    /// How many of these places are reserved: one request each and no upgrade.
    pub(in crate::service) reserved: usize,
    /// How long a connection may stay between two requests.
    pub(super) idle: Duration,
    /// From a request's first byte to its last.
    pub(super) receive: Duration,
    /// The same in a reserved place, from the connection on.
    pub(super) receive_reserved: Duration,
    /// For a worker's answer.
    pub(super) answer: Duration,
    /// For the client to take an answer.
    pub(super) write: Duration,
    /// For the rest of a request that was refused before its end.
    pub(super) linger: Duration,
    /// How late a deadline or a shutdown may be noticed.
    pub(super) tick: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 64,
            reserved: 8,
            idle: Duration::from_secs(75),
            receive: Duration::from_secs(10),
            receive_reserved: Duration::from_secs(2),
            answer: Duration::from_secs(30),
            write: Duration::from_secs(5),
            linger: Duration::from_secs(2),
            tick: Duration::from_millis(250),
        }
    }
}
