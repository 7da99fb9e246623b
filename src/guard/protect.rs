//! Protect: no position stays bare. What is not covered in full by market stops gets the guard's own stop for the rest;
//! where no stop can be had, the position is closed.

use std::collections::BTreeSet;

use rust_decimal::Decimal;

use super::Mode;
use super::book::percent_of;
use super::close::order_action;
use super::cover::{Stop, sum};
use super::effect::Effects;
use super::judge::stop;
use super::own::{Cause, Problem};
use super::pending::intent_of;
use super::state::Guard;
use crate::venue::action::{Action, Cancel};
use crate::venue::market::{Market, Toward};
use crate::venue::order::Order;

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
    stops: Vec<Stop>,
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
            let room = percent_of(self.mark.saturating_sub(liquidation_px), stop::LIQUIDATION_ROOM_PCT);
            let limit = self.market.round_price(liquidation_px.saturating_add(room), self.toward_mark());
            px = if self.is_tighter(limit, px) { limit } else { px };
        }
        self.is_losing(px).then_some(px)
    }

    /// The stops that count: inside the liquidation price.
    fn counting(&self) -> impl Iterator<Item = &Stop> {
        self.stops.iter().filter(|stop| self.is_inside_liquidation(stop.px))
    }

    fn bare(&self) -> Decimal {
        self.size.saturating_sub(sum(self.counting(), self.size)).max(Decimal::ZERO)
    }

    /// The stop that covers what nothing covers, in place of the own stops that rest: never further from the price.
    fn missing_stop(&self, stop_pct: Decimal) -> Option<Order> {
        let kept = sum(self.counting().filter(|stop| !(stop.is_own && stop.shown.is_some())), self.size);
        let size = self.size.saturating_sub(kept);
        let mut trigger_px = self.new_trigger(stop_pct)?;
        for own in self.counting().filter(|stop| stop.is_own && self.is_losing(stop.px)) {
            trigger_px = if self.is_tighter(own.px, trigger_px) { own.px } else { trigger_px };
        }
        Some(stop::order(self.market, self.is_long, trigger_px, size))
    }

    /// An own stop without which stops at least as tight still cover the position. The largest is tried first, so
    /// that of an old stop and its replacement the right one goes.
    fn spare(&self) -> Option<u64> {
        let mut own: Vec<&Stop> = self.counting().filter(|stop| stop.is_own).collect();
        own.sort_by_key(|stop| std::cmp::Reverse(stop.size));
        let beyond = self.stops.iter().filter(|stop| stop.is_own && !self.is_inside_liquidation(stop.px));
        let superfluous = own.into_iter().find(|own| {
            let others = self.counting().filter(|stop| stop.shown != own.shown && !self.is_tighter(own.px, stop.px));
            sum(others, self.size) >= self.size
        });
        beyond.chain(superfluous).next()?.shown.map(|(oid, _)| oid)
    }

    /// A smaller stop at the same trigger, where the only own stop is larger than what others leave to it.
    fn smaller_stop(&self) -> Option<(u64, Order)> {
        let mut own = self.counting().filter(|stop| stop.is_own);
        let (Some(only), None) = (own.next(), own.next()) else { return None };
        let tight = self.counting().filter(|stop| !stop.is_own && !self.is_tighter(only.px, stop.px));
        let needed = self.size.saturating_sub(sum(tight, self.size));
        let is_larger =
            only.size.is_some_and(|size| size > needed) && needed > Decimal::ZERO && self.is_losing(only.px);
        let (oid, _) = only.shown.filter(|_| is_larger)?;
        Some((oid, stop::order(self.market, self.is_long, only.px, needed)))
    }
}

