//! Placing orders: the checks on the whole batch, the checks on each order, and what then happens to it.

use super::Engine;
use super::matching::Take;
use super::order::{Grouping, Kind, Order, Reject, Spec, Stage, Status, Tif, Trigger};
use super::reduce::Excess;
use super::settings::{BadPrice, MetTrigger, Oversized, PartialGtc, ReduceOnlyMinimum, TriggerLimit, TriggerReply};
use rust_decimal::Decimal;

const MIN_NOTIONAL_USD: u32 = 10;
/// Each time this much has been traded, one more order may be open, up to [`MOST_OPEN_ORDERS`].
const VOLUME_PER_ORDER_USD: u32 = 5_000_000;
const MOST_OPEN_ORDERS: u64 = 5_000;

impl Engine {
    /// Places a request's orders: one status each, or a single one when the batch fails as a whole.
    pub(crate) fn place_batch(&mut self, specs: Vec<Spec>, grouping: Grouping) -> Vec<Status> {
        if let Err(text) = self.check_batch(&specs, grouping) {
            return vec![Status::Error(text)];
        }
        if grouping == Grouping::NormalTpsl {
            return self.place_with_children(specs);
        }
        specs.into_iter().map(|spec| self.place(spec, grouping == Grouping::PositionTpsl)).collect()
    }

    /// What the payload alone (and the reference price) decides; nothing has happened when it fails.
    fn check_batch(&self, specs: &[Spec], grouping: Grouping) -> Result<(), String> {
        if specs.is_empty() {
            return Err("Orders are empty.".into());
        }
        check_grouping(specs, grouping)?;
        for spec in specs {
            let whole_position = grouping == Grouping::PositionTpsl && spec.reduce_only;
            if spec.sz.is_zero() && !whole_position {
                return Err("Order has zero size.".into());
            }
            let Some(market) = self.market(spec.asset) else { continue };
            if !market.sz_valid(spec.sz) {
                return Err("Order has invalid size.".into());
            }
            if self.settings.bad_price == BadPrice::Batch && !market.px_valid(spec.px) {
                return Err("Order has invalid price.".into());
            }
            if !self.settings.price_band_per_order
                && let Err(reject) = self.check_band(spec)
            {
                return Err(reject.text());
            }
        }
        Ok(())
    }

    fn check_band(&self, spec: &Spec) -> Result<(), Reject> {
        let Some(pct) = self.settings.price_band_pct else { return Ok(()) };
        let mark = self.mark(spec.asset);
        let low = mark * (Decimal::ONE - pct / Decimal::ONE_HUNDRED);
        let high = mark * self.settings.price_band_upper;
        if spec.px < low || spec.px > high { Err(Reject::PriceBand(pct)) } else { Ok(()) }
    }

    /// Places one order.
    pub(super) fn place(&mut self, spec: Spec, position_tpsl: bool) -> Status {
        let mut order = Order::new(self.take_oid(), spec, self.now_ms);
        order.position_tpsl = position_tpsl;
        self.place_order(order)
    }

    /// Places one slice of a TWAP order.
    pub(super) fn place_for_twap(&mut self, spec: Spec, twap_id: u64) -> Status {
        let mut order = Order::new(self.take_oid(), spec, self.now_ms);
        order.twap_id = Some(twap_id);
        self.place_order(order)
    }

    /// Places an order that has its id and its family.
    pub(super) fn place_order(&mut self, mut order: Order) -> Status {
        let placed = match order.spec.kind {
            Kind::Limit(tif) => self.place_limit(&mut order, tif),
            Kind::Trigger(trigger) => {
                let waits_for = order.parent.filter(|_| order.stage == Stage::Waiting);
                let parent_px = waits_for.and_then(|parent| self.orders.get(&parent)).map(|parent| parent.spec.px);
                let reference = parent_px.unwrap_or_else(|| self.mark(order.spec.asset));
                self.arm(&order, trigger, reference).map(|()| self.trigger_reply(&order))
            }
        };
        let asset = order.spec.asset;
        let status = placed.unwrap_or_else(|reject| self.refuse(&order, &reject));
        self.fire_triggers(asset);
        status
    }

