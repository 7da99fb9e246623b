//! Whose turn it is to have a dex's list asked for: counted once for all that waits, however many wait for it.

use std::collections::{BTreeMap, BTreeSet};

use super::coins::LISTS;
use super::limits::Shared;
use super::messages::ClientId;

/// As it is until one more list is asked for.
#[derive(Debug, Default)]
pub(super) struct Turns {
    parts: BTreeMap<ClientId, usize>,
    now: BTreeSet<ClientId>,
    later: BTreeSet<ClientId>,
}

impl Turns {
    /// Counts a client in: how it shares, and what was asked for it; so many were asked for in all.
    pub(super) fn put(&mut self, client: ClientId, shared: Shared, taken: usize, own: usize) {
        let part = shared.part(LISTS);
        self.parts.insert(client, part);
        if shared.may_take(LISTS, taken, own) {
            self.now.insert(client);
        }
        if own < part {
            self.later.insert(client);
        }
    }

    /// The first of these whose turn it is.
    pub(super) fn first(&self, mut of: impl Iterator<Item = ClientId>) -> Option<ClientId> {
        if self.now.is_empty() { None } else { of.find(|client| self.now.contains(client)) }
    }

    /// Whether it will be one's of these.
    pub(super) fn may_later(&self, mut of: impl Iterator<Item = ClientId>) -> bool {
        of.any(|client| self.later.contains(&client))
    }

    pub(super) fn part(&self, client: ClientId) -> Option<usize> {
        self.parts.get(&client).copied()
    }
}
