//! Keeps the lines of all positions as the reads show them, and since when a position is bare.

use crate::base::amount::percent_of;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::filled_away;
use crate::guard::flow::step_context::Step;
use crate::guard::state::cover::LinePart;
use crate::guard::state::cover_line::{CoverLine, FirstStop};
use crate::guard::state::guard::Guard;
use crate::guard::state::held_now::{Enlarged, HeldNow};
use crate::guard::state::judged_stops::JudgedStops;
use crate::guard::state::sent::key::Moment;
use crate::guard::state::standing_stops::{bare_size, live_for, note_doubted, sure_for};
use crate::guard::state::stop_geometry::StopGeometry;
use crate::record::risk_record::{LineMoved, RiskRecord};
use crate::venue::side::PositionSide;
use rust_decimal::{Decimal, dec};
use std::collections::{BTreeMap, BTreeSet};

/// The stop that an entry was judged with counts although the loss at it is over the rule's by this share of it: a fee or a tick
/// after an entry that was cut to the limit makes no other stop of its own. So does any stop of what was opened elsewhere.
const LOSS_TOLERANCE: Decimal = dec!(1.05);

/// A position's stops are looked at so often: those that count first tell how far the others may be.
const ROUNDS: usize = 3;

/// What other markets risk leaves at least this share of a market's loss to a position: a limit on all of them
/// together closes none by a stop right at the price.
const LEAST_SHARE: Decimal = dec!(0.1);

/// Takes in what the last reads show: positions, prices, and the stops that the venue has.
pub(crate) fn refresh(step: &mut Step<'_>) {
    let guard = &mut *step.guard;
    let Some(account) = &guard.view.account else { return };
    let read_ms = account.venue_ms;
    let positions = account.positions.iter().filter_map(|(asset, position)| {
        let side = PositionSide::of(position.szi)?;
        let mark = guard.view.mark(*asset).or_else(|| guard.view.price(*asset));
        let by = guard.watch.enlarged.get(asset).filter(|(enlarged, _)| *enlarged == side).map(|(_, by)| by.clone());
        let by = by.unwrap_or_default();
        let mid = guard.view.mids.get(asset).copied();
        Some((*asset, (side, HeldNow { held: position.szi.abs(), entry_px: position.entry_px, mark, mid, by })))
    });
    let positions: BTreeMap<u32, (PositionSide, HeldNow)> = positions.collect();
    filled_away::on_positions(guard, &positions);
    let is_repriced = |(asset, (side, now)): (&u32, &(PositionSide, HeldNow))| {
        guard.lines.get(*asset).is_some_and(|line| line.side == *side && line.is_repriced(now))
    };
    let is_any_repriced = positions.iter().any(is_repriced);
    guard.lines.set_positions(&positions, (read_ms, step.now_ms));
    guard.watch.enlarged.clear();
    if note_doubted(guard, step.now_ms) || is_any_repriced {
        // It may have found nobody in a thin book, or another position is as large as the one of before: no size shows anything of that.
        step.effects.immediate.push(Command::Read(Read::OrdersNow));
    }
    let assets: Vec<u32> = guard.lines.iter().map(|(asset, _)| asset).collect();
    for asset in assets {
        // What the nearest stops leave of the loss that is allowed is the next ones'.
        for _ in 0..ROUNDS {
            refresh_market(guard, asset);
        }
    }
    filled_away::ask(step);
}

/// Puts the lines that moved on disk: a life that ends in a crash must not take them with it, or a stop that somebody took
/// away meanwhile would come back farther from the price.
pub(crate) fn record_moved(step: &mut Step<'_>) {
    let at_ms = step.now_ms;
    let moved = step.guard.lines.take_moved().into_iter();
    step.effects.risk.extend(moved.map(|line| RiskRecord::Line(LineMoved { at_ms, line }).into()));
}

/// Whether the open orders were read since a market's position was last seen to change.
pub(crate) fn are_orders_later(guard: &Guard, asset: u32) -> bool {
    let changed_ms = guard.watch.changed_ms.get(&asset);
    changed_ms.is_none_or(|changed_ms| guard.view.orders_ms >= Some(*changed_ms))
}

