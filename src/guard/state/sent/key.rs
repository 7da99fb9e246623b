//! Where an order or cancel stands among what was sent, and how much is known of it.

use crate::guard::state::view::View;

/// Where an order or cancel stands among what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SentKey {
    /// The event that names it; 0 for an order that vanished from the open orders.
    pub(crate) intent: u64,
    /// The action in the event.
    pub(crate) index: usize,
    /// The order or cancel in the action.
    pub(crate) slot: usize,
}

impl SentKey {
    /// Whether it belongs to this action of this event.
    pub(crate) fn is_of(&self, (intent, index): (u64, usize)) -> bool {
        (self.intent, self.index) == (intent, index)
    }

    /// Whether it belongs to an action of this event from `from_index` on.
    pub(crate) fn is_from(&self, intent: u64, from_index: usize) -> bool {
        self.intent == intent && self.index >= from_index
    }
}

/// A moment by both clocks: the machine's, and the venue's as far as it is known. Of a read, when it began and the block
/// that it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) now_ms: u64,
    pub(crate) venue_ms: u64,
}

impl Moment {
    /// That of the last read of the account.
    pub(crate) fn of_account(view: &View) -> Option<Self> {
        view.account.as_ref().map(|account| Self { now_ms: account.begun_ms, venue_ms: account.venue_ms })
    }
}

/// How much is known of an order that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No answer yet, or none that says anything.
    Unanswered,
    /// Accepted at this time: an orders read begun since shows it, or shows that it is gone.
    Accepted(u64),
    /// Filled or gone by this moment: an account read that began since and shows no earlier block tells what it did.
    Closed(Moment),
}

impl Phase {
    /// Whether the order may still be open.
    pub(crate) fn is_open(self) -> bool {
        !matches!(self, Phase::Closed(_))
    }

    /// Whether an orders read that began at `begun_ms` tells the truth about it.
    pub(crate) fn is_answered_by(self, begun_ms: u64) -> bool {
        matches!(self, Phase::Accepted(at_ms) if begun_ms >= at_ms)
    }
}
