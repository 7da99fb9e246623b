//! Moves of a position between two reads of the account, put down to the orders that were sent.

use super::key::Moment;
use super::ledger::SentOrders;
use super::order::SentOrder;
use crate::guard::state::view::{Resting, View};
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

impl SentOrders {
    /// The stops that the entries of one side were judged with, of those that may have filled.
    pub(crate) fn judged_stops(&self, view: &View, asset: u32, side: PositionSide) -> Vec<Decimal> {
        let opening = (asset, side.opening().is_buy(), false);
        let sent = self.orders.iter().chain(&self.unshown.fills);
        let sent = sent.filter(|order| (order.asset, order.is_buy, order.reduce_only) == opening);
        let resting = view.orders.values().filter(|order| (order.asset, order.is_buy, !order.is_entry()) == opening);
        let stops = sent.filter_map(|order| order.stop).map(|stop| stop.px);
        stops.chain(resting.filter_map(|order| order.child_stop_px)).filter(|px| *px > Decimal::ZERO).collect()
    }

    /// Settles against an account read. `moves` is by how much positions differ from the read before it, signed.
    pub(crate) fn on_account_read(&mut self, read: Moment, view: &View, moves: &BTreeMap<u32, Decimal>) {
        let moves = self.set_off_told(read, view, moves);
        for (asset, change) in &moves {
            // First what is known to have filled.
            let mut left = change.abs();
            for is_told in [true, false] {
                let is_its = |order: &&mut SentOrder| {
                    (order.asset, order.is_buy, order.is_told()) == (*asset, *change > Decimal::ZERO, is_told)
                };
                let orders = self.unshown.fills.iter_mut().chain(&mut self.orders);
                left = orders.filter(is_its).fold(left, |left, order| order.on_move(left));
            }
        }
        let is_over = |order: &SentOrder| order.is_settled_by(read);
        let (over, kept) = std::mem::take(&mut self.orders).into_iter().partition(is_over);
        self.orders = kept;
        let over: Vec<SentOrder> = over;
        over.into_iter().filter(SentOrder::is_told).for_each(|order| self.unshown.follow(order));
    }

    /// Puts the moves down to all that was told by then where they come to just that together, or with one order more that
    /// rested: fills in both directions between two reads show only what is left of both. Returns what is left of the moves.
    fn set_off_told(&mut self, read: Moment, view: &View, moves: &BTreeMap<u32, Decimal>) -> BTreeMap<u32, Decimal> {
        let mut told: BTreeMap<u32, Decimal> = BTreeMap::new();
        for order in self.orders.iter().filter(|order| order.is_told_before(read)) {
            let sum = told.entry(order.asset).or_default();
            *sum = sum.saturating_add(order.unmoved());
        }
        let mut left = moves.clone();
        for (asset, sum) in told {
            let rest = left.get(&asset).copied().unwrap_or_default().saturating_sub(sum);
            if rest.is_zero() || self.rested(view, asset, rest) {
                let explained = self.orders.iter_mut().filter(|order| order.asset == asset);
                explained.filter(|order| order.is_told_before(read)).for_each(SentOrder::take_all_told);
                left.insert(asset, rest);
            }
        }
        left.retain(|_, change| !change.is_zero());
        left
    }

    /// Whether an order of just this signed size rested by the last reads, and the price has come to it.
    fn rested(&self, view: &View, asset: u32, signed: Decimal) -> bool {
        let Some(price) = view.price(asset) else { return false };
        let is_it = |other: u32, is_buy: bool, size: Decimal| {
            (other, is_buy, size) == (asset, signed > Decimal::ZERO, signed.abs())
        };
        // A stop waits where a limit order of the other side would.
        let is_met = |px: Decimal, is_low: bool| if is_low { price <= px } else { price >= px };
        let is_filled = |order: &Resting| match order.stop_px {
            Some(px) => is_met(px, !order.is_buy),
            None => !order.is_trigger && is_met(order.px, order.is_buy),
        };
        view.orders.values().any(|order| is_it(order.asset, order.is_buy, order.size) && is_filled(order))
            || self.orders.iter().any(|order| {
                !order.is_told() && is_it(order.asset, order.is_buy, order.size) && is_met(order.px, order.is_buy)
            })
            || self.triggers.iter().any(|trigger| {
                let is_fired = trigger.stop_px.is_some_and(|px| is_met(px, !trigger.is_buy));
                is_it(trigger.asset, trigger.is_buy, trigger.size) && is_fired
            })
    }
}
