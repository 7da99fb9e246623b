//! Matching: an incoming order against the synthetic book, and resting orders against a mid that moved.

use super::Engine;
use super::fill::{Origin, Trade};
use super::order::{Order, Stage};
use rust_decimal::Decimal;

/// What an incoming order would trade, best price first.
#[derive(Clone, Debug, Default)]
pub(super) struct Take {
    pub(super) parts: Vec<(Decimal, Decimal)>,
    pub(super) sz: Decimal,
    pub(super) notional: Decimal,
}

impl Take {
    /// Average price, cut to the price's decimals.
    pub(super) fn avg_px(&self, decimals: u32) -> Decimal {
        if self.sz.is_zero() { Decimal::ZERO } else { (self.notional / self.sz).trunc_with_scale(decimals) }
    }
}

impl Engine {
    /// What `sz` at `limit` or better would trade on the book now.
    pub(super) fn take(&self, asset: u32, is_buy: bool, limit: Decimal, sz: Decimal) -> Take {
        let mut take = Take::default();
        let Some(market) = self.market(asset) else { return take };
        for (px, depth) in market.levels(is_buy) {
            let left = sz - take.sz;
            if left.is_zero() || (is_buy && px > limit) || (!is_buy && px < limit) {
                break;
            }
            let part = left.min(depth);
            take.parts.push((px, part));
            take.sz += part;
            take.notional += part * px;
        }
        take
    }

    /// Does what [`take`](Self::take) found, after taking the account's own orders out of the way: an order never
    /// trades with its own account, the resting one is cancelled instead.
    pub(super) fn execute(&mut self, order: &Order, limit: Decimal, take: &Take) {
        let (asset, is_buy) = (order.spec.asset, order.spec.is_buy);
        let reach = if take.sz == order.remaining { take.parts.last().map_or(limit, |part| part.0) } else { limit };
        self.cancel_own_crossed(asset, is_buy, reach);
        for &(px, sz) in &take.parts {
            let trade = Trade { asset, is_buy, px, sz, crossed: true };
            self.book(trade, Origin::of(order.oid, &order.spec, order.twap_id));
        }
        if !take.parts.is_empty() {
            self.after_position_changed(asset);
        }
    }

    fn cancel_own_crossed(&mut self, asset: u32, is_buy: bool, reach: Decimal) {
        let crossed: Vec<u64> = self
            .orders
            .values()
            .filter(|order| order.stage == Stage::Resting && order.spec.asset == asset && order.spec.is_buy != is_buy)
            .filter(|order| if is_buy { order.spec.px <= reach } else { order.spec.px >= reach })
            .map(|order| order.oid)
            .collect();
        for oid in crossed {
            self.end(oid, "selfTradeCanceled");
        }
    }

    /// Fills the resting orders that the mid has reached, each at its own price, best price and oldest first. One
    /// move of the price offers one level's depth, so a shallow book fills an order in parts.
    pub(super) fn fill_crossed(&mut self, asset: u32) {
        let Some(market) = self.market(asset) else { return };
        let (mid, mut depth) = (market.mid, market.level_depth());
        let mut crossed: Vec<(Decimal, u64)> = self
            .orders
            .values()
            .filter(|order| order.stage == Stage::Resting && order.spec.asset == asset)
            .filter(|order| if order.spec.is_buy { mid <= order.spec.px } else { mid >= order.spec.px })
            .map(|order| ((order.spec.px - mid).abs(), order.oid))
            .collect();
        crossed.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, oid) in crossed {
            // An earlier fill may have ended or shrunk this order.
            let Some(order) = self.orders.get(&oid).cloned() else { continue };
            let sz = order.remaining.min(depth);
            if sz.is_zero() {
                continue;
            }
            if self.fill_resting(&order, sz) {
                depth -= sz;
            }
        }
    }

    /// Fills `sz` of a resting order at its limit; the margin is checked once more, and without it the order ends.
    fn fill_resting(&mut self, order: &Order, sz: Decimal) -> bool {
        let (oid, spec) = (order.oid, &order.spec);
        // Out of the book while checking, so that what it holds itself does not count against it.
        let Some(mut resting) = self.orders.remove(&oid) else { return false };
        if !self.can_trade(spec.asset, spec.is_buy, sz, spec.px) {
            self.orders.insert(oid, resting);
            self.end(oid, "marginCanceled");
            return false;
        }
        resting.remaining -= sz;
        let filled = resting.remaining.is_zero();
        if filled {
            self.record(&resting, "filled");
        } else {
            self.orders.insert(oid, resting);
        }
        let trade = Trade { asset: spec.asset, is_buy: spec.is_buy, px: spec.px, sz, crossed: false };
        self.book(trade, Origin::of(oid, spec, None));
        self.after_position_changed(spec.asset);
        if filled {
            self.after_filled(order);
        }
        true
    }
}
