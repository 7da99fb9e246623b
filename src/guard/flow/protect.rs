//! Protect: no position stays bare. What is not covered in full by market stops gets the guard's own stop for the rest;
//! where no stop can be had, the position is closed.

use crate::base::amount::percent_of;
use crate::guard::config::Mode;
use crate::guard::event::Problem;
use crate::guard::flow::close_order::order_action;
use crate::guard::flow::cover::StandingStop;
use crate::guard::flow::cover::sum_cover;
use crate::guard::flow::guard_actions::Cause;
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{close_order, cover, guard_actions, read_progress};
use crate::guard::judge::stop::LIQUIDATION_ROOM_PCT;
use crate::guard::judge::stop::stop_order;
use crate::guard::state::guard::Guard;
use crate::guard::state::own_cloid::intent_of;
use crate::guard::state::pending::PendingOrder;
use crate::venue::action::{Action, Cancel};
use crate::venue::market::{Market, Toward};
use crate::venue::order::Order;
use rust_decimal::Decimal;
use std::collections::BTreeSet;

/// What a market's position needs.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Need {
    /// A stop of the guard's.
    Stop(Order),
    /// To be closed: no stop can stand for it, or none was to be had.
    Close(&'static str),
    /// One own stop less (its order id).
    Less(u64),
    /// This smaller own stop, for the sake of the event that placed the one it replaces (its order id).
    Smaller(u64, Order),
    /// Nothing until the next reads show what is on its way.
    Patience,
}

/// A position and the stops that may stand for it.
struct Held<'a> {
    market: &'a Market,
    is_long: bool,
    size: Decimal,
    mark: Decimal,
    liquidation_px: Option<Decimal>,
    stops: Vec<StandingStop>,
}

impl Held<'_> {
    fn is_tighter(&self, px: Decimal, other: Decimal) -> bool {
        if self.is_long { px > other } else { px < other }
    }

    /// Whether a trigger is on the losing side of the mark: one that is not would fire at once.
    fn is_losing(&self, px: Decimal) -> bool {
        px > Decimal::ZERO && self.is_tighter(self.mark, px)
    }

    fn is_inside_liquidation(&self, px: Decimal) -> bool {
        self.liquidation_px.is_none_or(|liquidation_px| self.is_tighter(px, liquidation_px))
    }

    fn toward_mark(&self) -> Toward {
        if self.is_long { Toward::Up } else { Toward::Down }
    }

    /// Where a new stop goes: the rule's distance from the mark, or nearer where liquidation comes first.
    fn new_trigger(&self, stop_pct: Decimal) -> Option<Decimal> {
        let distance = percent_of(self.mark, stop_pct);
        let px = if self.is_long { self.mark.saturating_sub(distance) } else { self.mark.saturating_add(distance) };
        let mut px = self.market.round_price(px, self.toward_mark());
        if !self.is_losing(px) {
            // On the cheapest coins a tick is more than the rule's distance.
            let away = if self.is_long { Toward::Down } else { Toward::Up };
            px = self.market.next_price(self.mark, away);
        }
        if let Some(liquidation_px) = self.liquidation_px {
            let room = percent_of(self.mark.saturating_sub(liquidation_px), LIQUIDATION_ROOM_PCT);
            let limit = self.market.round_price(liquidation_px.saturating_add(room), self.toward_mark());
            px = if self.is_tighter(limit, px) { limit } else { px };
        }
        self.is_losing(px).then_some(px)
    }

    /// The stops that count: inside the liquidation price.
    fn counting(&self) -> impl Iterator<Item = &StandingStop> {
        self.stops.iter().filter(|stop| self.is_inside_liquidation(stop.px))
    }

    fn bare(&self) -> Decimal {
        self.size.saturating_sub(sum_cover(self.counting(), self.size)).max(Decimal::ZERO)
    }

    /// The stop that covers what nothing covers, in place of the own stops that rest: never further from the price.
    fn missing_stop(&self, stop_pct: Decimal) -> Option<Order> {
        let kept = sum_cover(self.counting().filter(|stop| !(stop.is_own && stop.shown.is_some())), self.size);
        let size = self.size.saturating_sub(kept);
        let mut trigger_px = self.new_trigger(stop_pct)?;
        for own in self.counting().filter(|stop| stop.is_own && self.is_losing(stop.px)) {
            trigger_px = if self.is_tighter(own.px, trigger_px) { own.px } else { trigger_px };
        }
        Some(stop_order(self.market, self.is_long, trigger_px, size))
    }

    /// An own stop without which stops at least as tight still cover the position. The largest is tried first, so
    /// that of an old stop and its replacement the right one goes.
    fn spare(&self) -> Option<u64> {
        let mut own: Vec<&StandingStop> = self.counting().filter(|stop| stop.is_own).collect();
        own.sort_by_key(|stop| std::cmp::Reverse(stop.size));
        let beyond = self.stops.iter().filter(|stop| stop.is_own && !self.is_inside_liquidation(stop.px));
        let superfluous = own.into_iter().find(|own| {
            let others = self.counting().filter(|stop| stop.shown != own.shown && !self.is_tighter(own.px, stop.px));
            sum_cover(others, self.size) >= self.size
        });
        beyond.chain(superfluous).next()?.shown.map(|(oid, _)| oid)
    }

    /// A smaller stop at the same trigger, where the only own stop is larger than what others leave to it.
    fn smaller_stop(&self) -> Option<(u64, Order)> {
        let mut own = self.counting().filter(|stop| stop.is_own);
        let (Some(only), None) = (own.next(), own.next()) else { return None };
        let tight = self.counting().filter(|stop| !stop.is_own && !self.is_tighter(only.px, stop.px));
        let needed = self.size.saturating_sub(sum_cover(tight, self.size));
        let is_larger =
            only.size.is_some_and(|size| size > needed) && needed > Decimal::ZERO && self.is_losing(only.px);
        let (oid, _) = only.shown.filter(|_| is_larger)?;
        Some((oid, stop_order(self.market, self.is_long, only.px, needed)))
    }
}

