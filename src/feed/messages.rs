//! The feed's inputs and outputs.

use std::collections::BTreeSet;

use super::limits::Limits;
use crate::base::address::Address;
use crate::base::named_enum;
use crate::venue::stream::data::Data;
use crate::venue::stream::frame::{Frame, FrameError};
use crate::venue::stream::topic::Topic;

/// What does not change while the feed lives.
#[derive(Debug, Clone)]
pub struct Config {
    /// The guarded account.
    pub account: Address,
    /// What may be asked of the venue.
    pub limits: Limits,
    /// The markets that the rules name.
    pub ruled_markets: Vec<String>,
    /// From which waiting times are varied.
    pub seed: u64,
}

/// The time, by two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds of a clock that never steps: silence and pauses are measured with it.
    pub steady_ms: u64,
    /// The venue's time as well as it is known, UTC ms: frames' own times are compared with it.
    pub venue_ms: u64,
}

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Input {
    /// The socket is open.
    Connected,
    /// The socket could not be opened, or is no more.
    Closed,
    /// A frame came.
    Frame {
        /// What it is.
        frame: Result<Frame, FrameError>,
        /// How long its text was.
        bytes: usize,
    },
    /// Account, open orders and fills were read since [`Output::ReadBaseline`] asked for it.
    BaselineRead {
        /// Of which socket that was.
        socket: u64,
    },
    /// The markets that the venue trades, by coin.
    Universe(BTreeSet<String>),
    /// The markets with a position or a resting order, and those that a request has just named.
    Wanted(BTreeSet<String>),
    /// What the socket tells cannot be, as whoever takes it in has found: the socket is of no more use, for this reason.
    Distrusted(&'static str),
    /// Time passed. Wanted a few times a second, however many frames come: what is due is done then.
    Tick,
}

/// Something to do, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Open a socket; [`Input::Connected`] or [`Input::Closed`] follows.
    Connect,
    /// Send this text.
    Send(String),
    /// Close the socket, or give up opening it, for this reason. Nothing more of it is wanted.
    Close(&'static str),
    /// Read account, open orders and fills now: all that happened before this socket is in them.
    ReadBaseline {
        /// For which socket.
        socket: u64,
    },
    /// Something to take in.
    Tell(Data),
    /// A trade was told, and waits for what is read beside it: the account is worth a read of its own.
    Traded,
    /// From now on these can be believed, and what is not among them cannot. Markets are not listed: a price is as old as
    /// when it was told last.
    Proved(BTreeSet<Topic>),
}

named_enum! {
    /// How far the feed is.
    Stage {
        /// Waits before it tries again.
        Waiting = "waiting",
        /// A socket is being opened.
        Connecting = "connecting",
        /// Waits for the acknowledgement and the first frame of each feed of the account.
        Subscribing = "subscribing",
        /// Waits for what is read beside it; frames are kept.
        Reading = "reading",
        /// Frames are passed on as they come.
        Live = "live",
    }
}

/// What was counted since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sockets that opened.
    pub sockets: u64,
    /// Frames.
    pub frames: u64,
    /// Frames that could not be read.
    pub unreadable: u64,
    /// Frames of kinds that the guard does not follow.
    pub other: u64,
    /// Frames of another account, and of topics that were not asked for.
    pub unasked: u64,
    /// States whose own time is too far from the venue's, or before one that is known.
    pub untimely: u64,
    /// Subscriptions that were begun anew.
    pub renewed: u64,
    /// Refusals.
    pub refused: u64,
}
