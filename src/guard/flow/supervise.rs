//! Supervision: what happens whenever something was read, answered or waited for. Everything that moves the account
//! without a client's asking starts here.

use crate::guard::config::Mode;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::cover as cover_lines;
use crate::guard::flow::risk::{account, mode};
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{closing, discrepancies, feed, filled_away, flatten, guard_actions, over_limit, protect};
use crate::guard::state::cover;
use crate::guard::state::guard::Guard;
use crate::guard::state::intent::Intent;
use crate::guard::state::sent::key::Moment;
use crate::guard::state::view::Resting;
use crate::record::events::Trouble;
use crate::venue::info::{ClearinghouseState, OpenOrder};
use crate::venue::market::Universe;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// Closes may take this long before what they leave is covered beside them.
const CLOSE_PATIENCE_MS: u64 = 2_000;

/// Takes in the mids.
pub(crate) fn on_mids(step: &mut Step<'_>, mids: &BTreeMap<String, Decimal>, begun_ms: u64) {
    let guard = &mut *step.guard;
    guard.view.set_mids(mids, begun_ms);
    guard.paper.cross(&guard.view);
}

/// Takes in the markets. A position that was in none of those known before is looked at anew. A list that contradicts the known
/// one is not taken: orders, stops and lines go by asset ids, and would be another market's.
pub(crate) fn on_universe(step: &mut Step<'_>, universe: Universe) {
    if let Some(how) = step.guard.view.universe.contradicted_by(&universe) {
        if step.guard.view.contradiction.is_none() {
            let text = format!("the venue's list of markets is not the one that is known: {how}; entries are vetoed");
            step.record(Trouble::new(text));
            // One answer may be wrong.
            step.effects.immediate.push(Command::Read(Read::Universe));
        }
        let since_ms = step.guard.view.contradiction.as_ref().map_or(step.now_ms, |(_, since_ms)| *since_ms);
        step.guard.view.contradiction = Some((how, since_ms));
        return;
    }
    let view = &mut step.guard.view;
    view.contradiction = None;
    view.universe = std::mem::take(&mut view.universe).updated_by(universe);
    feed::on_universe(step);
    if step.guard.view.account.as_ref().is_some_and(|account| !account.unknown.is_empty()) {
        step.effects.immediate.push(Command::Read(Read::AccountNow));
    }
}