    /// Remembers a refused order and words its refusal.
    pub(super) fn refuse(&mut self, order: &Order, reject: &Reject) -> Status {
        self.record(order, reject.status());
        Status::Error(self.reject_text(order.spec.asset, reject))
    }

    pub(super) fn reject_text(&self, asset: u32, reject: &Reject) -> String {
        let text = reject.text();
        if self.settings.asset_suffix && !matches!(reject, Reject::Told(_)) {
            format!("{text} asset={asset}")
        } else {
            text
        }
    }

    /// The checks that every order passes, whatever its kind.
    fn check_order(&self, spec: &Spec) -> Result<(), Reject> {
        let market = self.market(spec.asset).ok_or(Reject::UnknownAsset)?;
        if market.delisted {
            return Err(Reject::Delisted);
        }
        if !market.px_valid(spec.px) || spec.trigger().is_some_and(|trigger| !market.px_valid(trigger.px)) {
            return Err(Reject::Tick);
        }
        if self.settings.price_band_per_order {
            self.check_band(spec)?;
        }
        self.check_open_orders(spec)
    }

    /// Reduce-only and trigger orders stop at the base limit; others go on by what the account has traded.
    fn check_open_orders(&self, spec: &Spec) -> Result<(), Reject> {
        let open = u64::try_from(self.orders.len()).unwrap_or(u64::MAX);
        let base = self.settings.open_orders_limit;
        let earned = u64::try_from((self.volume() / Decimal::from(VOLUME_PER_ORDER_USD)).trunc()).unwrap_or(0);
        let limit = if spec.reduce_only || spec.trigger().is_some() {
            base
        } else {
            base.saturating_add(earned).min(base.max(MOST_OPEN_ORDERS))
        };
        if open >= limit { Err(Reject::TooManyOrders) } else { Ok(()) }
    }

    fn check_notional(&self, spec: &Spec) -> Result<(), Reject> {
        let px = spec.trigger().map_or(spec.px, |trigger| trigger.px);
        if spec.sz * px >= Decimal::from(MIN_NOTIONAL_USD) {
            return Ok(());
        }
        let exempt = spec.reduce_only
            && match self.settings.min_notional_reduce_only {
                ReduceOnlyMinimum::CloseExempt => spec.sz >= self.szi(spec.asset).abs(),
                ReduceOnlyMinimum::Exempt => true,
                ReduceOnlyMinimum::Rejected => false,
            };
        if exempt { Ok(()) } else { Err(Reject::MinNotional) }
    }

    /// Places a limit order: fills what crosses, rests or drops the remainder by its time in force.
    pub(super) fn place_limit(&mut self, order: &mut Order, tif: Tif) -> Result<Status, Reject> {
        self.check_order(&order.spec)?;
        if order.spec.reduce_only {
            self.cap_reduce_only(order)?;
        }
        self.check_notional(&order.spec)?;
        let take = self.take(order.spec.asset, order.spec.is_buy, order.spec.px, order.remaining);
        if tif == Tif::Alo && !take.sz.is_zero() {
            let bbo = self.market(order.spec.asset).and_then(super::market::Market::bbo);
            let (bid, ask) = bbo.unwrap_or_default();
            return Err(Reject::PostOnly { bid, ask });
        }
        let drops_rest = matches!(tif, Tif::Ioc | Tif::FrontendMarket);
        if drops_rest && take.sz.is_zero() {
            return Err(if tif == Tif::FrontendMarket { Reject::NoLiquidity } else { Reject::IocCancel });
        }
        self.check_margin(order, &take, drops_rest)?;
        Ok(self.settle(order, &take, drops_rest))
    }

    /// Against the position there is: refused when it has nothing to reduce, cut when it would reduce too much.
    fn cap_reduce_only(&self, order: &mut Order) -> Result<(), Reject> {
        let room = self.reducible(order.spec.asset, order.spec.is_buy);
        let oversized = order.remaining > room && self.settings.oversized_reduce_only == Oversized::Reject;
        if room.is_zero() || oversized {
            return Err(Reject::ReduceOnly);
        }
        order.remaining = order.remaining.min(room);
        order.spec.sz = order.remaining;
        Ok(())
    }