/// Does for every market what its position needs.
pub(crate) fn run(step: &mut Step<'_>) {
    let positions = step.guard.view.account.iter().flat_map(|account| account.positions.keys());
    let assets: BTreeSet<u32> =
        positions.copied().chain(own_stops(step.guard)).chain(step.guard.watch.cared_for()).collect();
    let (mut first, mut all_known) = (Vec::new(), true);
    for asset in assets {
        if !read_progress::is_settled(step.guard, asset, step.now_ms) || guard_actions::is_acting_on(step.guard, asset)
        {
            all_known = false;
            continue;
        }
        match need(step.guard, asset) {
            None => step.guard.watch.settle(asset),
            Some(Need::Patience) => {}
            Some(Need::Less(oid)) => {
                let action = Action::Cancel { cancels: vec![Cancel { asset, oid }], fast: false };
                replace_stop(step, oid, action);
            }
            Some(Need::Smaller(oid, order)) => {
                replace_stop(step, oid, order_action(vec![order]));
            }
            Some(need) => {
                let care = step.guard.watch.care_of(asset);
                let due = step.now_ms >= care.not_before_ms;
                match care.of {
                    _ if !due => {}
                    Some(of) => try_again(step, of, asset, need),
                    None => first.push((asset, need)),
                }
            }
        }
    }
    if step.guard.config.mode == Mode::Paper {
        if all_known {
            protect_on_paper(step, first);
        }
    } else if !first.is_empty() {
        record_protect(step, first);
    }
}

/// Markets in which a stop of the guard's rests.
fn own_stops(guard: &Guard) -> impl Iterator<Item = u32> {
    guard.view.orders.values().filter(|order| order.is_guards() && order.stop_px.is_some()).map(|order| order.asset)
}

fn need(guard: &Guard, asset: u32) -> Option<Need> {
    let orphan = || orphan(guard, asset).map(Need::Less);
    let Some(held) = held(guard, asset) else { return orphan() };
    let care = guard.watch.care(asset);
    if care.is_some_and(|care| care.is_dust(held.size)) || held.bare().is_zero() {
        if held.stops.iter().any(|stop| stop.shown.is_none()) {
            return Some(Need::Patience);
        }
        let smaller = || held.smaller_stop().map(|(oid, order)| Need::Smaller(oid, order));
        let need = held.spare().map(Need::Less).or_else(smaller);
        // With an entry on its way the cover that is spare now may be needed next.
        return need.filter(|_| !has_entries(guard, asset, held.is_long)).or_else(orphan);
    }
    if care.is_some_and(|care| care.closing) {
        return Some(Need::Close("the venue refused the guard's stop"));
    }
    match held.missing_stop(guard.config.rules.stop) {
        Some(order) => Some(Need::Stop(order)),
        None => Some(Need::Close("no stop can stand between the price and liquidation")),
    }
}

fn held(guard: &Guard, asset: u32) -> Option<Held<'_>> {
    let position = guard.view.account.as_ref()?.positions.get(&asset)?;
    let is_long = position.szi > Decimal::ZERO;
    Some(Held {
        market: guard.view.market(asset)?,
        is_long,
        size: position.szi.abs(),
        mark: guard.view.mark(asset).filter(|mark| *mark > Decimal::ZERO).or_else(|| guard.view.price(asset))?,
        liquidation_px: position.liquidation_px.filter(|px| *px > Decimal::ZERO),
        stops: cover::stops_for(guard, asset, is_long),
    })
}

