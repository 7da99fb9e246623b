//! Protect: no position stays bare. What is not covered in full by market stops gets the guard's own stop for the rest, at
//! its line; where no stop can be had, or the price is beyond the line, it is closed.

use crate::guard::config::Mode;
use crate::guard::flow::close_order::order_action;
use crate::guard::flow::guard_actions::Cause;
use crate::guard::flow::held_position::HeldPosition;
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{close_order, cover as cover_lines, guard_actions, make_room, read_progress};
use crate::guard::state::guard::Guard;
use crate::guard::state::own_cloid::intent_of;
use crate::guard::state::standing_stops::stops_for;
use crate::record::events::Problem;
use crate::venue::action::{Action, Cancel};
use crate::venue::order::Order;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;
use std::collections::BTreeSet;

/// Why a position without a stop is closed at once.
const BEYOND: &str = "it has no stop, and the price is beyond where its stop stood";

/// What would close a position is seen for so long first, and by another read of the account: its stop may have fired, and
/// one read may be wrong.
const SEEN_FOR_MS: u64 = 500;

/// Without another read of the account it is closed after so long.
const UNREAD_FOR_MS: u64 = 2_500;

/// After so long without a position a stop of the guard's goes, whatever the clocks say.
const ORPHAN_AFTER_MS: u64 = 10_000;

/// What a market's position needs.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Need {
    /// A stop of the guard's.
    Stop(Order),
    /// To be closed: no stop can stand for it, or none was to be had.
    Close(&'static str),
    /// This much of it to be closed: its stop would have fired. And a stop for what else of it is bare.
    CloseBeyond(Decimal, Option<Order>),
    /// One own stop less (its order id).
    Less(u64),
    /// This smaller own stop, for the sake of the event that placed the one it replaces (its order id).
    Smaller(u64, Order),
    /// Nothing until the next reads show what is on its way.
    Patience,
}

