//! Counts each action as it sets out: against the account's allowance, and reduce-only orders for who placed them.

use crate::base::address::{Address, Cloid};
use crate::guard::state::guard::Guard;
use crate::guard::state::intent::{Intent, Role};
use crate::guard::state::own_cloid::is_guard_stop;
use crate::venue::action::Action;
use crate::venue::order::{Order, Tif};
use std::collections::{BTreeMap, BTreeSet};

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
        forwards.for_each(|planned| self.note_exits_of(client, &planned.action));
    }

    /// Remembers that the reduce-only orders of an action that may come to rest are this client's.
    pub(in crate::guard) fn note_exits_of(&mut self, client: Address, action: &Action) {
        let rests = |order: &&Order| order.reduce_only && !order.tif().is_some_and(Tif::is_immediate);
        let cloids = action.orders().filter(rests).filter_map(|order| order.cloid);
        self.exit_owners.extend(cloids.filter(|cloid| !is_guard_stop(cloid)).map(|cloid| (cloid, client)));
    }

    /// Forgets those of orders that rest no more, and wait behind no entry.
    pub(in crate::guard) fn forget_exit_owners(&mut self) {
        let children = self.view.orders.values().flat_map(|order| &order.order.children);
        let children = children.filter_map(|child| child.cloid);
        let read = self.view.orders.values().filter_map(|order| order.cloid);
        let on_their_way = self.sent.exits_on_their_way().flatten();
        let open: BTreeSet<_> = read.chain(children).chain(on_their_way).collect();
        self.exit_owners.retain(|cloid, _| open.contains(cloid));
    }

    /// The reduce-only orders that rest, by the client that placed them, for the next life.
    pub(in crate::guard) fn exits_by_client(&self) -> BTreeMap<Address, Vec<Cloid>> {
        let mut by_client: BTreeMap<Address, Vec<Cloid>> = BTreeMap::new();
        for (cloid, client) in &self.exit_owners {
            by_client.entry(*client).or_default().push(*cloid);
        }
        by_client
    }
}
