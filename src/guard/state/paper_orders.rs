//! Paper orders: what paper mode pretends to have placed.

use crate::base::address::Cloid;
use crate::guard::state::entry_leg::StopAt;
use crate::guard::state::view::View;
use crate::venue::order::{Order, OrderKind, Tif};
use crate::venue::side::Side;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Paper order ids start here, far above any that the venue gives, and stay exact in a double.
const FIRST_OID: u64 = 1 << 52;

/// Ids for the orders of one decision; more orders than this cannot be in one.
const OIDS_PER_DECISION: u64 = 1024;

/// Most paper orders kept; the oldest is forgotten first.
const MAX_ORDERS: usize = 1000;

/// A paper order that rests.
#[derive(Debug, Clone)]
pub(crate) struct PaperOrder {
    pub(crate) asset: u32,
    pub(crate) is_buy: bool,
    pub(crate) size: Decimal,
    pub(crate) px: Decimal,
    pub(crate) stop: Option<StopAt>,
    pub(crate) reduce_only: bool,
    pub(crate) is_trigger: bool,
    /// None for a trigger.
    pub(crate) tif: Option<Tif>,
    /// The entry that this stop hangs on.
    pub(crate) parent: Option<u64>,
    pub(crate) cloid: Option<Cloid>,
}

/// All paper orders.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paper {
    orders: BTreeMap<u64, PaperOrder>,
}

/// What paper mode says became of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaperOutcome {
    Resting(u64),
    Filled(u64, Decimal),
    /// An order that must fill at once but does not cross the mid.
    NoMatch,
}

impl Paper {
    /// Places the order at `place` of the decision `seq`: filled at the mid where it would cross it, resting otherwise.
    /// `parent` is the entry that a stop goes with, for as long as that rests.
    pub(crate) fn place(
        &mut self,
        (seq, place): (u64, usize),
        order: &Order,
        stop: Option<StopAt>,
        mid: Option<Decimal>,
        parent: Option<u64>,
    ) -> PaperOutcome {
        let place = u64::try_from(place).unwrap_or_default();
        let oid = FIRST_OID.saturating_add(seq.saturating_mul(OIDS_PER_DECISION)).saturating_add(place);
        if let OrderKind::Limit(tif) = order.kind {
            let mid = mid.filter(|mid| Side::of(order.is_buy).reaches(order.limit_px, *mid));
            match mid {
                Some(mid) if tif != Tif::Alo => return PaperOutcome::Filled(oid, mid),
                _ if tif.is_immediate() => return PaperOutcome::NoMatch,
                _ => {}
            }
        }
        if self.orders.len() >= MAX_ORDERS {
            self.orders.pop_first();
        }
        self.orders.insert(
            oid,
            PaperOrder {
                asset: order.asset,
                is_buy: order.is_buy,
                size: order.size,
                px: order.limit_px,
                stop,
                reduce_only: order.reduce_only,
                is_trigger: order.is_trigger(),
                tif: order.tif(),
                parent: parent.filter(|_| order.is_trigger()),
                cloid: order.cloid,
            },
        );
        PaperOutcome::Resting(oid)
    }

    /// Cancels a paper order, if there is one, and the stops that hang on it.
    pub(crate) fn cancel(&mut self, oid: u64) {
        self.orders.remove(&oid);
        self.orders.retain(|_, order| order.parent != Some(oid));
    }

    /// Takes a paper order away for another: what hung on it hangs on that one.
    pub(crate) fn replace(&mut self, oid: u64, by: Option<u64>) {
        let was = self.orders.remove(&oid);
        let heirs = self.orders.values_mut().filter(|order| order.parent == Some(oid));
        heirs.for_each(|order| order.parent = by);
        // A stop that is modified stays its entry's.
        if let (Some(was), Some(heir)) = (was, by.and_then(|by| self.orders.get_mut(&by))) {
            heir.parent = was.parent;
        }
    }

    /// The id of the paper order with this client order id.
    pub(crate) fn by_cloid(&self, cloid: &Cloid) -> Option<u64> {
        self.orders.iter().find(|(_, order)| order.cloid.as_ref() == Some(cloid)).map(|(oid, _)| *oid)
    }

    /// The order with this id.
    pub(crate) fn get(&self, oid: u64) -> Option<&PaperOrder> {
        self.orders.get(&oid)
    }

    /// The client order ids of all of them.
    pub(crate) fn cloids(&self) -> impl Iterator<Item = Cloid> {
        self.orders.values().filter_map(|order| order.cloid)
    }

    /// Drops the orders that the mid has crossed: they would have filled.
    pub(crate) fn cross(&mut self, view: &View) {
        self.orders.retain(|_, order| {
            let mid = view.mids.get(&order.asset);
            order.is_trigger || !mid.is_some_and(|mid| Side::of(order.is_buy).reaches(order.px, *mid))
        });
    }

    /// The orders that count as exposure.
    pub(crate) fn resting(&self) -> impl Iterator<Item = &PaperOrder> {
        self.resting_by_id().map(|(_, order)| order)
    }

    /// The same with their ids. Triggers are none of them: their parents' pretended fills leave nothing to protect.
    pub(crate) fn resting_by_id(&self) -> impl Iterator<Item = (u64, &PaperOrder)> {
        self.orders.iter().filter(|(_, order)| !order.is_trigger).map(|(oid, order)| (*oid, order))
    }
}
