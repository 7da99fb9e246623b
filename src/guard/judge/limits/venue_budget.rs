//! `venue_budget`: the last requests that the venue takes from the account are kept for what reduces now, and the last
//! of these for the guard's own stops and closes.

use crate::base::address::Address;
use crate::base::amount::{percent_of, to_wire};
use crate::base::moment::span;
use crate::guard::code::Code;
use crate::guard::config::Mode;
use crate::guard::effects::Urgency;
use crate::guard::judge::plan::Plan;
use crate::guard::judge::veto::Veto;
use crate::guard::state::allowance::{KEPT, KEPT_FOR_GUARD};
use crate::guard::state::guard::Guard;
use crate::guard::state::intent::Intent;
use crate::guard::state::lifetime::{Price, life_ms};
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, CancelByCloid};
use crate::venue::market::FIRST_NON_CORE_ASSET;
use crate::venue::order::{Order, Tif};
use crate::venue::side::{PositionSide, Side};
use rust_decimal::{Decimal, dec};
use std::collections::BTreeSet;

/// What may go for an account that has so few requests left.
const WAY_OUT: &str = "send reduce-only orders that fill at once or not at all (Ioc), one request at a time; trading \
                       volume earns more";

/// An exit this far beyond the mid, in percent of it, is taken to find nobody.
const REACH_PCT: Decimal = dec!(0.5);

/// Refuses entries.
pub(crate) fn check(guard: &Guard, client: Address) -> Result<(), Veto> {
    if guard.config.mode != Mode::Paper && guard.allowance.counted_on() < KEPT {
        return Err(few(guard, "under the 500 kept for exits and stops"));
    }
    check_part(guard, client)
}

/// Refuses an action with an expiry of its client's where it would spend what is kept if it came too late; each entry may have
/// a stop with it.
pub(crate) fn check_late(guard: &Guard, action: &Action, expires_ms: Option<u64>) -> Result<(), Veto> {
    let life_ms = life_ms(expires_ms, guard.clock.best_ms());
    let price = Price::of(action.batch_len().saturating_mul(2), Some(life_ms));
    if guard.config.mode == Mode::Paper || price.most == price.in_time || guard.allowance.spares(price.most) {
        return Ok(());
    }
    let why = "and each counts five times if it comes after its expiresAfter, which leaves less than the 500 kept for \
               exits and stops";
    Err(few(guard, why))
}

/// Refuses an action that can only reduce, or neither, where too few requests are left for it.
pub(crate) fn check_action(guard: &Guard, client: Address, action: &Action, now_ms: u64) -> Result<(), Veto> {
    if guard.config.mode == Mode::Paper {
        return Ok(());
    }
    let (asked, open) = (action.batch_len(), at_most(guard, action));
    let left = guard.allowance.counted_on();
    if left >= KEPT {
        return check_plenty(guard, client, action, now_ms);
    }
    if !reduces_now(guard, action, now_ms) {
        return Err(few(guard, "under 500, and only what reduces a position now may spend them"));
    }
    if asked > open {
        return Err(few(guard, &format!("and {asked} in one request are more than the {open} that are open")));
    }
    // Until they are read there may be enough for whoever closes several positions at a start.
    let is_known = guard.allowance.left().is_some();
    if is_known && guard.intents.values().any(|intent| is_exit_of(intent, client)) {
        return Err(few(guard, "so one request goes at a time, and the last one has no answer yet"));
    }
    if left < KEPT_FOR_GUARD && guard.must_be_flat() {
        return Err(few(guard, "which the guard needs to close everything, and does"));
    }
    Ok(())
}

/// Takes the turn of a client whose request passed otherwise. The last requests are the guard's own, and what reduces
/// passes at the pace of an account that has none left, one order at a time, each client in its turn. A cancel does too: the venue may refuse
/// it, and then what it names is still there to be named.
pub(crate) fn take_turn(guard: &mut Guard, client: Address, plan: &Plan, now_ms: u64) -> Result<(), Veto> {
    let is_paced = plan.forward.is_some() && !plan.is_entry && guard.config.mode != Mode::Paper;
    if !is_paced || guard.allowance.counted_on() >= KEPT_FOR_GUARD {
        return Ok(());
    }
    let asked = plan.forward.as_ref().map_or(0, Action::batch_len);
    if asked > 1 {
        // The venue counts each, and the guard needs as many as there are positions to close them.
        let why =
            format!("under the {KEPT_FOR_GUARD} of which a request may spend one, and {asked} are asked for in one");
        return Err(few(guard, &why));
    }
    if let Some((px, price)) = plan.forward.as_ref().and_then(|action| out_of_reach(guard, action, now_ms)) {
        let (px, price) = (to_wire(px), to_wire(price));
        return Err(few(guard, &format!("so nothing goes at {px}, where it cannot fill: the price is {price}")));
    }
    let (pause_ms, is_anothers) = guard.allowance.pause_ms(client, now_ms);
    if pause_ms == 0 {
        guard.allowance.on_passed(client, now_ms);
        return Ok(());
    }
    guard.allowance.on_waits(client, now_ms);
    let turn = if is_anothers { ", and another client's turn is before this one's" } else { "" };
    Err(few(guard, &format!("so an exit or cancel passes every 10 s{turn}; the next may in {}", span(pause_ms))))
}

