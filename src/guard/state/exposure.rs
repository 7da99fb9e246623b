//! Exposure: what the account could come to hold, market by market, and what that could lose.
//!
//! A market's worst case on one side is the position there plus everything on that side that may still fill. Each order
//! counts in full, whatever it could close today: by the time it fills, a stop or another close may have taken that
//! position away.

use crate::base::amount::percent_of;
use crate::guard::state::cover::{self, CoverSize, LinePart, side_covered};
use crate::guard::state::cover_lines::CoverLines;
use crate::guard::state::entry_leg::EntryLeg;
use crate::guard::state::view::{Resting, View};
use crate::venue::side::{PositionSide, Side};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

mod arriving;
mod closing;
mod sums;

/// The exposure of the whole account.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exposure {
    markets: BTreeMap<u32, MarketExposure>,
    /// The sum of the markets' worst cases.
    totals: Figures,
    /// The loss assumed for what has no stop, percent of its price.
    stop_pct: Decimal,
}

/// The exposure of one market.
#[derive(Debug, Clone, Default)]
pub(crate) struct MarketExposure {
    /// Signed.
    pub(crate) position: Decimal,
    /// What the venue told to have filled and the position does not show, signed.
    told: Decimal,
    /// The position by the newest fills, signed, where they are of after it was read; as read, where that was after all answers.
    pub(crate) by_fills: Option<Decimal>,
    pub(crate) mid: Option<Decimal>,
    /// Where it stands apart from the mid.
    mark: Option<Decimal>,
    /// The farthest trigger that the position is known to be covered at, or was judged with: what has no stop that counts here
    /// has one there, or gets it there.
    line_px: Option<Decimal>,
    long: SideExposure,
    short: SideExposure,
    /// Kept while orders are added.
    worst: Figures,
}

/// The exposure of one side of a market.
#[derive(Debug, Clone, Default)]
struct SideExposure {
    /// Orders that may open or enlarge it.
    entries: Vec<EntryLeg>,
    /// What the first of them come to together, for as many as were summed up: one more of many costs no more than the first.
    sums: Vec<Sum>,
    /// Reduce-only orders on the side of those orders: they close the opposite position.
    reduce_only: Decimal,
    /// What the venue told to have filled of both: none of it is still to close anything.
    told: Decimal,
    /// What entries with stops of their own may have opened without the position showing it: those stops may be shown already.
    arriving: Vec<LinePart>,
    /// Market stops that cover it; the nearest, which is hit first, in front.
    stops: Vec<Stop>,
}

/// What some entries come to together.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    figures: Figures,
    /// The size of those that fill at once or not at all.
    immediate: Decimal,
    /// The size of those that bring no stop of their own.
    bare: Decimal,
}

/// A market stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) px: Decimal,
    pub(crate) size: CoverSize,
}

/// What one side of a market could come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// USDC.
    pub(crate) notional: Decimal,
    /// USDC lost if the stops are hit.
    pub(crate) loss: Decimal,
}

impl Stop {
    /// The cover that an open order gives, if it is a market stop.
    pub(crate) fn of(order: &Resting) -> Option<Self> {
        Some(Self { px: order.stop_px?, size: cover::of_resting(order)? })
    }
}

/// The mid, and the mark where it stands apart from that.
fn prices(view: &View, asset: u32) -> (Option<Decimal>, Option<Decimal>) {
    (view.price(asset), view.mark_apart(asset))
}

impl Figures {
    fn worst(self, other: Self) -> Self {
        Self { notional: self.notional.max(other.notional), loss: self.loss.max(other.loss) }
    }
}

impl Exposure {
    /// The exposure as the last reads show it. Built once a read; every judgement starts from a copy.
    pub(crate) fn of_reads(view: &View, lines: &CoverLines, stop_pct: Decimal) -> Self {
        let mut exposure = Self { stop_pct, ..Self::default() };
        if let Some(account) = &view.account {
            for (asset, position) in &account.positions {
                exposure.market_mut(view, *asset).position = position.szi;
            }
        }
        for (asset, line) in lines.iter() {
            exposure.market_mut(view, asset).line_px = line.farthest_px();
        }
        for order in view.orders.values() {
            let market = exposure.market_mut(view, order.asset);
            if let Some(stop) = Stop::of(order) {
                let line = lines.get(order.asset).filter(|line| line.side == side_covered(order.is_buy));
                // One beyond the line is no cover of what is held, and of nothing that is opened beside it.
                if line.is_none_or(|line| line.counts(stop.px)) {
                    market.add_stop(order.is_buy, stop);
                }
            } else if !order.is_trigger {
                market.add(order.is_buy, order.reduce_only, EntryLeg::of(order));
            }
        }
        let Self { markets, totals, stop_pct } = &mut exposure;
        markets.values_mut().for_each(|market| market.refresh(totals, *stop_pct));
        exposure
    }

    pub(crate) fn market_mut(&mut self, view: &View, asset: u32) -> &mut MarketExposure {
        self.markets.entry(asset).or_insert_with(|| {
            let (mid, mark) = prices(view, asset);
            MarketExposure { mid, mark, ..MarketExposure::default() }
        })
    }