/// Takes in the account, unless a newer read is held; what it holds is looked after although its equity is not told.
pub(crate) fn on_account(step: &mut Step<'_>, mut state: ClearinghouseState, equity: Option<Decimal>, begun_ms: u64) {
    if step.guard.risk.purse_ms > 0 && begun_ms <= step.guard.risk.purse_ms {
        // It was on its way while the mode changed.
        return;
    }
    let is_held = step.guard.is_account_held(step.now_ms) && !step.guard.clock.ran_ahead_of(state.time);
    if !step.guard.clock.admits(state.time, begun_ms, is_held) {
        // The next one tells whether this time is right.
        step.effects.immediate.push(Command::Read(Read::AccountNow));
        return;
    }
    let venue_ms = step.guard.clock.time_of(state.time, begun_ms);
    state.time = venue_ms;
    if let Some(held) = step.guard.view.account.as_mut().filter(|_| !is_held) {
        held.venue_ms = held.venue_ms.min(venue_ms);
    }
    let unknown = step.guard.view.account.as_ref().map(|account| account.unknown.clone()).unwrap_or_default();
    let held: BTreeSet<u32> = held_markets(step.guard).collect();
    if let Some(changes) = step.guard.view.set_account(state, equity, begun_ms) {
        if step.guard.is_account_older() {
            // Entries wait for one that is not of a time before the start.
            step.effects.immediate.push(Command::Read(Read::AccountNow));
        }
        step.guard.watch.marked_ms = step.now_ms;
        step.guard.clock.read(venue_ms, begun_ms);
        step.guard.book.begin_by_venue(venue_ms, step.guard.clock.ahead_ms());
        step.guard.risk.is_mode_unread &= step.guard.risk.mode.is_none() || equity.is_none();
        mode::carry_equity(step.guard);
        let read = Moment { now_ms: begun_ms, venue_ms };
        filled_away::on_changes(step.guard, &changes);
        cover_lines::note_enlarged(step.guard, &changes, read);
        cover_lines::note_ended(step.guard, &changes, begun_ms);
        let ends = changes.iter().filter(|(asset, change)| cover_lines::on_change(step.guard, **asset, **change));
        if ends.count() > 0 && step.guard.must_be_flat() {
            // The next one tells whether nothing is left; elsewhere it comes soon enough on its own.
            step.effects.immediate.push(Command::Read(Read::AccountNow));
        }
        let Guard { sent, view, .. } = &mut *step.guard;
        let is_plain = |(asset, change): &(&u32, &Decimal)| {
            sent.is_told_whole(read, **asset, (view.position_read(**asset), **change))
        };
        let plain: BTreeSet<u32> = changes.iter().filter(is_plain).map(|(asset, _)| *asset).collect();
        sent.on_account_read(read, view, &changes);
        discrepancies::on_account_read(step, read);
        feed::on_account_read(step, &changes);
        step.guard.watch.forget_dust(&step.guard.view);
        // A coin listed since the markets were read: their interval may bring them a minute later.
        let Guard { watch, view, .. } = &mut *step.guard;
        let mut coins = view.account.iter().flat_map(|account| account.unknown.keys()).peekable();
        let (has_unknown, is_new) = (coins.peek().is_some(), coins.any(|coin| !unknown.contains_key(coin)));
        if watch.asks_for_markets(has_unknown, is_new, step.now_ms) {
            step.effects.immediate.push(Command::Read(Read::Universe));
        }
        // What was closed comes back: somebody trades on, perhaps by a TWAP order.
        if step.guard.must_be_flat() && held_markets(step.guard).any(|asset| !held.contains(&asset)) {
            step.guard.watch.flatten.twaps.look_again();
        }
        on_positions_changed(step, &changes, &plain);
    }
}

fn held_markets(guard: &Guard) -> impl Iterator<Item = u32> {
    guard.view.account.iter().flat_map(|account| account.positions.keys()).copied()
}

/// Takes in the open orders, unless a newer read is held.
pub(crate) fn on_orders(step: &mut Step<'_>, orders: Vec<OpenOrder>, begun_ms: u64) {
    if let Some(left) = step.guard.view.set_orders(orders, begun_ms, step.now_ms) {
        on_orders_vanished(step, &left);
        let at = step.guard.moment(step.now_ms);
        let guard = &mut *step.guard;
        guard.sent.resting().for_each(|told| guard.view.confirm(told));
        for (oid, px) in guard.sent.judged_resting(&guard.view) {
            guard.view.orders.get_mut(&oid).into_iter().for_each(|order| order.judged_px = Some(px));
        }
        guard.earlier_stops.give_to(&mut guard.view);
        guard.sent.on_orders_read(&guard.view, &left, begun_ms, at);
        guard.forget_order_owners();
        if guard.is_account_older() {
            step.effects.immediate.push(Command::Read(Read::AccountNow));
        }
        let mut own_cancels = std::mem::take(&mut guard.watch.own_cancels);
        own_cancels.retain(|oid| guard.order(oid).is_some());
        guard.watch.own_cancels = own_cancels;
        // Reads that miss what the venue said rests may be old: it is asked for each of these.
        let missed = guard.sent.ask_about(begun_ms, step.now_ms).into_iter();
        let reads = missed.map(|((intent, index), cloid)| Read::OrderStatus { intent, index, cloid });
        step.effects.immediate.extend(reads.map(Command::Read));
    }
}

/// Takes in how many requests the venue still takes from the account.
pub(crate) fn on_requests_left(guard: &mut Guard, left: u64) {
    let waiting = guard.intents.values().flat_map(Intent::at_venue);
    let unanswered = waiting.fold(0_u64, |all, (_, planned)| all.saturating_add(planned.price().most));
    guard.allowance.on_read(left, unanswered);
}

