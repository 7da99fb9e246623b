//! The promises that are held against the venue's own state.

/// One promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Promise {
    /// A position does not stay bare for longer than a read and a send take.
    Covered,
    /// The cover of a position never moves away from the price while the position lasts.
    StopStays,
    /// What one market loses if its stops are hit is within `loss_per_trade`.
    LossPerTrade,
    /// The same of all markets together and `open_risk`.
    OpenRisk,
    /// What one market could come to hold is within `position`, however its orders fill.
    Position,
    /// The same of all markets together and `exposure`.
    Exposure,
    /// No more entries rest than `open_orders`.
    OpenOrders,
    /// No more exits rest than leave room for the guard's own stops.
    OpenExits,
    /// A kill ends flat.
    KillEndsFlat,
    /// A loss beyond the limits ends flat.
    LossEndsFlat,
    /// An exit that the venue would take is sent at once, at its price and size.
    ExitIsSent,
    /// Only what trades is sent, for the account itself, and nothing that opens after a kill.
    Authority,
    /// Nothing is opened while the open orders are not known.
    NothingUnread,
    /// What neither opens nor closes anything has no right of way.
    RightOfWay,
    /// What is sent is an action as the venue writes it.
    WellFormed,
    /// Every nonce is used once.
    Nonces,
    /// What waits is not sent any more once a cancel has named it.
    CancelIsHeard,
    /// A decision tells of no stop as attached that it does not send.
    ToldTruly,
}

/// A promise that was broken, and how.
#[derive(Debug, Clone)]
pub(super) struct Broken {
    pub(super) promise: Promise,
    pub(super) text: String,
}

impl Promise {
    pub(super) fn broken(self, text: String) -> Broken {
        Broken { promise: self, text }
    }
}