    /// Values every market at the newest prices: between two reads the live feed tells of them.
    pub(crate) fn reprice(&mut self, view: &View) {
        let Self { markets, totals, stop_pct } = self;
        for (asset, market) in markets {
            let (mid, mark) = prices(view, *asset);
            if (market.mid, market.mark) != (mid, mark) {
                (market.mid, market.mark) = (mid, mark);
                market.long.sums.clear();
                market.short.sums.clear();
                market.refresh(totals, *stop_pct);
            }
        }
    }

    /// Adds an order that rests or is about to be sent.
    pub(crate) fn add(&mut self, view: &View, asset: u32, is_buy: bool, reduce_only: bool, leg: EntryLeg) {
        self.market_mut(view, asset).add(is_buy, reduce_only, leg);
        self.refresh(asset);
    }

    /// The markets of which answers told more than the position shows.
    pub(crate) fn told_otherwise(&mut self) -> impl Iterator<Item = (u32, &mut MarketExposure)> {
        self.markets.iter_mut().filter(|(_, market)| !market.told.is_zero()).map(|(asset, market)| (*asset, market))
    }

    /// Takes back the entry added last on this side.
    pub(crate) fn take_back(&mut self, asset: u32, is_buy: bool) {
        if let Some(market) = self.markets.get_mut(&asset) {
            let side = market.side_mut(PositionSide::opened_by(Side::of(is_buy)));
            side.entries.pop();
            side.sums.truncate(side.entries.len());
        }
        self.refresh(asset);
    }

    /// Removes one such entry.
    pub(crate) fn remove_entry(&mut self, asset: u32, is_buy: bool, leg: EntryLeg) {
        if let Some(market) = self.markets.get_mut(&asset) {
            let side = market.side_mut(PositionSide::opened_by(Side::of(is_buy)));
            if let Some(place) = side.entries.iter().position(|other| *other == leg) {
                side.entries.remove(place);
                side.sums.truncate(place);
            }
        }
        self.refresh(asset);
    }

    /// The same exposure as if nothing were on its way into a position.
    pub(crate) fn without_entries(&self) -> Self {
        let mut bare = self.clone();
        for market in bare.markets.values_mut() {
            for side in [&mut market.long, &mut market.short] {
                side.entries.clear();
                side.sums.clear();
            }
            market.refresh(&mut bare.totals, bare.stop_pct);
        }
        bare
    }

    /// Removes one such stop.
    pub(crate) fn remove_stop(&mut self, asset: u32, is_buy: bool, stop: Stop) {
        if let Some(market) = self.markets.get_mut(&asset) {
            let stops = &mut market.side_mut(side_covered(is_buy)).stops;
            if let Some(place) = stops.iter().position(|other| *other == stop) {
                stops.remove(place);
            }
        }
        self.refresh(asset);
    }

    fn refresh(&mut self, asset: u32) {
        if let Some(market) = self.markets.get_mut(&asset) {
            market.refresh(&mut self.totals, self.stop_pct);
        }
    }

    /// The worst case of one market.
    pub(crate) fn figures(&self, asset: u32) -> Figures {
        self.markets.get(&asset).map_or_else(Figures::default, |market| market.worst)
    }

    /// The worst case of each market.
    pub(crate) fn each_market(&self) -> impl Iterator<Item = (u32, Figures)> {
        self.markets.iter().map(|(asset, market)| (*asset, market.worst))
    }

    /// The market whose worst case is the worst by one figure, with that figure; the first one of equals.
    pub(crate) fn worst_market(&self, pick: fn(&Figures) -> Decimal) -> Option<(u32, Decimal)> {
        let all = self.markets.iter().map(|(asset, market)| (*asset, pick(&market.worst)));
        all.max_by_key(|(asset, figure)| (*figure, std::cmp::Reverse(*asset)))
    }

    /// The worst cases of all markets together.
    pub(crate) fn totals(&self) -> Figures {
        self.totals
    }
}

impl MarketExposure {
    fn add(&mut self, is_buy: bool, reduce_only: bool, leg: EntryLeg) {
        let side = self.side_mut(PositionSide::opened_by(Side::of(is_buy)));
        if reduce_only {
            side.reduce_only = side.reduce_only.saturating_add(leg.size);
        } else {
            side.entries.push(leg);
        }
    }

    fn add_stop(&mut self, is_buy: bool, stop: Stop) {
        let side = side_covered(is_buy);
        let stops = &mut self.side_mut(side).stops;
        let place = stops.partition_point(|other| !side.nearer(stop.px, other.px));
        stops.insert(place, stop);
    }

    fn side_mut(&mut self, side: PositionSide) -> &mut SideExposure {
        match side {
            PositionSide::Long => &mut self.long,
            PositionSide::Short => &mut self.short,
        }
    }

    fn side(&self, side: PositionSide) -> &SideExposure {
        match side {
            PositionSide::Long => &self.long,
            PositionSide::Short => &self.short,
        }
    }

