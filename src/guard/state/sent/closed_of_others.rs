//! Closes of what was opened elsewhere. An order that can only reduce fills against a position alone: where the venue told that one
//! filled, and nothing read or sent can have been what it closed, something else opened that between two reads, and nothing of the
//! other side is held now.

use super::key::Moment;
use super::ledger::SentOrders;
use super::order::SentOrder;
use crate::guard::state::view::View;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

impl SentOrders {
    /// What the venue told to have filled in a market where `held`, signed, was read, as far as that does not show it, signed: without
    /// what closed a position that something else had opened.
    pub(crate) fn told(&self, view: &View, asset: u32, held: Decimal) -> Decimal {
        let orders = self.orders.iter().filter(|order| order.asset == asset);
        let told = orders.fold(Decimal::ZERO, |sum, order| sum.saturating_add(order.unshown()));
        told.saturating_sub(self.closed_of_others(view, asset, held))
    }

    /// How much of that closed a position that something else had opened, signed.
    pub(crate) fn closed_of_others(&self, view: &View, asset: u32, held: Decimal) -> Decimal {
        PositionSide::BOTH.into_iter().fold(Decimal::ZERO, |sum, side| {
            let closed = self.closed_beyond(view, (asset, side), held, |_| true);
            if side.closing().is_buy() { sum.saturating_add(closed) } else { sum.saturating_sub(closed) }
        })
    }

    /// The markets in which the venue told that an order filled which can only reduce.
    pub(crate) fn closing(&self) -> BTreeSet<u32> {
        let closes = self.orders.iter().filter(|order| order.reduce_only && order.is_told());
        closes.map(|order| order.asset).collect()
    }

    /// Takes closes of what something else had opened for shown by a read that is not older than they are: no position will ever
    /// show them. `moves` is by how much it shows positions changed, signed.
    pub(super) fn take_closed_of_others(&mut self, read: Moment, view: &View, moves: &BTreeMap<u32, Decimal>) {
        let closes = self.orders.iter().filter(|order| order.reduce_only && order.is_told_before(read));
        let assets: BTreeSet<u32> = closes.map(|order| order.asset).collect();
        for asset in assets {
            let change = moves.get(&asset).copied().unwrap_or_default();
            let held = view.position_read(asset).saturating_sub(change);
            for side in PositionSide::BOTH {
                let left = self.closed_beyond(view, (asset, side), held, |order| order.is_told_before(read));
                let is_its = |order: &&mut SentOrder| is_close_of(order, (asset, side)) && order.is_told_before(read);
                self.orders.iter_mut().filter(is_its).fold(left, |left, order| order.on_move(left, read.now_ms));
            }
        }
    }

    /// How much was told to be closed of one side by some orders, beyond all that can have been there: what was held, and what entries
    /// that were sent or rest have opened at the most.
    fn closed_beyond(
        &self,
        view: &View,
        (asset, side): (u32, PositionSide),
        held: Decimal,
        is_one: impl Fn(&SentOrder) -> bool,
    ) -> Decimal {
        let sum = |sizes: &mut dyn Iterator<Item = Decimal>| sizes.fold(Decimal::ZERO, Decimal::saturating_add);
        let closes = self.orders.iter().filter(|order| is_close_of(order, (asset, side)) && is_one(order));
        let closed = sum(&mut closes.map(|order| order.unshown().abs()));
        if closed.is_zero() {
            return Decimal::ZERO;
        }
        let opening = (asset, side.opening().is_buy(), false);
        let sent = self.orders.iter().chain(&self.unshown.fills);
        let sent = sent.filter(|order| (order.asset, order.is_buy, order.reduce_only) == opening);
        let resting = view.orders.values().filter(|order| (order.asset, order.is_buy, !order.is_entry()) == opening);
        let opened = sum(&mut sent.map(|order| order.unmoved().abs()).chain(resting.map(|order| order.size)));
        closed.saturating_sub(side.held(held)).saturating_sub(opened).max(Decimal::ZERO)
    }
}

/// Whether an order can only reduce this side of a market.
pub(super) fn is_close_of(order: &SentOrder, (asset, side): (u32, PositionSide)) -> bool {
    order.reduce_only && (order.asset, order.is_buy) == (asset, side.closing().is_buy())
}
