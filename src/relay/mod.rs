//! Subscriptions passed through: who subscribes to what, which of it is held at the venue, and what goes to whom.
//!
//! Each subscription is held once at the venue however many clients have it. Frames are passed on as they came, byte for
//! byte, but for the address of a client that stands for the account. What a late client needs to begin with is kept. A
//! client that reads slowly is given the newest state in place of older ones; one that lets events pile up is closed.
//!
//! Pure: clients' wishes, the venue's frames and times come in, frames and what to do go out. No socket, clock or thread.

mod answers;
mod asking;
mod blamed;
mod client;
mod coins;
mod feed;
mod frame;
mod heard;
mod kind;
mod limits;
mod line;
mod messages;
mod queue;
mod room;
mod subscription;
mod suspects;
mod turns;
mod venue_side;

pub use frame::Frame;
pub use limits::Limits;
pub use line::OWN_LINE;
pub use messages::{ClientId, Config, Counts, Input, NotServed, Output, Told};
pub use room::Relay;

#[cfg(test)]
mod tests;