impl Guard {
    /// Does for every market what its position needs.
    pub(super) fn protect(&mut self, effects: &mut Effects, now_ms: u64) {
        let positions = self.view.account.iter().flat_map(|account| account.positions.keys());
        let assets: BTreeSet<u32> = positions.copied().chain(self.own_stops()).chain(self.watch.cared_for()).collect();
        let (mut first, mut all_known) = (Vec::new(), true);
        for asset in assets {
            if !self.is_settled(asset, now_ms) || self.is_acting_on(asset) {
                all_known = false;
                continue;
            }
            match self.need(asset) {
                None => self.watch.settle(asset),
                Some(Need::Patience) => {}
                Some(Need::Less(oid)) => {
                    let action = Action::Cancel { cancels: vec![Cancel { asset, oid }], fast: false };
                    self.replace_stop(effects, oid, action, now_ms);
                }
                Some(Need::Smaller(oid, order)) => {
                    self.replace_stop(effects, oid, order_action(vec![order]), now_ms);
                }
                Some(need) => {
                    let care = self.watch.care_of(asset);
                    let due = now_ms >= care.not_before_ms;
                    match care.of {
                        _ if !due => {}
                        Some(of) => self.try_again(effects, of, asset, need, now_ms),
                        None => first.push((asset, need)),
                    }
                }
            }
        }
        if self.config.mode == Mode::Paper {
            if all_known {
                self.pretend_to_protect(effects, first, now_ms);
            }
        } else if !first.is_empty() {
            self.tell_protect(effects, first, now_ms);
        }
    }

    /// Markets in which a stop of the guard's rests.
    fn own_stops(&self) -> impl Iterator<Item = u32> {
        self.view.orders.values().filter(|order| order.is_guards() && order.stop_px.is_some()).map(|order| order.asset)
    }

    fn need(&self, asset: u32) -> Option<Need> {
        let orphan = || self.orphan(asset).map(Need::Less);
        let Some(held) = self.held(asset) else { return orphan() };
        let care = self.watch.care(asset);
        if care.is_some_and(|care| care.is_dust(held.size)) || held.bare().is_zero() {
            if held.stops.iter().any(|stop| stop.shown.is_none()) {
                return Some(Need::Patience);
            }
            let smaller = || held.smaller_stop().map(|(oid, order)| Need::Smaller(oid, order));
            let need = held.spare().map(Need::Less).or_else(smaller);
            // With an entry on its way the cover that is spare now may be needed next.
            return need.filter(|_| !self.has_entries(asset, held.is_long)).or_else(orphan);
        }
        if care.is_some_and(|care| care.closing) {
            return Some(Need::Close("the venue refused the guard's stop"));
        }
        match held.missing_stop(self.config.rules.stop) {
            Some(order) => Some(Need::Stop(order)),
            None => Some(Need::Close("no stop can stand between the price and liquidation")),
        }
    }

