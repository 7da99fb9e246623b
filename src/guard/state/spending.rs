//! Counts each action as it sets out: against the account's allowance, and reduce-only orders for who placed them.

use crate::guard::state::guard::Guard;
use crate::guard::state::intent::{Intent, Role};
use crate::venue::order::Tif;
use std::collections::BTreeSet;

impl Guard {
    /// Counts the send of an intent's action against the account's allowance.
    pub(in crate::guard) fn count_send(&mut self, intent: &Intent, index: usize) {
        if let Some(planned) = intent.actions.get(index) {
            self.allowance.on_send(intent.client, planned.requests());
        }
    }

    /// Remembers whose the reduce-only orders are that an intent may come to rest.
    pub(in crate::guard) fn note_exit_owners(&mut self, intent: &Intent) {
        let Some(client) = intent.client else { return };
        let forwards = intent.actions.iter().filter(|planned| planned.role == Role::Forward);
        let orders = forwards.flat_map(|planned| planned.action.orders());
        let resting = orders.filter(|order| order.reduce_only && !order.tif().is_some_and(Tif::is_immediate));
        self.exit_owners.extend(resting.filter_map(|order| Some((order.cloid?, client))));
    }

    /// Forgets those of orders that rest no more.
    pub(in crate::guard) fn forget_exit_owners(&mut self) {
        let read = self.view.orders.values().filter_map(|order| order.cloid);
        let on_their_way = self.sent.exits_on_their_way().flatten();
        let open: BTreeSet<_> = read.chain(on_their_way).collect();
        self.exit_owners.retain(|cloid, _| open.contains(cloid));
    }
}
