//! The live feed's news for the core, and the core's commands for the feed.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use crate::venue::stream::data::Data;
use crate::venue::stream::topic::Topic;

/// Something that the feed tells.
#[derive(Debug, Clone)]
pub enum FeedNews {
    /// From now on these can be believed, and no other feed of the account.
    Proved(BTreeSet<Topic>),
    /// A socket is subscribed: account and open orders must be read before its frames can be taken in.
    Opened {
        /// Its number.
        socket: u64,
    },
    /// A frame of the account.
    Told(Box<Data>),
    /// A frame that waits for reads tells of a trade.
    Traded,
    /// Prices of markets.
    Prices {
        /// Mark by coin.
        marks: BTreeMap<String, Decimal>,
        /// Mid by coin.
        mids: BTreeMap<String, Decimal>,
        /// Since when they hold at the earliest, UTC ms.
        begun_ms: u64,
    },
    /// How the feed is.
    Figures(FeedFigures),
}

/// How the feed is, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedFigures {
    /// How far it is.
    pub stage: &'static str,
    /// How late the newest state was, milliseconds.
    pub lag_ms: Option<u64>,
    /// Sockets that opened since the start.
    pub sockets: u64,
    /// Frames that came.
    pub frames: u64,
    /// Frames that could not be read, or were of another time or account.
    pub unusable: u64,
    /// Why the last socket ended.
    pub ended: Option<String>,
}

/// Something that the feed has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedCommand {
    /// Account and open orders were read for this socket.
    BaselineRead(u64),
    /// The venue has these coins.
    Universe(BTreeSet<String>),
    /// These coins are held, or have an order that rests.
    Wanted(BTreeSet<String>),
    /// What the socket tells cannot be: it ends for this reason.
    Distrust(&'static str),
    /// How often is read beside the feed.
    Pace(Pace),
}

/// What need not be read at its own interval, because the feed tells of it: an audit now and then is enough.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    /// Account, open orders and prices.
    pub steady: bool,
    /// What is read now and then beside them.
    pub beside: bool,
    /// Something has to go, or stays bare: what tells of that leaves nothing to the feed.
    pub pressing: bool,
}
