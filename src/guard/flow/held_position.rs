//! A position and the stops that may stand for it: what is bare, what is missing, what is too much.

use crate::guard::flow::cover::{StandingStop, stops_for, sum_cover};
use crate::guard::state::cover::CoverSize;
use crate::guard::state::guard::Guard;
use crate::guard::state::stop_geometry::{StopGeometry, stop_order};
use crate::venue::order::Order;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

/// A position and the stops that may stand for it.
pub(crate) struct HeldPosition<'a> {
    geometry: StopGeometry<'a>,
    pub(crate) size: Decimal,
    pub(crate) stops: Vec<StandingStop>,
}

impl<'a> HeldPosition<'a> {
    /// The position in a market; `None` where there is none, or no price for it.
    pub(crate) fn of(guard: &'a Guard, asset: u32) -> Option<Self> {
        let position = guard.view.account.as_ref()?.positions.get(&asset)?;
        let side = PositionSide::of(position.szi)?;
        let mark = guard.view.mark(asset).filter(|mark| *mark > Decimal::ZERO).or_else(|| guard.view.price(asset))?;
        let geometry = StopGeometry {
            market: guard.view.market(asset)?,
            side,
            from_px: mark,
            market_px: mark,
            liquidation_px: position.liquidation_px.filter(|px| *px > Decimal::ZERO),
        };
        Some(Self { geometry, size: position.szi.abs(), stops: stops_for(guard, asset, side) })
    }

    pub(crate) fn side(&self) -> PositionSide {
        self.geometry.side
    }

    /// The stops that count: inside the liquidation price.
    fn counting(&self) -> impl Iterator<Item = &StandingStop> {
        self.stops.iter().filter(|stop| self.geometry.is_inside_liquidation(stop.px))
    }

    /// How much of it no stop covers.
    pub(crate) fn bare(&self) -> Decimal {
        self.size.saturating_sub(sum_cover(self.counting(), self.size)).max(Decimal::ZERO)
    }

    /// Where a new stop goes: the rule's distance from the mark, a tick away where that is less, or nearer where
    /// liquidation comes first.
    fn new_trigger(&self, stop_pct: Decimal) -> Option<Decimal> {
        let px = self.geometry.at_distance(stop_pct).or_else(|| self.geometry.nearest())?;
        self.geometry.inside_liquidation(px)
    }

    /// The stop that covers what nothing covers, in place of the own stops that rest: never further from the price.
    pub(crate) fn missing_stop(&self, stop_pct: Decimal) -> Option<Order> {
        let kept = sum_cover(self.counting().filter(|stop| !(stop.is_own && stop.shown.is_some())), self.size);
        let size = self.size.saturating_sub(kept);
        let own = self.counting().filter(|stop| stop.is_own && self.geometry.is_losing(stop.px)).map(|stop| stop.px);
        let trigger_px = self.side().nearest(own.chain([self.new_trigger(stop_pct)?]))?;
        Some(stop_order(self.geometry.market, self.side(), trigger_px, size))
    }

    /// Whether a stop at `px` is as near to the price as one at `other`, or nearer.
    fn is_as_tight(&self, px: Decimal, other: Decimal) -> bool {
        !self.side().nearer(other, px)
    }

    /// An own stop without which stops at least as tight still cover the position. The largest is tried first, so
    /// that of an old stop and its replacement the right one goes.
    pub(crate) fn spare(&self) -> Option<u64> {
        let mut own: Vec<&StandingStop> = self.counting().filter(|stop| stop.is_own).collect();
        own.sort_by_key(|stop| std::cmp::Reverse(stop.size));
        let beyond = self.stops.iter().filter(|stop| stop.is_own && !self.geometry.is_inside_liquidation(stop.px));
        let superfluous = own.into_iter().find(|own| {
            let others = self.counting().filter(|stop| stop.shown != own.shown && self.is_as_tight(stop.px, own.px));
            sum_cover(others, self.size) >= self.size
        });
        beyond.chain(superfluous).next()?.shown.map(|(oid, _)| oid)
    }

    /// A smaller stop at the same trigger, where the only own stop is larger than what others leave to it.
    pub(crate) fn smaller_stop(&self) -> Option<(u64, Order)> {
        let mut own = self.counting().filter(|stop| stop.is_own);
        let (Some(only), None) = (own.next(), own.next()) else { return None };
        let tight = self.counting().filter(|stop| !stop.is_own && self.is_as_tight(stop.px, only.px));
        let needed = self.size.saturating_sub(sum_cover(tight, self.size));
        let is_larger = matches!(only.size, CoverSize::Part(size) if size > needed)
            && needed > Decimal::ZERO
            && self.geometry.is_losing(only.px);
        let (oid, _) = only.shown.filter(|_| is_larger)?;
        Some((oid, stop_order(self.geometry.market, self.side(), only.px, needed)))
    }
}