/// Does for every market what its position needs.
pub(crate) fn run(step: &mut Step<'_>) {
    let positions = step.guard.view.account.iter().flat_map(|account| account.positions.keys());
    let assets: BTreeSet<u32> =
        positions.copied().chain(own_stops(step.guard)).chain(step.guard.watch.retried_markets()).collect();
    let (mut first, mut all_known) = (Vec::new(), true);
    for asset in assets {
        let is_placing = guard_actions::is_placing_in(step.guard, asset);
        if is_placing || !read_progress::is_settled(step.guard, asset, step.now_ms) {
            all_known = false;
            continue;
        }
        let need = match need(step.guard, asset, step.now_ms) {
            Some(Need::CloseBeyond(_, Some(stop))) if step.guard.must_be_flat() => Some(Need::Stop(stop)),
            Some(Need::Close(_) | Need::CloseBeyond(..)) if is_unread(step.guard, asset) => {
                let held = HeldPosition::of(step.guard, asset, step.now_ms);
                Some(held.and_then(|held| held.backstop()).map_or(Need::Patience, Need::Stop))
            }
            need => need,
        };
        if step.guard.must_be_flat() && !matches!(need, Some(Need::Stop(_))) {
            // Closes, and what becomes of stops that are not needed, are the flatten's.
            continue;
        }
        match need {
            None => step.guard.watch.settle(asset),
            Some(Need::Patience) => {}
            Some(Need::Less(_) | Need::Smaller(..)) if guard_actions::is_acting_on(step.guard, asset) => {}
            // Its stops stay for what was read.
            Some(Need::Less(_) | Need::Smaller(..)) if step.guard.feed.by_account.contains(&asset) => {}
            Some(Need::Less(_) | Need::Smaller(..))
                if step.guard.watch.retry(asset).is_some_and(|retry| step.now_ms < retry.not_before_ms) => {}
            Some(Need::Less(oid)) if !step.guard.watch.own_cancels.is_due(oid, step.now_ms) => {}
            Some(Need::Less(oid)) => {
                let action = Action::Cancel { cancels: vec![Cancel { asset, oid }], fast: false };
                replace_stop(step, oid, action);
            }
            Some(Need::Smaller(oid, order)) => {
                replace_stop(step, oid, order_action(vec![order]));
            }
            Some(need) => {
                let retry = step.guard.watch.retry_mut(asset);
                let due = step.now_ms >= retry.not_before_ms;
                match retry.of {
                    _ if !due => {}
                    Some(of) if retry.wants_room => make_room::run(step, of, asset, !matches!(need, Need::Stop(_))),
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

/// Whether fills alone tell what is held, or the feed's account shows something else than is known: what a push alone has told closes
/// nothing, and has a stop where one can stand.
fn is_unread(guard: &Guard, asset: u32) -> bool {
    guard.view.is_by_fill(asset) || guard.feed.told.is_anew(asset) || guard.feed.is_shown_alone(asset)
}

/// Markets in which a stop of the guard's rests.
fn own_stops(guard: &Guard) -> impl Iterator<Item = u32> {
    guard.view.orders.values().filter(|order| order.is_guards() && order.stop_px.is_some()).map(|order| order.asset)
}

fn need(guard: &Guard, asset: u32, now_ms: u64) -> Option<Need> {
    let orphan = || orphan(guard, asset, now_ms).map(Need::Less);
    let Some(held) = HeldPosition::of(guard, asset, now_ms) else { return orphan() };
    let retry = guard.watch.retry(asset);
    if retry.is_some_and(|retry| retry.is_dust(held.size)) || held.bare().is_zero() {
        if held.stops.iter().any(|stop| stop.shown.is_none()) {
            return Some(Need::Patience);
        }
        let smaller = || held.smaller_stop().map(|(oid, order)| Need::Smaller(oid, order));
        let need = held.spare().map(Need::Less).or_else(smaller);
        // With an entry on its way the cover that is spare now may be needed next.
        let may_be_more = guard.is_account_older() || guard.may_be_opening(asset, held.side());
        return need.filter(|_| !may_be_more).or_else(orphan);
    }
    if retry.is_some_and(|retry| retry.closing) {
        return Some(Need::Close("the venue refused the guard's stop"));
    }
    if held.has_beyond() {
        return need_beyond(guard, asset, &held, now_ms);
    }
    match held.missing_stop() {
        Some(order) => Some(Need::Stop(order)),
        None if !is_seen_twice(guard, asset, now_ms) => Some(Need::Patience),
        None => Some(Need::Close("no stop can stand between the price and liquidation")),
    }
}

/// What a position needs that has the price beyond its line: to be closed for as long as it takes, and a stop that waits
/// beside the closes once one of them came to nothing.
fn need_beyond(guard: &Guard, asset: u32, held: &HeldPosition<'_>, now_ms: u64) -> Option<Need> {
    let rest = held.missing_stop_within_line();
    let Some(size) = held.beyond_line() else {
        return rest.or_else(|| held.backstop()).map(Need::Stop);
    };
    if !is_seen_twice(guard, asset, now_ms) {
        return Some(Need::Patience);
    }
    let has_tried = guard.watch.retry(asset).is_some_and(|retry| retry.closes > 0);
    Some(Need::CloseBeyond(size, rest.or_else(|| held.backstop().filter(|_| has_tried))))
}

/// Whether more than one read of the account shows what leaves a position bare, and the open orders of after its last change what
/// covers it and how it came to that.
fn is_seen_twice(guard: &Guard, asset: u32, now_ms: u64) -> bool {
    let since_ms = guard.watch.bare_ms.get(&asset).copied().unwrap_or(now_ms);
    let seen_ms = now_ms.saturating_sub(since_ms);
    let is_read_since = guard.view.account.as_ref().is_some_and(|account| account.begun_ms > since_ms);
    let is_explained = guard.lines.get(asset).is_none_or(|line| !line.has_changed());
    let is_known = is_read_since && cover_lines::are_orders_later(guard, asset) && is_explained;
    seen_ms >= SEEN_FOR_MS && is_known || seen_ms >= UNREAD_FOR_MS
}

/// An own stop on a side where nothing is held: the account was read after the stop was first seen, and is of no time
/// before that.
fn orphan(guard: &Guard, asset: u32, now_ms: u64) -> Option<u64> {
    let account = guard.view.account.as_ref().filter(|_| !guard.is_account_older())?;
    // By whichever clock is ahead, for as long as reads may lag.
    let is_since = |seen_ms: u64| {
        let latest_ms = guard.clock.latest_ms().saturating_sub(now_ms.saturating_sub(seen_ms));
        let is_old = account.begun_ms >= seen_ms.saturating_add(ORPHAN_AFTER_MS);
        account.begun_ms >= seen_ms && (account.venue_ms >= latest_ms || is_old)
    };
    let is_idle = |side: &PositionSide| !may_be_held(guard, asset, *side) && !guard.may_be_opening(asset, *side);
    let sides = PositionSide::BOTH.into_iter().filter(is_idle);
    let mut stops = sides.flat_map(|side| stops_for(guard, asset, side)).filter(|stop| stop.is_own);
    stops.find_map(|stop| stop.shown.filter(|(_, seen_ms)| is_since(*seen_ms)).map(|(oid, _)| oid))
}

fn may_be_held(guard: &Guard, asset: u32, side: PositionSide) -> bool {
    guard.is_held(asset, side) || guard.lines.ended.may_be_held(asset, side)
}

/// Cancels a stop of the guard's or places another beside it, for the sake of the event that placed it.
fn replace_stop(step: &mut Step<'_>, oid: u64, action: Action) {
    let Some(of) = step.guard.order(oid).and_then(|order| order.cloid).as_ref().and_then(intent_of) else {
        return;
    };
    if step.guard.config.mode != Mode::Paper {
        guard_actions::submit(step, Cause::FollowUp { of }, vec![action]);
    }
}

fn try_again(step: &mut Step<'_>, of: u64, asset: u32, need: Need) {
    let tries = step.guard.watch.retry(asset).map_or(0, |retry| retry.closes);
    let (close, stop) = match need {
        Need::Stop(order) => (None, Some(order)),
        Need::Close(_) => (close_order::close_order(step.guard, asset, tries), None),
        Need::CloseBeyond(size, rest) => (close_part(step.guard, asset, size, tries), rest),
        Need::Less(_) | Need::Smaller(..) | Need::Patience => (None, None),
    };
    if let Some(order) = &stop {
        note_first_stop(step.guard, order);
    }
    if step.guard.config.mode != Mode::Paper {
        for order in close.into_iter().chain(stop) {
            guard_actions::submit(step, Cause::FollowUp { of }, vec![order_action(vec![order])]);
        }
    }
}

/// The close of so much of a position at most.
fn close_part(guard: &Guard, asset: u32, size: Decimal, tries: usize) -> Option<Order> {
    close_order::close_order(guard, asset, tries).map(|order| Order { size: size.min(order.size), ..order })
}

/// Remembers where the guard sends its stop, so that the stop counts however far the price has moved when it rests.
fn note_first_stop(guard: &mut Guard, order: &Order) {
    if let Some(line) = guard.lines.get_mut(order.asset) {
        line.sent_px = order.market_stop_px();
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
            Need::Stop(order) => {
                note_first_stop(step.guard, &order);
                actions.push(order_action(vec![order]));
            }
            Need::CloseBeyond(size, rest) => {
                let close = close_part(step.guard, asset, size, 0);
                problems.push(Problem { coin: coin.clone(), text: BEYOND.to_owned() });
                rest.iter().for_each(|order| note_first_stop(step.guard, order));
                actions.extend(close.into_iter().chain(rest).map(|order| order_action(vec![order])));
            }
            Need::Close(text) => {
                step.guard.watch.retry_mut(asset).closing = true;
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
        step.guard.watch.retry_mut(asset).of = Some(seq);
    }
}

/// In paper mode: tells of the bare positions each time they are others.
fn protect_on_paper(step: &mut Step<'_>, needs: Vec<(u32, Need)>) {
    let side = |asset: u32| (asset, step.guard.view.position(asset) > Decimal::ZERO);
    let is_bare =
        |asset: &u32| HeldPosition::of(step.guard, *asset, step.now_ms).is_some_and(|held| !held.bare().is_zero());
    let bare: Vec<(u32, Need)> = needs.into_iter().filter(|(asset, _)| is_bare(asset)).collect();
    let sides: BTreeSet<(u32, bool)> = bare.iter().map(|(asset, _)| side(*asset)).collect();
    let is_new = sides != step.guard.watch.last_bare;
    step.guard.watch.last_bare = sides;
    if is_new && !bare.is_empty() {
        let assets: Vec<u32> = bare.iter().map(|(asset, _)| *asset).collect();
        record_protect(step, bare);
        assets.into_iter().for_each(|asset| step.guard.watch.settle(asset));
    }
}
