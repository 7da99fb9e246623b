//! Moves of a position between two reads of the account, put down to the orders that were sent.

use super::cause::{Cause, Source};
use super::key::Moment;
use super::ledger::SentOrders;
use super::order::SentOrder;
use crate::base::amount::percent_of;
use crate::guard::state::cover::LinePart;
use crate::guard::state::entry_leg::StopAt;
use crate::guard::state::held_now::{ENTRY_ROUNDED_PCT, Moved, Told};
use crate::guard::state::judged_stops::JudgedStops;
use crate::guard::state::view::{Resting, View};
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// As many causes are looked at for one move: every sum of them is tried.
const MOST_CAUSES: usize = 10;

impl SentOrders {
    /// Whether reads have shown all that was sent and answered.
    pub(crate) fn is_settled(&self) -> bool {
        self.orders.is_empty() && self.triggers.is_empty() && self.cancels.is_empty()
    }

    /// The stop that the entry with this order id was judged with, where it is known.
    pub(crate) fn judged_with(&self, view: &View, oid: u64) -> Option<Decimal> {
        let resting = view.orders.get(&oid).filter(|order| order.is_entry()).and_then(StopAt::of);
        let sent = || self.orders.iter().find(|order| order.oid == Some(oid) && !order.reduce_only)?.stop;
        resting.or_else(sent).map(|stop| stop.px).filter(|px| *px > Decimal::ZERO)
    }

    /// The stops that entries of one side were judged with: of those that a move of the position, which a read shows, comes to, where
    /// they can have filled by the prices that are known or else whatever these are; and where none of them does, of all that may have
    /// filled, the farthest first: a position may have been closed and opened anew.
    pub(crate) fn judged_stops(
        &self,
        read: Moment,
        view: &View,
        (asset, side): (u32, PositionSide),
        change: Decimal,
    ) -> JudgedStops {
        let opening = (asset, side.opening().is_buy(), false);
        let is_side = |cause: &Cause| !cause.size.is_zero() && (cause.size > Decimal::ZERO) == opening.1;
        let is_its = |cause: &Cause| !cause.is_closing && is_side(cause);
        let entries: Vec<Cause> =
            self.put_down_to(read, view, asset, change).into_iter().flatten().filter(is_its).collect();
        if !entries.is_empty() {
            let judged = |cause: &Cause| Some(LinePart { px: cause.judged_px?, size: cause.size.abs() });
            return JudgedStops::each(entries.iter().filter_map(judged));
        }
        let sent = self.orders.iter().chain(&self.unshown.fills);
        let sent = sent.filter(|order| (order.asset, order.is_buy, order.reduce_only) == opening);
        let resting = view.orders.values().filter(|order| (order.asset, order.is_buy, !order.is_entry()) == opening);
        // Of one that is open still its size is the whole, also of what rests.
        let whole = sent.clone().filter(|order| order.phase.is_open());
        let known: BTreeSet<u64> = whole.filter_map(|order| order.oid).collect();
        let resting = resting.filter(|order| !known.contains(&order.oid));
        let resting =
            resting.filter_map(|order| Some((order.px, LinePart { px: StopAt::of(order)?.px, size: order.size })));
        let sent = sent.filter_map(|order| {
            let part = LinePart { px: order.stop?.px, size: order.unmoved().abs() };
            Some((order.told_px().unwrap_or(order.px), part))
        });
        let all: Vec<(Decimal, LinePart)> = sent.chain(resting).collect();
        // What closed the rest told nobody by how much: one that is as large as what is held, at its entry price, is what is held.
        let is_held = |entry: &&(Decimal, LinePart)| is_held(view, asset, entry.1.size, entry.0);
        let held: Vec<LinePart> = all.iter().filter(is_held).map(|(_, part)| *part).collect();
        if held.is_empty() {
            JudgedStops::any(side, all.into_iter().map(|(_, part)| part), change.abs())
        } else {
            JudgedStops::any(side, held, view.position(asset).abs())
        }
    }

    /// What such a move is put down to, where that comes to just its size.
    pub(crate) fn moved_by(
        &self,
        read: Moment,
        view: &View,
        (asset, side): (u32, PositionSide),
        change: Decimal,
    ) -> Option<Moved> {
        let mut moved = Moved::default();
        for cause in self.put_down_to(read, view, asset, change)? {
            let (size, is_sure) = (cause.size.abs(), cause.is_closing && (cause.is_told || cause.is_whole));
            if (cause.size > Decimal::ZERO) == side.opening().is_buy() {
                moved.opened = moved.opened.saturating_add(size);
                moved.paid = moved.paid.saturating_add(size.saturating_mul(cause.px));
            } else {
                moved.closed = moved.closed.saturating_add(size);
                moved.surely_closed = moved.surely_closed.saturating_add(if is_sure { size } else { Decimal::ZERO });
            }
        }
        Some(moved)
    }