    /// Takes the orders added into the worst case, and moves the sum over all markets with it.
    fn refresh(&mut self, totals: &mut Figures, stop_pct: Decimal) {
        PositionSide::BOTH.into_iter().for_each(|side| self.sum_up(side, stop_pct));
        let now = self.worst_side(stop_pct);
        let before = std::mem::replace(&mut self.worst, now);
        let moved = |sum: Decimal, before: Decimal, now: Decimal| sum.saturating_sub(before).saturating_add(now);
        *totals = Figures {
            notional: moved(totals.notional, before.notional, now.notional),
            loss: moved(totals.loss, before.loss, now.loss),
        };
    }

    /// The size of the position on one side.
    pub(crate) fn held(&self, side: PositionSide) -> Decimal {
        side.held(self.position)
    }

    /// Takes so much, signed, of what was told to have filled for shown: nothing is held of it.
    pub(crate) fn forget_told(&mut self, size: Decimal) {
        self.told = self.told.saturating_sub(size);
    }

    /// The same with what the venue told to have filled: held, though no read shows it.
    fn held_as_told(&self, side: PositionSide) -> Decimal {
        side.held(self.position.saturating_add(self.told))
    }

    /// The same by the newest fills of the live feed, or by a read of after all answers.
    fn held_by_fills(&self, side: PositionSide) -> Decimal {
        self.by_fills.map_or(Decimal::ZERO, |szi| side.held(szi))
    }

    /// The most that may be held on one side, as read or as told.
    pub(crate) fn may_be_held(&self, side: PositionSide) -> Decimal {
        self.held(side).max(self.held_as_told(side)).max(self.held_by_fills(side))
    }

    /// The stops that cover one side.
    pub(crate) fn stops(&self, side: PositionSide) -> &[Stop] {
        &self.side(side).stops
    }

    /// Cover on one side that nothing held or waiting needs: `None` where a stop covers whatever the position is.
    pub(crate) fn spare_cover(&self, side: PositionSide) -> Option<Decimal> {
        let stops = self.stops(side);
        if stops.iter().any(|stop| stop.size == CoverSize::Whole) {
            return None;
        }
        let cover = cover::total(stops.iter().map(|stop| stop.size), Decimal::ZERO);
        let needed = self.held(side).saturating_add(self.arriving(side)).saturating_add(self.sum(side).bare);
        Some(cover.saturating_sub(needed).max(Decimal::ZERO))
    }

    /// The worst of both sides.
    fn worst_side(&self, stop_pct: Decimal) -> Figures {
        self.worst_of(PositionSide::Long, stop_pct).worst(self.worst_of(PositionSide::Short, stop_pct))
    }

    fn worst_of(&self, side: PositionSide, stop_pct: Decimal) -> Figures {
        let (held, entries) = (self.position_figures(side, stop_pct), self.sum(side).figures);
        Figures {
            notional: held.notional.saturating_add(entries.notional),
            loss: held.loss.saturating_add(entries.loss),
        }
    }

    /// What one unit of an entry is worth when it fills: a buy at most its limit, a sell at the mid if that is higher; or at
    /// the mark.
    pub(crate) fn unit_value(&self, side: Side, px: Decimal) -> Decimal {
        let traded = if side.is_buy() { px } else { self.mid.map_or(px, |mid| mid.max(px)) };
        self.mark.map_or(traded, |mark| mark.max(traded))
    }

    /// USDC that the position on one side loses if its stops are hit.
    pub(crate) fn position_loss(&self, side: PositionSide, stop_pct: Decimal) -> Decimal {
        self.position_figures(side, stop_pct).loss
    }

    fn position_figures(&self, side: PositionSide, stop_pct: Decimal) -> Figures {
        let held = self.held(side);
        let Some(mid) = self.mid.filter(|_| !held.is_zero()) else { return Figures::default() };
        // The price from which its stops lose more, and the one at which it is worth more.
        let (from_px, most) = self.mark.map_or((mid, mid), |mark| (side.nearer_of(mid, mark), mid.max(mark)));
        let (mut left, mut loss) = (held, Decimal::ZERO);
        for stop in self.stops_of_held(side) {
            let part = stop.size.of(left).min(left);
            let unit = unit_loss(side, from_px, Some(stop.px), stop_pct);
            loss = loss.saturating_add(unit.saturating_mul(part));
            left = left.saturating_sub(part);
        }
        let bare = unit_loss(side, from_px, None, stop_pct);
        let bare = self.line_px.map_or(bare, |line_px| bare.max(side.loss(from_px, line_px)));
        loss = loss.saturating_add(bare.saturating_mul(left));
        Figures { notional: held.saturating_mul(most), loss }
    }
}

/// What one unit entered at `px` loses when its stop is hit; without a stop the guard's own distance is assumed.
fn unit_loss(side: PositionSide, px: Decimal, stop_px: Option<Decimal>, stop_pct: Decimal) -> Decimal {
    stop_px.map_or_else(|| percent_of(px, stop_pct), |stop_px| side.loss(px, stop_px))
}