/// While there is plenty left: what is more than there is to reduce or to cancel spends its client's part, and leaves what
/// is kept.
fn check_plenty(guard: &Guard, client: Address, action: &Action, now_ms: u64) -> Result<(), Veto> {
    let asked = action.batch_len();
    if reduces_now(guard, action, now_ms) && asked <= at_most(guard, action) {
        return Ok(());
    }
    let requests = u64::try_from(asked).unwrap_or(u64::MAX);
    if guard.allowance.counted_on().saturating_sub(requests) < KEPT {
        return Err(few(guard, &format!("{asked} in one request leave less than the 500 kept for exits and stops")));
    }
    check_part(guard, client)
}

/// While there is little left to share, a client spends no more than its part.
fn check_part(guard: &Guard, client: Address) -> Result<(), Veto> {
    match guard.allowance.part_of(client, guard.config.clients.len()) {
        Some((part, spent)) if spent >= part => {
            let text = format!("and this client has spent its part of {part}; others have theirs");
            Err(few(guard, &text).with(&part, &spent))
        }
        _ => Ok(()),
    }
}

fn few(guard: &Guard, why: &str) -> Veto {
    let left = guard.allowance.counted_on();
    let text = match guard.allowance.left() {
        Some(left) => format!("the venue takes {left} more requests from this account, {why}; {WAY_OUT}"),
        None => format!(
            "how many requests the venue takes from this account was not read since the start, so {left} are counted on, \
             {why}; try again in a moment, or {WAY_OUT}"
        ),
    };
    Veto::new(Code::VenueBudget, text).with(&KEPT, &left)
}

/// Whether it reduces what is held, or takes orders away, and rests nowhere.
fn reduces_now(guard: &Guard, action: &Action, now_ms: u64) -> bool {
    match action {
        Action::Order(_) => action.orders().all(|order| reduces(guard, order, now_ms)),
        Action::Cancel { .. } | Action::CancelByCloid { .. } | Action::TwapCancel { .. } => true,
        _ => false,
    }
}

fn reduces(guard: &Guard, order: &Order, now_ms: u64) -> bool {
    // What is held in a market that the guard does not read is not known here.
    let may_be_held = order.asset >= FIRST_NON_CORE_ASSET || guard.may_hold(order.asset, now_ms);
    order.reduce_only && order.tif().is_some_and(Tif::is_immediate) && may_be_held
}

/// The price of an exit, and its market's, where no order of an action can fill as the market is: one of the few places
/// would be gone for nothing. In doubt they may fill.
fn out_of_reach(guard: &Guard, action: &Action, now_ms: u64) -> Option<(Decimal, Decimal)> {
    let is_fresh = |mids_ms: u64| now_ms.saturating_sub(mids_ms) <= guard.prices_max_age_ms();
    guard.view.mids_ms.filter(|mids_ms| is_fresh(*mids_ms))?;
    let out = |order: &Order| {
        let price =
            guard.view.mids.get(&order.asset).copied().filter(|_| order.tif().is_some_and(Tif::is_immediate))?;
        let side = Side::of(order.is_buy);
        let nearest =
            price.saturating_sub(percent_of(price, REACH_PCT).saturating_mul(PositionSide::opened_by(side).sign()));
        (!side.reaches(order.limit_px, nearest)).then_some((order.limit_px, price))
    };
    let prices: Option<Vec<(Decimal, Decimal)>> = action.orders().map(out).collect();
    prices?.first().copied()
}

fn is_exit_of(intent: &Intent, client: Address) -> bool {
    intent.client == Some(client) && intent.urgency == Urgency::Exit
}

/// As many orders or cancels as there is something open for.
fn at_most(guard: &Guard, action: &Action) -> usize {
    let positions = guard.view.account.as_ref().map_or(0, |account| account.positions.len());
    let targets: BTreeSet<u64> = match action {
        Action::Order(_) => {
            let entries = guard.sent.orders.iter().filter(|order| !order.reduce_only).count();
            return positions.saturating_add(entries).max(1);
        }
        Action::Cancel { cancels, fast } => {
            let named = cancels.iter().filter_map(|cancel| Some((cancel.asset, guard.order(cancel.oid)?)));
            named.filter(|(asset, order)| takes(guard, *asset, order, *fast)).map(|(_, order)| order.oid).collect()
        }
        Action::CancelByCloid { cancels, fast } => {
            let orders_of = |cancel: &CancelByCloid| {
                let asset = cancel.asset;
                guard.orders_by_cloid(cancel.cloid).filter(move |order| takes(guard, asset, order, *fast))
            };
            cancels.iter().flat_map(orders_of).map(|order| order.oid).collect()
        }
        _ => return 1,
    };
    // Before the open orders were read nobody knows what is there.
    targets.len().max(usize::from(guard.view.orders_ms.is_none()))
}

/// Whether a cancel in this market has this order to take away: the reads may still show one that is gone, and the venue
/// refuses to cancel in another market than the order's, or to cancel a trigger order fast.
fn takes(guard: &Guard, asset: u32, order: &Resting, is_fast: bool) -> bool {
    asset == order.asset && !(is_fast && order.is_trigger) && !guard.sent.is_being_cancelled(order.oid, order.cloid)
}