    /// All that comes to a move together: by the prices that are known, or else whatever these are.
    fn put_down_to(&self, read: Moment, view: &View, asset: u32, change: Decimal) -> Option<Vec<Cause>> {
        let of_market = (asset, before_it(view, asset, change));
        let at_any_price = || self.fewest_of(&self.causes(read, view, of_market, true), read, of_market, change);
        let causes = self.explanation(read, view, asset, change).or_else(at_any_price)?;
        let told = self.told_before(read, asset).map(|order| Cause::sent(order, Source::Open));
        Some(told.chain(causes).collect())
    }

    /// The open orders by id that entries which were sent have come to be, each with the stop that it was judged with.
    pub(crate) fn judged_resting(&self, view: &View) -> Vec<(u64, Decimal)> {
        let entries = self.orders.iter().filter(|order| !order.reduce_only);
        let judged = entries.filter_map(|order| Some((order, order.stop?.px)));
        judged.flat_map(|(order, px)| order.candidates(view).map(move |shown| (shown.oid, px))).collect()
    }

    /// What the venue told to have filled of one side's entries, as far as no read has shown it, and its mean price; `None`
    /// where that is nothing, or not wholly known.
    pub(crate) fn told_entries(&self, asset: u32, side: PositionSide) -> Option<Told> {
        let opening = (asset, side.opening().is_buy(), false);
        let told = self.orders.iter().chain(&self.unshown.fills).filter(|order| order.is_told());
        let mut told = told.filter(|order| (order.asset, order.is_buy, order.reduce_only) == opening);
        let (size, paid) = told.try_fold((Decimal::ZERO, Decimal::ZERO), |(size, paid), order| {
            let new = order.unmoved().abs();
            Some((size.saturating_add(new), paid.saturating_add(new.saturating_mul(order.told_px()?))))
        })?;
        Some(Told { size, px: paid.checked_div(size)? })
    }

    /// Settles against an account read. `moves` is by how much positions differ from the read before it, signed.
    pub(crate) fn on_account_read(&mut self, read: Moment, view: &View, moves: &BTreeMap<u32, Decimal>) {
        let moves = self.set_off_known(read, view, moves);
        self.take_closed_of_others(read, view, &moves);
        self.elsewhere.forget(read);
        for (asset, change) in &moves {
            // First what is known to have filled.
            let mut left = change.abs();
            for is_told in [true, false] {
                let is_its = |order: &&mut SentOrder| {
                    (order.asset, order.is_buy, order.is_told()) == (*asset, *change > Decimal::ZERO, is_told)
                };
                let orders = self.unshown.fills.iter_mut().chain(&mut self.orders);
                left = orders.filter(is_its).fold(left, |left, order| order.on_move(left, read.now_ms));
            }
            if !left.is_zero() {
                let signed = if *change > Decimal::ZERO { left } else { -left };
                self.unexplained.push((*asset, signed));
            }
        }
        // A close tells what became of an entry that is not proven yet.
        let unproven = self.orders.iter().filter(|order| !order.reduce_only && !order.unshown().is_zero());
        let unproven: BTreeSet<u32> =
            unproven.filter(|order| !order.is_late_for(read)).map(|order| order.asset).collect();
        let explains = |order: &SentOrder| {
            order.reduce_only
                && !order.unshown().is_zero()
                && unproven.contains(&order.asset)
                && !order.is_late_for(read)
        };
        let is_over = |order: &SentOrder| order.is_settled_by(read) && !explains(order);
        let (over, kept) = std::mem::take(&mut self.orders).into_iter().partition(is_over);
        self.orders = kept;
        let over: Vec<SentOrder> = over;
        over.into_iter().filter(SentOrder::is_told).for_each(|order| self.unshown.follow(order));
    }

    /// Puts a move that was wrongly put down to an order down to the others of its side that were on their way when a read begun at
    /// `read_ms` showed it.
    pub(super) fn move_on(&mut self, (asset, is_buy): (u32, bool), size: Decimal, read_ms: u64) {
        let mut left = size;
        for is_told in [true, false] {
            let is_its = |order: &&mut SentOrder| {
                (order.asset, order.is_buy, order.is_told()) == (asset, is_buy, is_told) && order.was_sent_by(read_ms)
            };
            let orders = self.unshown.fills.iter_mut().chain(&mut self.orders);
            left = orders.filter(is_its).fold(left, |left, order| order.on_move(left, read_ms));
        }
    }

