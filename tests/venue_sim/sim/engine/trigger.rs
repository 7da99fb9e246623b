//! The life of trigger orders: firing on the mark, and the bond between a `normalTpsl` parent and its children.

use super::Engine;
use super::order::{Order, Spec, Stage, Status, Tif};
use super::settings::PartialParent;
use rust_decimal::Decimal;

/// How far from the mark a market trigger may trade, in percent.
const TRIGGER_SLIPPAGE_PCT: u32 = 10;

impl Engine {
    /// Places a `normalTpsl` request: the parent first, then its children, which wait until it has filled in full.
    pub(super) fn place_with_children(&mut self, specs: Vec<Spec>) -> Vec<Status> {
        let mut specs = specs.into_iter();
        let Some(spec) = specs.next() else { return Vec::new() };
        let asset = spec.asset;
        let status = self.place(spec.clone(), false);
        let mut statuses = vec![status.clone()];
        let parent_oid = match status {
            Status::Resting { oid, .. } | Status::Filled { oid, .. } => oid,
            // Without its parent nothing of the group is placed.
            refused => {
                statuses.extend(specs.map(|_| refused.clone()));
                return statuses;
            }
        };
        let live = self.children_live(parent_oid);
        let reference = if live == Some(true) { self.mark(asset) } else { spec.px };
        for child in specs {
            statuses.push(self.place_child(child, parent_oid, live, reference));
        }
        self.fire_triggers(asset);
        statuses
    }

    /// Whether the children of a parent just placed watch at once (`true`), wait (`false`), or are cancelled.
    fn children_live(&self, parent: u64) -> Option<bool> {
        if self.orders.contains_key(&parent) {
            return Some(false);
        }
        let in_full = self.records.get(&parent).is_some_and(|record| record.order.remaining.is_zero());
        (in_full || self.settings.partial_parent == PartialParent::Activate).then_some(true)
    }

    fn place_child(&mut self, spec: Spec, parent: u64, live: Option<bool>, reference: Decimal) -> Status {
        let mut order = Order::new(self.take_oid(), spec, self.now_ms);
        order.parent = Some(parent);
        if live != Some(true) {
            order.stage = Stage::Waiting;
        }
        let Some(trigger) = order.spec.trigger() else { return Status::WaitingForFill };
        if let Err(reject) = self.arm(&order, trigger, reference) {
            return self.refuse(&order, &reject);
        }
        match live {
            Some(true) => Status::WaitingForTrigger,
            Some(false) => Status::WaitingForFill,
            None => {
                self.end(order.oid, "canceled");
                Status::WaitingForFill
            }
        }
    }

    fn children(&self, parent: u64) -> Vec<u64> {
        self.orders.values().filter(|order| order.parent == Some(parent)).map(|order| order.oid).collect()
    }

    /// Follows an order that filled in full: its children wake, its siblings end.
    pub(super) fn after_filled(&mut self, order: &Order) {
        for oid in self.children(order.oid) {
            if let Some(child) = self.orders.get_mut(&oid) {
                child.stage = Stage::Armed;
            }
        }
        if let Some(parent) = order.parent {
            for oid in self.children(parent) {
                self.end(oid, "siblingFilledCanceled");
            }
        }
    }

    /// Follows an order that ended unfilled: its waiting children end with it, unless margin ended it after a part
    /// had filled, which places them as if all had.
    pub(super) fn after_parent_ended(&mut self, parent: u64, status: &'static str) {
        let partly = self.records.get(&parent).is_some_and(|record| record.order.remaining < record.order.spec.sz);
        for oid in self.children(parent) {
            let Some(child) = self.orders.get_mut(&oid) else { continue };
            if child.stage != Stage::Waiting {
                continue;
            }
            if status == "marginCanceled" && partly {
                child.stage = Stage::Armed;
            } else {
                self.end(oid, "canceled");
            }
        }
    }

    /// Fires every trigger of a market that the mark has met, oldest first.
    pub(super) fn fire_triggers(&mut self, asset: u32) {
        let mark = self.mark(asset);
        let met: Vec<u64> = self
            .orders
            .values()
            .filter(|order| order.stage == Stage::Armed && order.spec.asset == asset)
            .filter(|order| order.live_trigger().is_some_and(|trigger| trigger.met(order.spec.is_buy, mark)))
            .map(|order| order.oid)
            .collect();
        for oid in met {
            // An earlier one may have closed the position, and this one with it.
            if let Some(order) = self.orders.remove(&oid) {
                self.fire(order, mark);
            }
        }
    }

    /// Turns a trigger order into the order it stands for, under the same id.
    fn fire(&mut self, mut order: Order, mark: Decimal) {
        let Some(trigger) = order.live_trigger() else { return };
        order.triggered = true;
        order.stage = Stage::Resting;
        if order.spec.reduce_only {
            let room = self.reducible(order.spec.asset, order.spec.is_buy);
            let whole = order.spec.sz.is_zero();
            order.remaining = if whole { room } else { order.remaining.min(room) };
            if whole {
                order.spec.sz = room;
            }
        }
        if trigger.is_market {
            order.spec.px = self.slipped(order.spec.asset, order.spec.is_buy, mark);
        }
        self.record(&order, "triggered");
        if order.remaining.is_zero() {
            self.record(&order, "reduceOnlyCanceled");
            return;
        }
        self.trade_fired(order, trigger.is_market);
    }

    fn trade_fired(&mut self, mut order: Order, is_market: bool) {
        let (asset, is_buy) = (order.spec.asset, order.spec.is_buy);
        let take = self.take(asset, is_buy, order.spec.px, order.remaining);
        if is_market && take.sz.is_zero() {
            self.record(&order, "marketOrderNoLiquidityRejected");
            return;
        }
        if !order.spec.reduce_only && !self.can_trade(asset, is_buy, order.remaining, order.spec.px) {
            self.record(&order, "perpMarginRejected");
            return;
        }
        self.execute(&order, order.spec.px, &take);
        order.remaining -= take.sz;
        if order.remaining.is_zero() {
            self.record(&order, "filled");
            self.after_filled(&order);
        } else if is_market {
            self.record(&order, "canceled");
        } else {
            self.orders.insert(order.oid, order);
            self.after_position_changed(asset);
        }
    }

    /// The limit of a market trigger once it has fired: based anew on the mark.
    fn slipped(&self, asset: u32, is_buy: bool, mark: Decimal) -> Decimal {
        let slip = mark * Decimal::from(TRIGGER_SLIPPAGE_PCT) / Decimal::ONE_HUNDRED;
        let px = if is_buy { mark + slip } else { mark - slip };
        self.market(asset).map_or(px, |market| market.round_px(px, is_buy))
    }

    /// What a triggered order's time in force reads.
    pub(crate) fn tif_of(order: &Order) -> Option<Tif> {
        match order.spec.kind {
            super::order::Kind::Limit(tif) => Some(tif),
            super::order::Kind::Trigger(_) => order.triggered.then_some(Tif::Gtc),
        }
    }
}
