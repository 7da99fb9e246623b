//! The room's inputs and outputs.

use super::heard::Heard;
use super::limits::Limits;
use crate::base::address::Address;

/// A client's connection.
pub type ClientId = u64;

/// What does not change while the relay lives.
#[derive(Debug, Clone)]
pub struct Config {
    /// The guarded account.
    pub account: Address,
    /// The addresses of the clients' keys, which stand for the account.
    pub clients: Vec<Address>,
    /// What may be asked of the venue.
    pub limits: Limits,
    /// From which waiting times are varied.
    pub seed: u64,
}

/// A longer frame is passed on to nobody: it would fill a client's queue by itself.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// A frame of the venue's, read before it is given in: that takes as long as the frame is.
#[derive(Debug)]
pub struct Told<'a> {
    pub(super) text: &'a str,
    /// The venue's time when it came.
    pub(super) venue_ms: u64,
    /// `None` for what cannot be read.
    pub(super) heard: Option<Heard<'a>>,
}

impl<'a> Told<'a> {
    /// Reads a frame that came at this time of the venue's.
    #[must_use]
    pub fn read(text: &'a str, venue_ms: u64) -> Self {
        Self { text, venue_ms, heard: if text.len() > MOST_BYTES { None } else { Heard::read(text) } }
    }
}

/// Something that happened on one line to the venue.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// The socket is open.
    Connected,
    /// The socket could not be opened, or is no more.
    Closed,
    /// A frame came.
    Frame(&'a Told<'a>),
    /// Time passed, or a client wants something.
    Tick,
}

/// Something to do on one line, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Open a socket; [`Input::Connected`] or [`Input::Closed`] follows.
    Connect,
    /// Send this text.
    Send(String),
    /// Close the socket.
    Close,
}

/// The venue has no such feed, or not with these options: its own refusal quotes the whole frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotServed;

/// What was counted since the start, and what is held now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Clients that subscribe.
    pub clients: usize,
    /// Their subscriptions.
    pub held: usize,
    /// Subscriptions at the venue.
    pub subscriptions: usize,
    /// Sockets to the venue that are open.
    pub open: usize,
    /// Sockets to the venue that opened.
    pub sockets: u64,
    /// Frames that came from the venue.
    pub frames: u64,
    /// Frames that nobody could be given: unreadable, or of nothing that is subscribed to.
    pub unusable: u64,
    /// Frames given to clients.
    pub passed: u64,
    /// States that a newer one took the place of before a client read them.
    pub replaced: u64,
    /// Clients closed because events piled up.
    pub slow: u64,
    /// Subscriptions that were refused.
    pub refused: u64,
}