    /// Puts the moves down to all that was told by then, where they come to just that together with some of what else may
    /// have filled: fills in both directions between two reads show only what is left of all. Returns the moves that nothing
    /// explains so.
    fn set_off_known(&mut self, read: Moment, view: &View, moves: &BTreeMap<u32, Decimal>) -> BTreeMap<u32, Decimal> {
        let told = self.orders.iter().filter(|order| order.is_told_before(read)).map(|order| order.asset);
        let assets: BTreeSet<u32> = moves.keys().copied().chain(told).collect();
        let mut left = moves.clone();
        for asset in assets {
            let change = left.get(&asset).copied().unwrap_or_default();
            let Some(causes) = self.explanation(read, view, asset, change) else { continue };
            let explained = self.orders.iter_mut().filter(|order| order.asset == asset);
            explained.filter(|order| order.is_told_before(read)).for_each(|order| order.take_all(read.now_ms));
            self.take_causes(asset, &causes, read.now_ms);
            left.remove(&asset);
        }
        left
    }

    /// The fewest causes that come to just this move of a position, together with all that was told by then; `None` where none do.
    fn explanation(&self, read: Moment, view: &View, asset: u32, change: Decimal) -> Option<Vec<Cause>> {
        let of_market = (asset, before_it(view, asset, change));
        self.fewest_of(&self.causes(read, view, of_market, false), read, of_market, change)
    }

    fn fewest_of(
        &self,
        causes: &[Cause],
        read: Moment,
        (asset, before): (u32, Decimal),
        change: Decimal,
    ) -> Option<Vec<Cause>> {
        let told = self.told_before(read, asset);
        let rest = told.fold(change, |rest, order| rest.saturating_sub(order.unmoved()));
        let elsewhere = self.elsewhere.moved(read, asset, |oid, size| self.may_be_own(asset, oid, size));
        let with_others = (!elsewhere.is_zero()).then(|| fewest(rest.saturating_sub(elsewhere), causes)).flatten();
        with_others.or_else(|| fewest(rest, causes)).or_else(|| {
            let causes: Vec<Cause> = causes.iter().map(|cause| cause.of_position(before)).collect();
            causes.iter().any(|cause| cause.is_closing).then(|| fewest(rest, &causes)).flatten()
        })
    }

    /// Whether a fill of this order, signed, may be of one that was sent, or of a trigger: its id may only be told later.
    fn may_be_own(&self, asset: u32, oid: u64, size: Decimal) -> bool {
        let is_buy = size > Decimal::ZERO;
        let is_it =
            |other: Option<u64>, of: (u32, bool)| of == (asset, is_buy) && other.is_none_or(|other| other == oid);
        let mut orders = self.orders.iter().chain(&self.unshown.fills);
        orders.any(|order| is_it(order.oid, (order.asset, order.is_buy)))
            || self.triggers.iter().any(|trigger| {
                is_it(trigger.resting.as_ref().map(|resting| resting.oid), (trigger.asset, trigger.is_buy))
            })
            || self.gone.iter().any(|gone| is_it(None, (gone.asset, gone.size > Decimal::ZERO)))
    }

    /// Whether a move of a position, to what is `held` now, is just what the venue told of orders that can only close, or that filled
    /// whole: none of it can have taken along what covers the rest. What ended and was opened anew has lost its stops.
    pub(crate) fn is_told_whole(&self, read: Moment, asset: u32, (held, change): (Decimal, Decimal)) -> bool {
        let told = self.told_before(read, asset).filter(|order| order.reduce_only || order.told() >= order.size);
        let closes = told.clone().filter(|order| order.reduce_only);
        let closed = closes.fold(Decimal::ZERO, |sum, order| sum.saturating_add(order.unmoved().abs()));
        let is_turned = !held.is_zero() && closed > Decimal::ZERO && closed >= held.saturating_sub(change).abs();
        !is_turned && told.fold(change, |rest, order| rest.saturating_sub(order.unmoved())).is_zero()
    }

    /// What the venue told to have filled in a market, in answers that this read is not older than.
    pub(super) fn told_before(&self, read: Moment, asset: u32) -> impl Iterator<Item = &SentOrder> + Clone {
        self.orders.iter().filter(move |order| order.asset == asset && order.is_told_before(read))
    }

    /// Takes these for shown by a read begun at `read_ms`.
    fn take_causes(&mut self, asset: u32, causes: &[Cause], read_ms: u64) {
        let mut gone = Vec::new();
        for cause in causes {
            let order = match cause.source {
                Source::Sent(place) => self.orders.get_mut(place),
                Source::Unshown(place) => self.unshown.fills.get_mut(place),
                Source::Gone(place) => {
                    gone.push(place);
                    None
                }
                Source::Open => {
                    self.unexplained.push((asset, cause.size));
                    None
                }
            };
            order.into_iter().for_each(|order| order.take_all(read_ms));
        }
        gone.sort_unstable();
        gone.into_iter().rev().for_each(|place| _ = self.gone.remove(place));
    }

