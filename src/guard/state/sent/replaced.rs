//! Which order a modify by client order id has replaced: the venue does not say, and several may have had the id.

use super::cancel::SentCancel;
use super::key::SentKey;
use super::ledger::SentOrders;
use crate::base::address::Cloid;
use crate::guard::state::view::{Resting, View};
use crate::venue::action::Target;
use crate::venue::reply::{Reply, Status};

impl SentOrders {
    /// Learns which exit a modify by client order id has replaced: the only order that is known to have had it, where none is on its
    /// way that may have had it too.
    pub(super) fn resolve_replaced(&mut self, key: (u64, usize), reply: &Reply, view: &View) {
        for place in 0..self.cancels.len() {
            let Some(SentCancel { key: of, target: Target::Cloid(cloid), .. }) = self.cancels.get(place) else {
                continue;
            };
            let has_replaced = matches!(reply.status(of.slot), Status::Resting(_) | Status::Filled(..));
            if !of.is_of(key) || !has_replaced {
                continue;
            }
            let mut known: Vec<&Resting> = view.orders.values().chain(self.resting()).collect();
            known.retain(|order| order.cloid == Some(*cloid) && !self.is_done(order.oid));
            known.sort_unstable_by_key(|order| order.oid);
            known.dedup_by_key(|order| order.oid);
            let is_named = |other: SentKey, id: Option<Cloid>| !other.is_of(key) && id == Some(*cloid);
            let mut orders = self.orders.iter().filter(|order| order.oid.is_none() && is_named(order.key, order.cloid));
            let triggers = self.triggers.iter().filter(|trigger| trigger.resting.is_none());
            let mut triggers = triggers.filter(|trigger| is_named(trigger.key, trigger.cloid));
            if orders.next().is_some() || triggers.next().is_some() {
                continue;
            }
            if let [only] = known.as_slice()
                && only.reduce_only
                && !only.is_trigger
            {
                let oid = only.oid;
                self.cancels.get_mut(place).into_iter().for_each(|cancel| cancel.target = Target::Oid(oid));
            }
        }
    }

    /// Whether the venue said that it took this order away.
    fn is_done(&self, oid: u64) -> bool {
        self.cancels.iter().any(|cancel| cancel.done.is_some() && cancel.target == Target::Oid(oid))
    }
}
