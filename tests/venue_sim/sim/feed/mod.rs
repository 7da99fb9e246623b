//! `/ws`: the venue's live feed, as its sockets are served.
//!
//! Every subscription that the venue is known to serve, with its first message, its later ones, its acknowledgements
//! and its refusals; only the undocumented book deltas (`l2`) are left out. What happens is pushed before the venue's
//! lock is let go, all of one request in one message of each feed, in the order in which they were subscribed to.
//!
//! Where nobody knows what the venue does, the choice here: a limit on sockets is answered 429, one on messages and
//! subscriptions with a sentence in the style of the one that is known; a client that reads nothing is cut when its
//! queue is full; state feeds do not hurry when something has happened (`feed_state_at_once` makes them); a coin that
//! is not listed drops the socket whatever its feed (`feed_unknown_coin_drops`).

mod connection;
mod deflate;
mod happened;
mod hear;
mod hub;
mod kinds;
mod limits;
pub(crate) mod line;
mod markets;
mod slices;
mod states;
mod strike;
mod subscription;
pub(crate) mod troubles;

pub(crate) use hear::{Heard, Post, hear, unread};
pub(crate) use hub::{Feeds, admit, publish, send, shut};
pub(crate) use strike::strike;