    fn held(&self, asset: u32) -> Option<Held<'_>> {
        let position = self.view.account.as_ref()?.positions.get(&asset)?;
        let is_long = position.szi > Decimal::ZERO;
        Some(Held {
            market: self.view.market(asset)?,
            is_long,
            size: position.szi.abs(),
            mark: self.view.mark(asset).filter(|mark| *mark > Decimal::ZERO).or_else(|| self.view.price(asset))?,
            liquidation_px: position.liquidation_px.filter(|px| *px > Decimal::ZERO),
            stops: self.stops_for(asset, is_long),
        })
    }

    /// An own stop on a side where nothing is held: the account was read after the stop was first seen.
    fn orphan(&self, asset: u32) -> Option<u64> {
        let account = self.view.account.as_ref()?;
        let szi = self.view.position(asset);
        let is_bare = |is_long: bool| if is_long { szi <= Decimal::ZERO } else { szi >= Decimal::ZERO };
        let sides = [true, false].into_iter().filter(|is_long| is_bare(*is_long) && !self.has_entries(asset, *is_long));
        let mut stops = sides.flat_map(|is_long| self.stops_for(asset, is_long)).filter(|stop| stop.is_own);
        stops.find_map(|stop| stop.shown.filter(|(_, seen_ms)| account.begun_ms >= *seen_ms).map(|(oid, _)| oid))
    }

    /// Whether an order may still open or enlarge this side.
    fn has_entries(&self, asset: u32, is_long: bool) -> bool {
        let rests = self
            .view
            .orders
            .values()
            .chain(self.view.placed())
            .any(|order| (order.asset, order.is_buy) == (asset, is_long) && order.is_entry());
        let is_pending = |order: &super::pending::PendingOrder| {
            (order.asset, order.is_buy) == (asset, is_long) && !order.reduce_only
        };
        rests || self.pending.orders.iter().any(is_pending)
    }

    /// Cancels a stop of the guard's or places another beside it, for the sake of the event that placed it.
    fn replace_stop(&mut self, effects: &mut Effects, oid: u64, action: Action, now_ms: u64) {
        let Some(of) = self.view.order(oid).and_then(|order| order.cloid).as_ref().and_then(intent_of) else { return };
        if self.config.mode != Mode::Paper {
            self.act(effects, Cause::Again { of }, vec![action], now_ms);
        }
    }

    fn try_again(&mut self, effects: &mut Effects, of: u64, asset: u32, need: Need, now_ms: u64) {
        let order = match need {
            Need::Stop(order) => Some(order),
            Need::Close(_) => self.close_order(asset, self.watch.care(asset).map_or(0, |care| care.closes)),
            Need::Less(_) | Need::Smaller(..) | Need::Patience => None,
        };
        if let (Some(order), true) = (order, self.config.mode != Mode::Paper) {
            self.act(effects, Cause::Again { of }, vec![order_action(vec![order])], now_ms);
        }
    }

    /// One event for all that is bare now. Each stop is an action of its own: the venue may refuse a whole batch for
    /// one order in it.
    fn tell_protect(&mut self, effects: &mut Effects, bare: Vec<(u32, Need)>, now_ms: u64) {
        let (mut coins, mut actions, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        let assets: Vec<u32> = bare.iter().map(|(asset, _)| *asset).collect();
        for (asset, need) in bare {
            let Some(coin) = self.view.market(asset).map(|market| market.coin.clone()) else { continue };
            match need {
                Need::Stop(order) => actions.push(order_action(vec![order])),
                Need::Close(text) => {
                    self.watch.care_of(asset).closing = true;
                    let close = self.close_order(asset, 0);
                    let text = if close.is_some() { text } else { "there is no price to close it at" };
                    problems.push(Problem { coin: coin.clone(), text: text.to_owned() });
                    actions.extend(close.map(|order| order_action(vec![order])));
                }
                Need::Less(_) | Need::Smaller(..) | Need::Patience => continue,
            }
            coins.push(coin);
        }
        let coins = coins.iter().map(String::as_str).collect();
        let seq = self.act(effects, Cause::Protect { coins, problems }, actions, now_ms);
        for asset in assets {
            self.watch.care_of(asset).of = Some(seq);
        }
    }

    /// In paper mode: tells of the bare positions each time they are others.
    fn pretend_to_protect(&mut self, effects: &mut Effects, needs: Vec<(u32, Need)>, now_ms: u64) {
        let side = |asset: u32| (asset, self.view.position(asset) > Decimal::ZERO);
        let is_bare = |asset: &u32| self.held(*asset).is_some_and(|held| !held.bare().is_zero());
        let bare: Vec<(u32, Need)> = needs.into_iter().filter(|(asset, _)| is_bare(asset)).collect();
        let sides: BTreeSet<(u32, bool)> = bare.iter().map(|(asset, _)| side(*asset)).collect();
        let is_new = sides != self.watch.told_bare;
        self.watch.told_bare = sides;
        if is_new && !bare.is_empty() {
            let assets: Vec<u32> = bare.iter().map(|(asset, _)| *asset).collect();
            self.tell_protect(effects, bare, now_ms);
            assets.into_iter().for_each(|asset| self.watch.settle(asset));
        }
    }
}