    /// What else may be in a read of a position: fills that were told of after it began, or long before, orders without an answer, and
    /// what rested by the last reads, or a moment ago, where the price has come to it; `at_any_price` entries and stops that rest, or did,
    /// in any case, since it may have come and gone. `before` was held before the move, signed.
    fn causes(&self, read: Moment, view: &View, (asset, before): (u32, Decimal), at_any_price: bool) -> Vec<Cause> {
        let is_of = |order: &&Resting| order.asset == asset;
        // A stop waits where a limit order of the other side would.
        let is_met = |px: Decimal, is_low: bool| has_come_to(view, asset, (px, is_low));
        let is_filled = |order: &&Resting| match order.stop_px {
            Some(px) => at_any_price || is_met(px, !order.is_buy),
            None if order.is_trigger => order.order.take_profit_px().is_some_and(|px| is_met(px, order.is_buy)),
            None => at_any_price && order.is_entry() || is_met(order.px, order.is_buy),
        };
        let signed = |size: Decimal, is_buy: bool| if is_buy { size } else { -size };
        let rested = view.orders.values().filter(is_of).filter(is_filled);
        let rested = rested.map(|order| Cause::rested(order, before));
        let fired = self
            .triggers
            .iter()
            .filter(|trigger| trigger.asset == asset && trigger.fires.is_some_and(|(px, is_low)| is_met(px, is_low)));
        let fired = fired.map(|trigger| Cause::untold(signed(trigger.size, trigger.is_buy), Source::Open));
        let gone = self.gone.iter().enumerate().filter(|(_, gone)| gone.asset == asset);
        let gone = gone.filter(|(_, gone)| is_met(gone.fires.0, gone.fires.1));
        let gone = gone.map(|(place, gone)| Cause::untold(gone.size, Source::Gone(place)));
        let unshown = self.unshown.fills.iter().enumerate().filter(|(_, order)| order.asset == asset);
        let unshown = unshown.map(|(place, order)| (order, Source::Unshown(place)));
        let sent = self.orders.iter().enumerate().filter(|(_, order)| {
            let is_entry = at_any_price && !order.reduce_only;
            order.asset == asset
                && !order.is_told_before(read)
                && (order.is_told() || order.is_immediate || is_entry || is_met(order.px, order.is_buy))
        });
        let sent = sent.map(|(place, order)| (order, Source::Sent(place))).chain(unshown);
        let sent = sent.map(|(order, source)| Cause::sent(order, source));
        let mut causes: Vec<Cause> =
            sent.chain(fired).chain(rested).chain(gone).filter(|cause| !cause.size.is_zero()).collect();
        // Stops that nobody saw the price come to take no place of what else it may be.
        causes.sort_by_key(|cause| (!cause.is_told, at_any_price && cause.is_closing));
        causes.truncate(MOST_CAUSES);
        causes
    }
}

/// Whether a market's price has come to one, or below it where `is_low`, or else above. The account's own price may be newer than the
/// mids, and older.
pub(super) fn has_come_to(view: &View, asset: u32, (px, is_low): (Decimal, bool)) -> bool {
    let mut prices = [view.price(asset), view.mark(asset)].into_iter().flatten();
    prices.any(|price| if is_low { price <= px } else { price >= px })
}

/// Whether a position is of this size, and was opened at this price as far as the venue rounds that.
fn is_held(view: &View, asset: u32, size: Decimal, px: Decimal) -> bool {
    let position = view.account.as_ref().and_then(|account| account.positions.get(&asset));
    let rounded = |entry_px: Decimal| px.saturating_sub(entry_px).abs() <= percent_of(entry_px, ENTRY_ROUNDED_PCT);
    position.is_some_and(|position| position.szi.abs() == size && position.entry_px.is_some_and(rounded))
}

/// What was held before a move that is read already.
fn before_it(view: &View, asset: u32, change: Decimal) -> Decimal {
    view.position(asset).saturating_sub(change)
}

/// The causes that come to just this size together: with the fewest that nobody told of, and the fewest of those.
fn fewest(size: Decimal, causes: &[Cause]) -> Option<Vec<Cause>> {
    let mut sums: Vec<(Decimal, Vec<Cause>)> = vec![(size, Vec::new())];
    for cause in causes {
        let with: Vec<(Decimal, Vec<Cause>)> = sums
            .iter()
            .map(|(left, chosen)| {
                let chosen = chosen.iter().copied().chain([*cause]).collect();
                (left.saturating_sub(cause.size), chosen)
            })
            .collect();
        sums.extend(with);
    }
    let just = sums.into_iter().filter(|(left, _)| left.is_zero()).map(|(_, chosen)| chosen);
    just.min_by_key(|chosen| (chosen.iter().filter(|cause| !cause.is_told).count(), chosen.len()))
}