fn refresh_market(guard: &mut Guard, asset: u32) {
    let Some(line) = guard.lines.get(asset) else { return };
    let liquidation_px = position_liquidation(guard, asset);
    let first_stop = first_stop(guard, asset, line);
    // A stop that closed a part of it may still be among the orders of an older read.
    let is_settled = are_orders_later(guard, asset) && !guard.feed.by_account.contains(&asset);
    // A line never moves back: what was covered before moves it by no trigger that one read alone shows.
    let stops = match (is_settled, line.uncovered() > Decimal::ZERO) {
        (true, true) => live_for(guard, asset, line.side),
        (true, false) => sure_for(guard, asset, line.side),
        (false, _) => Vec::new(),
    };
    let mark = geometry(guard, asset).map(|geometry| geometry.market_px);
    // What is closed and read as held still is covered by nothing: a stop for it would stand for a part that is held.
    let closed = guard.sent.told_closed(asset, line.side).min(line.uncovered());
    let Guard { lines, view, filled_away, .. } = guard;
    if let Some(line) = lines.get_mut(asset) {
        if let Some(orders_ms) = view.orders_ms.filter(|_| is_settled) {
            line.on_orders(view, asset, orders_ms, mark);
            let coin = view.market(asset).map(|market| market.coin.as_str());
            if let Some(away) = coin.and_then(|coin| filled_away.take(coin, line.side)) {
                line.judge(away.known);
                line.keep(&away.kept);
            }
        }
        (line.first_stop, line.liquidation_px) = (first_stop, liquidation_px);
        line.tighten(&stops, -closed);
        mark.into_iter().for_each(|mark| line.hold_judged(mark));
    }
}

/// Takes note of what may have enlarged the positions that have changed, or opened them anew, before the changes, signed, are
/// put down to it: a first stop goes no farther than the one that it was judged with.
pub(crate) fn note_enlarged(guard: &mut Guard, changes: &BTreeMap<u32, Decimal>, read: Moment) {
    for (asset, change) in changes {
        let Some(side) = side_of(guard, *asset, *change) else { continue };
        let of_fills = || judged_of_fills(guard, *asset, *change);
        let of_sent = || guard.sent.judged_stops(read, &guard.view, (*asset, side), *change);
        let judged = of_fills().unwrap_or_else(of_sent);
        let moved = guard.sent.moved_by(read, &guard.view, (*asset, side), *change);
        let begun = guard.feed.told.begun(*asset, side, read.venue_ms);
        let fired = || guard.sent.left_of_fired(read, &guard.view, (*asset, side), *change);
        let fired = moved.map_or_else(fired, |_| Vec::new());
        note_one(guard, (*asset, side), Enlarged { judged, begun, moved, fired, ..Enlarged::default() });
    }
}

/// The stops that the entries were judged with which opened what a read shows, where fills that the feed told name them.
fn judged_of_fills(guard: &Guard, asset: u32, change: Decimal) -> Option<JudgedStops> {
    let now = guard.view.position_read(asset);
    let opened = guard.feed.told.opened_by(asset, (now.saturating_sub(change), now))?;
    let judged =
        |(oid, size): (&u64, &Decimal)| Some(LinePart { px: guard.sent.judged_with(&guard.view, *oid)?, size: *size });
    Some(JudgedStops::each(opened.iter().map(judged).collect::<Option<Vec<_>>>()?))
}

/// The same of a fill, which names its order. Others of the same moment stay beside it.
pub(crate) fn note_filled(guard: &mut Guard, (asset, change): (u32, Decimal), oid: u64, read: Moment) {
    // What closes a part was judged with a stop of the other side.
    let opening = side_of(guard, asset, change).filter(|side| PositionSide::of(change) == Some(*side));
    let Some(side) = opening else { return };
    let named = guard.sent.judged_with(&guard.view, oid).map(|px| LinePart { px, size: change.abs() });
    let of_all = || guard.sent.judged_stops(read, &guard.view, (asset, side), change);
    let judged = named.map_or_else(of_all, |part| JudgedStops::each([part]));
    let before = guard.watch.enlarged.get(&asset).filter(|(other, _)| *other == side);
    let mut all = before.map(|(_, by)| by.judged.clone()).unwrap_or_default();
    all.add(side, judged);
    note_one(guard, (asset, side), Enlarged { judged: all, ..Enlarged::default() });
}

