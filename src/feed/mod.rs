//! The guard's feed: which frames of the venue's socket can be believed, and what is done when they cannot.
//!
//! A feed that is silent and a market in which nothing happens look alike, so nothing is believed that does not prove itself:
//! a state is told again about every five seconds, the socket answers pings, and what has a time shows how late it is.
//! What failed to prove itself is polled, by whoever drives this room, for as long as that lasts.
//!
//! Pure: frames, times and what became of the socket come in, and what to do goes out. No socket, clock or thread.

mod backlog;
mod backoff;
mod heartbeat;
mod life;
mod limits;
mod markets;
mod messages;
mod session;
mod sockets;

pub(crate) use backoff::Backoff;
pub(crate) use heartbeat::Heartbeat;
pub use limits::Limits;
pub(crate) use limits::Rolling;
pub use messages::{Config, Counts, Input, Now, Output, Stage};
pub use sockets::Feed;

#[cfg(test)]
mod tests;
