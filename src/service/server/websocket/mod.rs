//! WebSocket: the venue's `post` frames, answered in whatever order their answers come.
//!
//! A connection is served on the thread that it came in on. That thread waits for the socket and for answers at once,
//! so that a slow order never delays a cancel on the same socket. What a request means may not enter: it goes the way
//! of every other request.

mod connection;
mod frame;
mod goodbye;
mod outbox;
mod wire;

pub(super) use connection::{Sockets, serve};