fn side_of(guard: &Guard, asset: u32, change: Decimal) -> Option<PositionSide> {
    PositionSide::of(guard.view.position(asset)).or_else(|| PositionSide::of(change))
}

fn note_one(guard: &mut Guard, (asset, side): (u32, PositionSide), by: Enlarged) {
    let (told, most) = (guard.sent.told_entries(asset, side), guard.sent.may_yet_show(asset, side));
    guard.watch.enlarged.insert(asset, (side, Enlarged { told, most, ..by }));
}

/// Takes note of the sides on which a position has ended since the read before, or may have: the changes, signed, show it, or what
/// was sent has opened and closed one between both, or closed all and opened some anew. And of those on which less is held by
/// something else than what the venue told of.
pub(crate) fn note_ended(guard: &mut Guard, changes: &BTreeMap<u32, Decimal>, begun_ms: u64) {
    let assets: BTreeSet<u32> =
        changes.keys().copied().chain(guard.sent.orders.iter().map(|order| order.asset)).collect();
    let sides = assets.into_iter().flat_map(|asset| PositionSide::BOTH.map(|side| (asset, side)));
    let ended = sides.filter(|(asset, side)| {
        let now = guard.view.position(*asset);
        let before = side.held(now.saturating_sub(changes.get(asset).copied().unwrap_or_default()));
        let was_held = !before.is_zero() || !guard.sent.may_have_filled(*asset, *side).is_zero();
        side.held(now).is_zero() && was_held || guard.sent.may_have_turned(*asset, *side, before)
    });
    let ended: Vec<(u32, PositionSide)> = ended.collect();
    let less = changes.iter().filter_map(|(asset, change)| {
        let now = guard.view.position(*asset);
        let before = now.saturating_sub(*change);
        let side = PositionSide::of(before)?;
        let is_told = guard.sent.told(&guard.view, *asset, before) == *change;
        (!is_told && side.held(now) < side.held(before)).then_some((*asset, side))
    });
    let less: Vec<(u32, PositionSide)> = less.collect();
    guard.watch.less_held.extend(ended.iter().copied().chain(less));
    guard.watch.ended_ms.extend(ended.into_iter().map(|key| (key, begun_ms)));
}

/// Takes note of the positions that the stops which reads have shown leave bare.
pub(crate) fn note_bare(guard: &mut Guard, now_ms: u64) {
    let is_dust = |asset: u32, held| guard.watch.retry(asset).is_some_and(|retry| retry.is_dust(held));
    let lines = guard.lines.iter().filter(|(asset, line)| !is_dust(*asset, line.held));
    let bare: Vec<u32> = lines.map(|(asset, _)| asset).filter(|asset| !bare_size(guard, *asset).is_zero()).collect();
    guard.watch.bare_ms.retain(|asset, _| bare.contains(asset));
    bare.into_iter().for_each(|asset| _ = guard.watch.bare_ms.entry(asset).or_insert(now_ms));
}

/// Takes in by how much a read shows a position changed, before that is put down to orders: one that is gone by just what the
/// venue told to have filled has ended, and so has one whose stop the price has reached. Returns whether the end is in doubt.
pub(crate) fn on_change(guard: &mut Guard, asset: u32, change: Decimal) -> bool {
    let Some(line) = guard.lines.get(asset).filter(|line| line.side.held(guard.view.position(asset)).is_zero()) else {
        return false;
    };
    let price = guard.view.price(asset);
    let is_reached = |part: &LinePart| price.is_some_and(|price| !line.side.losing(part.px, price));
    let before = guard.view.position(asset).saturating_sub(change);
    let is_known = guard.sent.told(&guard.view, asset, before) == change || line.covered_parts().iter().any(is_reached);
    if is_known {
        guard.lines.forget(asset);
    }
    !is_known
}

/// Takes note of how much an order of the guard's closed of a position.
pub(crate) fn on_closed(guard: &mut Guard, asset: u32, closed: Decimal) {
    let Some(mark) = geometry(guard, asset).map(|geometry| geometry.market_px) else { return };
    guard.lines.get_mut(asset).into_iter().for_each(|line| line.forget_closed(mark, closed));
}

