//! A position and the stops that may stand for it: what is bare, what is missing, what is too much.

use crate::guard::flow::cover::geometry;
use crate::guard::state::cover::{CoverSize, LinePart, total, total_size};
use crate::guard::state::cover_line::CoverLine;
use crate::guard::state::guard::Guard;
use crate::guard::state::standing_stops::{StandingStop, stops_for};
use crate::guard::state::stop_geometry::{StopGeometry, stop_order};
use crate::venue::market::MIN_NOTIONAL;
use crate::venue::order::Order;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

/// A client's stop on its way counts so long after its position was first seen bare.
const ON_ITS_WAY_MS: u64 = 3_000;

/// A position and the stops that may stand for it.
pub(crate) struct HeldPosition<'a> {
    geometry: StopGeometry<'a>,
    line: &'a CoverLine,
    pub(crate) size: Decimal,
    /// Those that may rest, less what a client only says to have sent.
    pub(crate) stops: Vec<StandingStop>,
}

impl<'a> HeldPosition<'a> {
    /// The position in a market; `None` where there is none, or no price for it.
    pub(crate) fn of(guard: &'a Guard, asset: u32, now_ms: u64) -> Option<Self> {
        let (geometry, line) = (geometry(guard, asset)?, guard.lines.get(asset)?);
        let is_young = guard.watch.bare_ms.get(&asset).is_none_or(|ms| now_ms.saturating_sub(*ms) <= ON_ITS_WAY_MS);
        // Nothing but its client says that it will rest: a refused one must not keep a position bare for long.
        let counts = |stop: &StandingStop| {
            stop.is_own || stop.is_live || (is_young && geometry.is_losing(stop.px) && line.counts(stop.px))
        };
        let stops = stops_for(guard, asset, geometry.side).into_iter().filter(counts).collect();
        Some(Self { geometry, line, size: line.held, stops })
    }

    pub(crate) fn side(&self) -> PositionSide {
        self.geometry.side
    }

    /// What stays without cover when only the stops that pass count.
    fn bare_with(&self, is_counted: impl Fn(&StandingStop) -> bool) -> Vec<LinePart> {
        self.line.bare(&self.covers(is_counted), Decimal::ZERO)
    }

    /// Triggers and sizes of the stops that pass.
    fn covers(&self, is_counted: impl Fn(&StandingStop) -> bool) -> Vec<(Decimal, CoverSize)> {
        self.stops.iter().filter(|stop| is_counted(stop)).map(StandingStop::cover).collect()
    }

    /// How much of it no stop covers.
    pub(crate) fn bare(&self) -> Decimal {
        total_size(&self.bare_with(|_| true))
    }

    /// Whether the price is beyond the line of a part: its stop would have fired.
    fn is_beyond(&self, part: &LinePart) -> bool {
        self.line.covered_parts().iter().any(|known| known.px == part.px) && !self.geometry.is_losing(part.px)
    }

    /// How much of what is bare has the price beyond its line. What is under the venue's smallest value gets a stop instead.
    pub(crate) fn beyond_line(&self) -> Option<Decimal> {
        let bare = self.bare_with(|_| true).into_iter();
        let size = total_size(&bare.filter(|part| self.is_beyond(part)).collect::<Vec<_>>());
        (size.saturating_mul(self.geometry.market_px) >= MIN_NOTIONAL).then_some(size)
    }

    /// The stop that covers what nothing covers, in place of the own stops that rest: at the line, and never further from
    /// the price than they are.
    pub(crate) fn missing_stop(&self) -> Option<Order> {
        self.stop_for_missing(|_| true)
    }

    /// The same for what is bare and not beyond its line: it must not wait for the close of what is.
    pub(crate) fn missing_stop_within_line(&self) -> Option<Order> {
        let is_within = |part: &LinePart| !self.is_beyond(part);
        self.bare_with(|_| true).iter().find(|part| is_within(part))?;
        self.stop_for_missing(is_within)
    }