/// Takes note of positions that a read showed changed, and by how much, signed; of those that are `plain` the venue had told all that
/// moved them, and no stop can have gone with that.
fn on_positions_changed(step: &mut Step<'_>, changes: &BTreeMap<u32, Decimal>, plain: &BTreeSet<u32>) {
    if !changes.is_empty() {
        // What the first read of a life shows was held before: what the last life read tells whether it has changed.
        if step.guard.risk.last_life.is_none() {
            step.guard.risk.traded(step.now_ms);
        }
        let is_plain = changes.keys().all(|asset| plain.contains(asset));
        step.effects.immediate.push(Command::Read(if is_plain { Read::Orders } else { Read::OrdersNow }));
    }
    for (asset, change) in changes {
        let held = step.guard.view.position(*asset);
        let before = held.saturating_sub(*change);
        step.guard.watch.on_position_changed(*asset, before, held);
        // What only became less by what was told leaves the question open that was asked before.
        if !(plain.contains(asset) && held.abs() < before.abs()) {
            step.guard.watch.changed_ms.insert(*asset, step.now_ms);
        }
    }
    let view = &step.guard.view;
    let is_held = |asset: &u32| !view.position(*asset).is_zero();
    step.guard.watch.changed_ms.retain(|asset, _| is_held(asset));
}

/// Takes note of orders that a read no longer showed, and has the account read to see what they did.
fn on_orders_vanished(step: &mut Step<'_>, vanished: &[Resting]) {
    if vanished.is_empty() {
        return;
    }
    step.guard.risk.traded(step.now_ms);
    let view = &step.guard.view;
    // Only a stop on the losing side can have taken the position along.
    let covered = |order: &&Resting| cover::covers(order, view.position(order.asset));
    let gone: Vec<u32> = vanished.iter().filter(covered).map(|order| order.asset).collect();
    step.effects.immediate.push(Command::Read(if gone.is_empty() { Read::Account } else { Read::AccountNow }));
    step.guard.watch.gone_ms.extend(gone.into_iter().map(|asset| (asset, step.now_ms)));
    let is_held = |asset: &u32| !view.position(*asset).is_zero();
    step.guard.watch.gone_ms.retain(|asset, _| is_held(asset));
}

/// Looks after the account: the risk state first, then flat or covered. What is not soon closed is covered as well.
pub(crate) fn after_step(step: &mut Step<'_>) {
    account::check(step);
    cover_lines::note_bare(step.guard, step.now_ms);
    note_unflat(step);
    if !guard_actions::can_act(step.guard) || step.guard.view.account.is_none() {
        return;
    }
    if step.guard.must_be_flat() {
        flatten::run(step);
        closing::record_flat(step);
    }
    let unflat_ms = step.guard.watch.flatten.unflat_ms.filter(|_| step.guard.config.mode != Mode::Paper);
    let is_slow = unflat_ms.is_some_and(|since_ms| step.now_ms.saturating_sub(since_ms) > CLOSE_PATIENCE_MS);
    if is_slow || !step.guard.must_be_flat() {
        protect::run(step);
    }
    if !step.guard.must_be_flat() {
        over_limit::run(step);
    }
}

/// Takes note of since when the account must be flat and is not known to be.
fn note_unflat(step: &mut Step<'_>) {
    let must_be_flat = step.guard.must_be_flat() && step.guard.config.mode != Mode::Paper;
    let is_unflat = must_be_flat && !flatten::is_flat(step.guard);
    let has_foreign = must_be_flat && !step.guard.view.foreign_orders.is_empty();
    let flatten = &mut step.guard.watch.flatten;
    flatten.unflat_ms = is_unflat.then(|| flatten.unflat_ms.unwrap_or(step.now_ms));
    flatten.foreign_ms = has_foreign.then(|| flatten.foreign_ms.unwrap_or(step.now_ms));
}
