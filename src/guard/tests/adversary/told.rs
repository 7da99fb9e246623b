//! The knowledge that the guard was given so far: a promise that needs knowledge binds it only where it has that knowledge.

use crate::venue::info::OpenOrder;
use std::collections::{BTreeMap, BTreeSet};

/// What the guard was told.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Sends whose answer it has not heard.
    pub(super) unheard: BTreeSet<(u64, usize)>,
    /// The venue's time of the state that the last read of the account showed, and when the last one of the open orders began.
    pub(super) account_ms: u64,
    pub(super) orders_ms: u64,
    /// The orders that the last read of them showed to rest, without triggers, and when one last missed one of them: it may
    /// have filled, as far as reads of the account tell that began before.
    pub(super) resting: BTreeSet<u64>,
    pub(super) missed_ms: u64,
    /// When the venue last did something that nobody had asked it to do just then: a fill of what rested.
    pub(super) unasked_ms: u64,
    /// When the feed told of the open orders last; the time that its newest state of the account is of, and that of the prices.
    pub(super) orders_told_ms: u64,
    pub(super) as_of_ms: u64,
    pub(super) mids_ms: u64,
    /// When it last heard how a send ended.
    pub(super) heard_ms: u64,
    /// Decisions taken while it knew everything, each with the time of what the venue had last done unasked.
    pub(super) sure: BTreeMap<u64, u64>,
}

impl Told {
    /// A read of the open orders shows these.
    pub(super) fn orders_read(&mut self, orders: &[OpenOrder], now_ms: u64) {
        let resting = orders.iter().filter(|order| !order.is_trigger).map(|order| order.oid).collect();
        if !self.resting.is_subset(&resting) {
            self.missed_ms = now_ms;
        }
        self.resting = resting;
    }

    /// Whether it knows of everything that happened.
    pub(super) fn is_all(&self) -> bool {
        self.unheard.is_empty() && self.unasked_ms < self.account_ms && self.unasked_ms < self.orders_ms
    }

    /// Whether this decision was taken knowing everything, and nothing has happened since.
    pub(super) fn is_sure(&self, intent: u64) -> bool {
        self.sure.get(&intent) == Some(&self.unasked_ms)
    }
}