    /// Whether anything that is bare has the price beyond its line.
    pub(crate) fn has_beyond(&self) -> bool {
        self.bare_with(|_| true).iter().any(|part| self.is_beyond(part))
    }

    /// A stop for as much as no stop at all stands for, where a first one would: it waits beside the closes of what is
    /// beyond its line, should the market not take them.
    pub(crate) fn backstop(&self) -> Option<Order> {
        let first = self.line.first_stop?;
        let stands = |stop: &&StandingStop| {
            self.geometry.is_losing(stop.px)
                && self.line.is_inside_liquidation(stop.px)
                && (stop.is_own || !self.side().nearer(first.widest_px, stop.px))
        };
        let standing = total(self.stops.iter().filter(stands).map(|stop| stop.size), self.size);
        let missing = self.size.saturating_sub(standing);
        let px = first.own_px.filter(|_| missing > Decimal::ZERO)?;
        Some(stop_order(self.geometry.market, self.side(), px, missing))
    }

    fn stop_for_missing(&self, is_wanted: impl Fn(&LinePart) -> bool) -> Option<Order> {
        let is_replaced = |stop: &StandingStop| stop.is_own && stop.shown.is_some();
        let missing: Vec<LinePart> = self.bare_with(|stop| !is_replaced(stop)).into_iter().filter(is_wanted).collect();
        let line = missing.iter().map(|part| self.own_px(*part)).collect::<Option<Vec<Decimal>>>()?;
        let own = self.stops.iter().filter(|stop| is_replaced(stop) && self.line.counts(stop.px));
        let own = own.map(|stop| stop.px).filter(|px| self.geometry.is_losing(*px));
        let trigger_px = self.side().nearest(own.chain(line))?;
        Some(stop_order(self.geometry.market, self.side(), trigger_px, total_size(&missing)))
    }

    /// Where the guard's own stop for a part goes: at its line where that can still be, inside liquidation.
    fn own_px(&self, part: LinePart) -> Option<Decimal> {
        let px = self.line.own_px(part)?;
        if self.geometry.is_losing(px) {
            return self.geometry.inside_liquidation(px);
        }
        self.line.first_stop.and_then(|first| first.own_px)
    }

    /// An own stop without which the others still cover each unit of the position as tightly as all of them do now, also
    /// where no read has taught that to the line yet. The largest is tried first, so that of an old stop and its replacement
    /// the right one goes.
    pub(crate) fn spare(&self) -> Option<u64> {
        let mut line = self.line.clone();
        line.tighten(&self.covers(|_| true), Decimal::ZERO);
        let is_covered = |stops: Vec<(Decimal, CoverSize)>| line.bare(&stops, Decimal::ZERO).is_empty();
        let mut own: Vec<&StandingStop> = self.stops.iter().filter(|stop| stop.is_own).collect();
        own.sort_by_key(|stop| (self.line.counts(stop.px), std::cmp::Reverse(stop.size)));
        let superfluous = own.into_iter().find(|own| is_covered(self.covers(|stop| stop.shown != own.shown)));
        superfluous?.shown.map(|(oid, _)| oid)
    }

    /// A smaller stop at the same trigger, where the only own stop is larger than what others leave to it.
    pub(crate) fn smaller_stop(&self) -> Option<(u64, Order)> {
        let mut own = self.stops.iter().filter(|stop| stop.is_own && self.line.counts(stop.px));
        let (Some(only), None) = (own.next(), own.next()) else { return None };
        let needed = total_size(&self.bare_with(|stop| stop.shown != only.shown));
        let is_larger = matches!(only.size, CoverSize::Part(size) if size > needed)
            && needed > Decimal::ZERO
            && self.geometry.is_losing(only.px);
        let (oid, _) = only.shown.filter(|_| is_larger)?;
        Some((oid, stop_order(self.geometry.market, self.side(), only.px, needed)))
    }
}