/// Where stops for a market's position may stand, as far as prices are known.
pub(crate) fn geometry(guard: &Guard, asset: u32) -> Option<StopGeometry<'_>> {
    let position = guard.view.account.as_ref()?.positions.get(&asset)?;
    let side = PositionSide::of(position.szi)?;
    let mark = guard.view.mark(asset).filter(|mark| *mark > Decimal::ZERO).or_else(|| guard.view.price(asset))?;
    let liquidation_px = position_liquidation(guard, asset);
    Some(StopGeometry { market: guard.view.market(asset)?, side, from_px: mark, market_px: mark, liquidation_px })
}

fn position_liquidation(guard: &Guard, asset: u32) -> Option<Decimal> {
    guard.view.account.as_ref()?.liquidation_px.get(&asset).copied()
}

/// Where the part of a position that was never covered may have its stop: no farther than `max_stop`, and than the loss
/// that the rules leave to it; the guard's own no farther than `stop`.
fn first_stop(guard: &Guard, asset: u32, line: &CoverLine) -> Option<FirstStop> {
    let (rules, geometry) = (&guard.config.rules, geometry(guard, asset)?);
    let (side, mark) = (geometry.side, geometry.from_px);
    // A position that has gained since it was opened may have its stop where that was measured from.
    let from_px = line.opened_px.map_or(mark, |px| side.further_of(mark, px));
    // A stop stands on a tick: what is none counts with the next one toward the price.
    let on_tick = |px: Decimal| geometry.market.round_price(px, side.gaining_direction());
    let widest_px = on_tick(side.away(from_px, percent_of(from_px, rules.max_stop)));
    let by_rule = geometry.at_distance(rules.stop).or_else(|| geometry.nearest());
    let Some(distance) = loss_distance(guard, asset, line, from_px) else {
        let own_px = by_rule.and_then(|px| geometry.inside_liquidation(px));
        return Some(FirstStop { widest_px, own_px });
    };
    let at_most = on_tick(side.away(from_px, distance.saturating_mul(LOSS_TOLERANCE)));
    let at_limit = on_tick(side.away(from_px, distance));
    let tolerated =
        line.judged.furthest(side).map_or(at_most, |px| side.further_of(at_limit, side.nearer_of(px, at_most)));
    // What was lost since it was opened is lost: it counts, as long as the stop can still stand before the price.
    let of_trade = line.opened_px.map(|px| on_tick(side.away(side.nearer_of(mark, px), distance)));
    let at_loss = side.away(mark, distance);
    let at_loss = if at_loss <= Decimal::ZERO {
        // No price loses that much.
        by_rule
    } else {
        let at_loss = of_trade.filter(|px| geometry.is_losing(*px)).unwrap_or_else(|| on_tick(at_loss));
        if geometry.is_losing(at_loss) { Some(at_loss) } else { geometry.nearest() }
    };
    let judged = line.judged.nearest(side).map(on_tick).filter(|px| geometry.is_losing(*px));
    let own_px = side.nearest([by_rule, at_loss, judged].into_iter().flatten());
    let own_px = own_px.and_then(|px| geometry.inside_liquidation(px));
    Some(FirstStop { widest_px: side.nearer_of(widest_px, tolerated), own_px })
}

/// How far from `from_px` the part that was never covered loses what the rules leave to it; `None` where there is none.
fn loss_distance(guard: &Guard, asset: u32, line: &CoverLine, from_px: Decimal) -> Option<Decimal> {
    let rules = &guard.config.rules;
    let base = guard.config.base_equity(guard.judged_equity()?);
    let of_market = percent_of(base, rules.loss_per_trade);
    let others = guard.read_exposure.totals().loss.saturating_sub(guard.read_exposure.figures(asset).loss);
    let of_all = percent_of(base, rules.open_risk).saturating_sub(others);
    let allowed = of_market.min(of_all.max(of_market.saturating_mul(LEAST_SHARE)));
    let lost = line.covered_parts().iter().fold(Decimal::ZERO, |sum, part| {
        sum.saturating_add(line.side.loss(from_px, part.px).saturating_mul(part.size))
    });
    let new = line.uncovered();
    if new.is_zero() { None } else { allowed.saturating_sub(lost).max(Decimal::ZERO).checked_div(new) }
}
