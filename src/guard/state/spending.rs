//! Counts each action as it sets out: against the account's allowance, and orders that may rest for who placed them.

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
            self.allowance.on_send(intent.client, planned.price());
        }
    }

    /// Remembers whose the orders are that an intent may come to rest.
    pub(in crate::guard) fn note_order_owners(&mut self, intent: &Intent) {
        let Some(client) = intent.client else { return };
        let forwards = intent.actions.iter().filter(|planned| planned.role == Role::Forward);
        forwards.for_each(|planned| self.note_orders_of(client, &planned.action));
    }

    /// Remembers that the orders of an action that may come to rest are this client's. Whose the entries are tells nothing
    /// where there is one client alone.
    pub(in crate::guard) fn note_orders_of(&mut self, client: Address, action: &Action) {
        let with_entries = self.config.clients.len() > 1;
        let rests = |order: &&Order| (order.reduce_only || with_entries) && !order.tif().is_some_and(Tif::is_immediate);
        let cloids = action.orders().filter(rests).filter_map(|order| order.cloid);
        self.order_owners.extend(cloids.filter(|cloid| !is_guard_stop(cloid)).map(|cloid| (cloid, client)));
    }

    /// Forgets those of orders that rest no more, and wait behind no entry.
    pub(in crate::guard) fn forget_order_owners(&mut self) {
        let children = self.view.orders.values().flat_map(|order| &order.order.children);
        let children = children.filter_map(|child| child.cloid);
        let read = self.view.orders.values().filter_map(|order| order.cloid);
        let on_their_way = self.sent.open().filter(|order| !order.is_immediate).filter_map(|order| order.cloid);
        let on_their_way = on_their_way.chain(self.sent.trigger_cloids()).chain(self.paper.cloids());
        let open: BTreeSet<_> = read.chain(children).chain(on_their_way).collect();
        self.order_owners.retain(|cloid, _| open.contains(cloid));
    }

    /// The orders that rest, by the client that placed them, for the next life.
    pub(in crate::guard) fn orders_by_client(&self) -> BTreeMap<Address, Vec<Cloid>> {
        let mut by_client: BTreeMap<Address, Vec<Cloid>> = BTreeMap::new();
        for (cloid, client) in &self.order_owners {
            by_client.entry(*client).or_default().push(*cloid);
        }
        by_client
    }
}