    /// Margin at execution prices for what fills, at the limit for what would rest.
    fn check_margin(&self, order: &Order, take: &Take, drops_rest: bool) -> Result<(), Reject> {
        let rest = if drops_rest { Decimal::ZERO } else { order.remaining - take.sz };
        let sz = take.sz + rest;
        let px = (take.notional + rest * order.spec.px) / sz;
        let fits = order.spec.reduce_only || self.can_trade(order.spec.asset, order.spec.is_buy, sz, px);
        if fits { Ok(()) } else { Err(Reject::Margin) }
    }

    /// Does the trades and decides what becomes of the rest.
    fn settle(&mut self, order: &mut Order, take: &Take, drops_rest: bool) -> Status {
        let asset = order.spec.asset;
        self.record(order, "open");
        self.execute(order, order.spec.px, take);
        order.remaining -= take.sz;
        let done = order.remaining.is_zero() || drops_rest;
        if done {
            // What an IOC leaves unfilled is gone; its record still says filled.
            self.record(order, "filled");
        } else {
            order.stage = Stage::Resting;
            self.orders.insert(order.oid, order.clone());
            if order.spec.reduce_only {
                self.fit_reduce_only(asset, Excess::Cancel);
            }
        }
        let shows_fill = done || (!take.sz.is_zero() && self.settings.partial_gtc == PartialGtc::Filled);
        let (oid, cloid) = (order.oid, order.spec.cloid.clone());
        if shows_fill {
            let avg_px = take.avg_px(self.market(asset).map_or(0, super::market::Market::px_decimals));
            Status::Filled { oid, total_sz: take.sz, avg_px, cloid }
        } else {
            Status::Resting { oid, cloid }
        }
    }

    /// Sets a trigger order watching, judged against `reference`: the mark, or the parent's price for its child.
    pub(super) fn arm(&mut self, order: &Order, trigger: Trigger, reference: Decimal) -> Result<(), Reject> {
        let spec = &order.spec;
        self.check_order(spec)?;
        if let Some(text) = &self.settings.refuse_triggers {
            return Err(Reject::Told(text.clone()));
        }
        let is_child = order.parent.is_some();
        let needs_position = self.settings.reduce_only_trigger_needs_position && !is_child;
        if spec.reduce_only && needs_position && self.reducible(spec.asset, spec.is_buy).is_zero() {
            return Err(Reject::ReduceOnly);
        }
        if !spec.sz.is_zero() && !is_child {
            self.check_notional(spec)?;
        }
        let beyond = if spec.is_buy { spec.px >= trigger.px } else { spec.px <= trigger.px };
        if !beyond && self.settings.trigger_limit == TriggerLimit::Beyond {
            return Err(Reject::TriggerPx);
        }
        if trigger.met(spec.is_buy, reference) && self.settings.met_trigger == MetTrigger::Reject {
            return Err(Reject::TriggerPx);
        }
        self.record(order, "open");
        self.orders.insert(order.oid, order.clone());
        Ok(())
    }

    fn trigger_reply(&self, order: &Order) -> Status {
        if order.stage == Stage::Waiting {
            Status::WaitingForFill
        } else if order.position_tpsl || order.parent.is_some() || self.settings.trigger_reply == TriggerReply::Waiting
        {
            Status::WaitingForTrigger
        } else {
            Status::Resting { oid: order.oid, cloid: order.spec.cloid.clone() }
        }
    }
}

/// The shape a TP/SL grouping must have.
fn check_grouping(specs: &[Spec], grouping: Grouping) -> Result<(), String> {
    let children = match grouping {
        Grouping::Na => return Ok(()),
        Grouping::PositionTpsl => specs,
        Grouping::NormalTpsl => {
            let Some((parent, children)) = specs.split_first() else { return Ok(()) };
            if parent.trigger().is_some() {
                return Err("Main order cannot be trigger order.".into());
            }
            if children.iter().any(|child| child.is_buy == parent.is_buy || child.asset != parent.asset) {
                return Err("Invalid TP/SL price.".into());
            }
            children
        }
    };
    if children.is_empty() || children.len() > 2 || children.iter().any(|child| child.trigger().is_none()) {
        return Err("Unexpected number of trigger orders".into());
    }
    if children.iter().any(|child| !child.reduce_only) {
        return Err("TP/SL orders must be reduce only.".into());
    }
    Ok(())
}
