//! Open orders as the feed tells them: they are read where something became of one, and where the feed shows others than were
//! read.

use crate::guard::effects::{Command, Read};
use crate::guard::flow::feed::distrust::differ;
use crate::guard::flow::step_context::Step;
use crate::guard::state::cover;
use crate::guard::state::guard::Guard;
use crate::guard::state::view::Resting;
use crate::venue::info::OpenOrder;
use crate::venue::side::PositionSide;
use crate::venue::stream::events::OrderUpdate;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Frames have no time of their own, and one that is later than this would be believed by nobody: what they show in the meantime
/// may be from before a change that was read.
const LATE_MS: u64 = 5_000;

/// What the venue calls an order that it holds.
const RESTS: [&str; 2] = ["open", "triggered"];

/// Takes in what became of orders.
pub(super) fn on_updates(step: &mut Step<'_>, updates: &[OrderUpdate]) {
    step.guard.feed.updated_ms = step.now_ms;
    for update in updates {
        let (oid, size) = (update.order.oid, update.order.sz);
        step.guard.view.note_oid(oid);
        let is_open = RESTS.contains(&update.status.as_str());
        let known = step.guard.order(oid);
        let is_known = match known {
            Some(order) => is_open && order.size == size,
            None => !is_open,
        };
        let cover = known.filter(|order| !is_open && covers(step.guard, order)).map(|order| order.asset);
        if let Some(asset) = cover {
            // What is left, and at which price, the next read of the account tells.
            step.guard.watch.gone_ms.insert(asset, step.now_ms);
            let orders = if ends(step.guard, asset) { Read::Orders } else { Read::OrdersNow };
            step.effects.immediate.extend([Read::AccountNow, orders].map(Command::Read));
        } else if !is_known && is_quiet(step.guard) {
            step.effects.immediate.push(Command::Read(Read::Orders));
        }
    }
}

/// Whether all that was read to be held of a market is being closed, or was: its stops go with it, and there is nothing to cover.
fn ends(guard: &Guard, asset: u32) -> bool {
    let held = guard.view.position(asset);
    PositionSide::of(held).is_none_or(|side| {
        guard.sent.being_closed(asset, side) >= side.held(held) && guard.sent.may_have_filled(asset, side).is_zero()
    })
}

fn covers(guard: &Guard, order: &Resting) -> bool {
    cover::covers(order, guard.view.position(order.asset))
}

/// Takes in all open orders.
pub(super) fn on_open_orders(step: &mut Step<'_>, orders: &[OpenOrder]) {
    step.guard.feed.orders_told_ms = step.now_ms;
    let Some(read_ms) = step.guard.view.orders_ms.filter(|_| step.guard.feed.is_trusted(step.now_ms)) else { return };
    let told: BTreeMap<u64, Decimal> = orders.iter().filter(|order| is_core(step.guard, order)).map(of).collect();
    let read: BTreeMap<u64, Decimal> = step.guard.view.orders.values().map(|order| (order.oid, order.size)).collect();
    if told == read {
        step.guard.feed.orders_differ = None;
        // They have no time of their own: they are as late as what has one.
        step.guard.view.orders_agreed_ms = Some(step.guard.feed.as_of_ms);
        return;
    }
    let missing = step.guard.view.orders.values().filter(|order| !told.contains_key(&order.oid));
    let is_bare = missing.into_iter().any(|order| covers(step.guard, order));
    let (is_idle, is_settled) = (step.guard.is_idle(), is_quiet(step.guard));
    let feed = &mut step.guard.feed;
    let since_ms = feed.orders_differ.as_ref().filter(|(_, before)| *before == read).map(|(since_ms, _)| *since_ms);
    feed.orders_differ = Some((since_ms.unwrap_or(step.now_ms), read));
    // While they differ they are read on their interval, and answers that lag get no better by being asked for sooner.
    let wanted =
        if is_bare { Some(Read::OrdersNow) } else { Some(Read::Orders).filter(|_| since_ms.is_none() && is_settled) };
    step.effects.immediate.extend(wanted.map(Command::Read));
    // Nothing was told to have happened since the read, and they were read since they differed, for longer than a frame is late.
    let is_quiet = is_idle && feed.updated_ms.max(feed.filled_ms) < read_ms;
    let is_late = |since_ms: u64| step.now_ms.saturating_sub(since_ms) < LATE_MS;
    if is_quiet && since_ms.is_some_and(|since_ms| read_ms > since_ms && !is_late(since_ms)) {
        feed.orders_differ = None;
        differ(step, "its open orders are not those that are read", "for seconds on end");
    }
}

/// Whether nothing was sent that reads have not shown: what was is read after in any case.
fn is_quiet(guard: &Guard) -> bool {
    guard.is_idle() && guard.sent.is_settled()
}

fn is_core(guard: &Guard, order: &OpenOrder) -> bool {
    guard.view.universe.by_coin(&order.coin).is_some()
}

fn of(order: &OpenOrder) -> (u64, Decimal) {
    (order.oid, order.sz)
}