/// An own stop on a side where nothing is held: the account was read after the stop was first seen.
fn orphan(guard: &Guard, asset: u32) -> Option<u64> {
    let account = guard.view.account.as_ref()?;
    let szi = guard.view.position(asset);
    let is_bare = |is_long: bool| if is_long { szi <= Decimal::ZERO } else { szi >= Decimal::ZERO };
    let sides = [true, false].into_iter().filter(|is_long| is_bare(*is_long) && !has_entries(guard, asset, *is_long));
    let mut stops = sides.flat_map(|is_long| cover::stops_for(guard, asset, is_long)).filter(|stop| stop.is_own);
    stops.find_map(|stop| stop.shown.filter(|(_, seen_ms)| account.begun_ms >= *seen_ms).map(|(oid, _)| oid))
}

/// Whether an order may still open or enlarge this side.
fn has_entries(guard: &Guard, asset: u32, is_long: bool) -> bool {
    let rests = guard
        .view
        .orders
        .values()
        .chain(guard.view.placed())
        .any(|order| (order.asset, order.is_buy) == (asset, is_long) && order.is_entry());
    let is_pending = |order: &PendingOrder| (order.asset, order.is_buy) == (asset, is_long) && !order.reduce_only;
    rests || guard.pending.orders.iter().any(is_pending)
}

/// Cancels a stop of the guard's or places another beside it, for the sake of the event that placed it.
fn replace_stop(step: &mut Step<'_>, oid: u64, action: Action) {
    let Some(of) = step.guard.view.order(oid).and_then(|order| order.cloid).as_ref().and_then(intent_of) else {
        return;
    };
    if step.guard.config.mode != Mode::Paper {
        guard_actions::submit(step, Cause::Again { of }, vec![action]);
    }
}

fn try_again(step: &mut Step<'_>, of: u64, asset: u32, need: Need) {
    let order = match need {
        Need::Stop(order) => Some(order),
        Need::Close(_) => {
            close_order::close_order(step.guard, asset, step.guard.watch.care(asset).map_or(0, |care| care.closes))
        }
        Need::Less(_) | Need::Smaller(..) | Need::Patience => None,
    };
    if let (Some(order), true) = (order, step.guard.config.mode != Mode::Paper) {
        guard_actions::submit(step, Cause::Again { of }, vec![order_action(vec![order])]);
    }
}

/// One event for all that is bare now. Each stop is an action of its own: the venue may refuse a whole batch for
/// one order in it.
fn record_protect(step: &mut Step<'_>, bare: Vec<(u32, Need)>) {
    let (mut coins, mut actions, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    let assets: Vec<u32> = bare.iter().map(|(asset, _)| *asset).collect();
    for (asset, need) in bare {
        let Some(coin) = step.guard.view.market(asset).map(|market| market.coin.clone()) else { continue };
        match need {
            Need::Stop(order) => actions.push(order_action(vec![order])),
            Need::Close(text) => {
                step.guard.watch.care_of(asset).closing = true;
                let close = close_order::close_order(step.guard, asset, 0);
                let text = if close.is_some() { text } else { "there is no price to close it at" };
                problems.push(Problem { coin: coin.clone(), text: text.to_owned() });
                actions.extend(close.map(|order| order_action(vec![order])));
            }
            Need::Less(_) | Need::Smaller(..) | Need::Patience => continue,
        }
        coins.push(coin);
    }
    let coins = coins.iter().map(String::as_str).collect();
    let seq = guard_actions::submit(step, Cause::Protect { coins, problems }, actions);
    for asset in assets {
        step.guard.watch.care_of(asset).of = Some(seq);
    }
}

/// In paper mode: tells of the bare positions each time they are others.
fn protect_on_paper(step: &mut Step<'_>, needs: Vec<(u32, Need)>) {
    let side = |asset: u32| (asset, step.guard.view.position(asset) > Decimal::ZERO);
    let is_bare = |asset: &u32| held(step.guard, *asset).is_some_and(|held| !held.bare().is_zero());
    let bare: Vec<(u32, Need)> = needs.into_iter().filter(|(asset, _)| is_bare(asset)).collect();
    let sides: BTreeSet<(u32, bool)> = bare.iter().map(|(asset, _)| side(*asset)).collect();
    let is_new = sides != step.guard.watch.told_bare;
    step.guard.watch.told_bare = sides;
    if is_new && !bare.is_empty() {
        let assets: Vec<u32> = bare.iter().map(|(asset, _)| *asset).collect();
        record_protect(step, bare);
        assets.into_iter().for_each(|asset| step.guard.watch.settle(asset));
    }
}
