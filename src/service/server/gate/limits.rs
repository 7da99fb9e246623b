//! The bounds of a connection.

use std::time::Duration;

/// The bounds of connections, in number and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) struct Limits {
    /// Connections with something to say at one moment, upgraded ones included.
    pub(in crate::service) connections: usize,
    /// How many of these may wait for an HTTP worker at once.
    pub(in crate::service) asking: usize,
    /// How many of these are kept for clients, in equal parts. The rest, less those above, is for orders without a client,
    /// of which few wait, kills and health checks.
    pub(in crate::service) signed: usize,
    /// Bytes that those on which no client signed may keep between them: of what has not come in whole, and of answers that are
    /// not taken.
    pub(in crate::service) unsigned_bytes: usize,
    /// Connections besides that have said nothing yet, and as many that wait for a place.
    pub(super) silent: usize,
    /// How long one waits for a place.
    pub(super) place: Duration,
    /// How long a connection may stay between two requests.
    pub(super) idle: Duration,
    /// From a request's first byte to its last.
    pub(super) receive: Duration,
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
            connections: 128,
            asking: 48,
            signed: 64,
            unsigned_bytes: 4 * 1024 * 1024,
            silent: 256,
            place: Duration::from_secs(2),
            idle: Duration::from_secs(75),
            receive: Duration::from_secs(10),
            answer: Duration::from_secs(30),
            write: Duration::from_secs(5),
            linger: Duration::from_secs(2),
            tick: Duration::from_millis(250),
        }
    }
}
