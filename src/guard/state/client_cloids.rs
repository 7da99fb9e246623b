//! The client order ids that clients chose: an order under one of them is the bot's.

use crate::base::address::Cloid;
use std::collections::{BTreeSet, VecDeque};

/// Client order ids remembered as the clients' own; the oldest is forgotten first.
const MAX_CLIENT_CLOIDS: usize = 10_000;

/// The client order ids that clients chose, oldest forgotten first.
#[derive(Debug, Default)]
pub(crate) struct ClientCloids {
    order: VecDeque<Cloid>,
    known: BTreeSet<Cloid>,
}

impl ClientCloids {
    pub(crate) fn insert(&mut self, cloid: Cloid) {
        if !self.known.insert(cloid) {
            return;
        }
        self.order.push_back(cloid);
        if self.order.len() > MAX_CLIENT_CLOIDS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// The last `count` of them.
    pub(crate) fn last(&self, count: usize) -> Vec<Cloid> {
        self.order.iter().skip(self.order.len().saturating_sub(count)).copied().collect()
    }

    pub(crate) fn contains(&self, cloid: &Cloid) -> bool {
        self.known.contains(cloid)
    }
}
