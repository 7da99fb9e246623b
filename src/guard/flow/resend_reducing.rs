//! The reducing part of a request, sent on its own where what had to go first for the rest of its request failed.
//!
//! An exit must not fall with the leverage update of an entry that came along with it, nor the cancel of an entry with
//! the stop that another cancel needs.

use crate::guard::effects::Urgency;
use crate::guard::flow::close_order::order_action;
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{dispatch, replies};
use crate::guard::judge::exit::add_exit;
use crate::guard::state::cover::{self, side_covered};
use crate::guard::state::guard::Guard;
use crate::guard::state::intent::{Intent, Planned, Role};
use crate::guard::state::view::Resting;
use crate::record::events;
use crate::venue::action::{Action, Grouping, OrderAction, Target};
use crate::venue::market::FIRST_NON_CORE_ASSET;
use crate::venue::order::Order;
use crate::venue::signing::Terms;
use std::borrow::Cow;

/// Sends what only reduces of the parts of the request that were to follow the action at `index` of the intent `of`,
/// which failed for the reason `why`. The client is told of the rest that it was left out.
pub(crate) fn resend(step: &mut Step<'_>, (of, index): (u64, usize), intent: &Intent, why: &str) {
    // The rest stays unsent, and stands in the way of nothing.
    let parts: Vec<(usize, &Planned)> = intent.parts_after(index).collect();
    parts.iter().for_each(|(part, _)| step.guard.sent.did_not_happen((of, *part)));
    for (_, planned) in parts {
        let again = resend_part(step, of, planned, intent);
        if again.is_empty() {
            continue;
        }
        let left: Vec<usize> = planned.places.iter().copied().filter(|place| !again.contains(place)).collect();
        replies::tell(step, intent.request, |reply| {
            reply.wait_for(&again);
            reply.leave_out(&left, why);
        });
    }
}

/// Sends what only reduces of one part, and gives the places of its orders in the request.
fn resend_part(step: &mut Step<'_>, of: u64, planned: &Planned, intent: &Intent) -> Vec<usize> {
    let Some((action, slots)) = reducing_part(step.guard, &planned.action) else { return Vec::new() };
    let Some(node) = action.to_node() else { return Vec::new() };
    let places: Vec<usize> = slots.iter().filter_map(|slot| planned.places.get(*slot).copied()).collect();
    let terms = Terms { nonce: step.guard.next_nonce(step.now_ms), ..planned.terms };
    let seq = step.record(events::Intent { of, action: Cow::Borrowed(&node), nonces: vec![terms.nonce] });
    let again = Planned { role: Role::Forward, action, node, terms, life_ms: planned.life_ms, places: places.clone() };
    dispatch::dispatch(
        step,
        seq,
        Intent::new(vec![again], intent.request, Urgency::Exit).for_client(intent.client),
        &[],
    );
    places
}

/// The part of an action that can only reduce, and where its orders stand in the whole; `None` where there is none.
fn reducing_part(guard: &Guard, action: &Action) -> Option<(Action, Vec<usize>)> {
    let (part, places) = match action {
        Action::Order(action) => {
            let (places, orders): (Vec<_>, Vec<_>) = reducing_orders(guard, action).into_iter().unzip();
            let part = match action.grouping {
                // Nothing hangs on it any more.
                Grouping::NormalTpsl => order_action(orders),
                _ => Action::Order(OrderAction { orders, ..action.clone() }),
            };
            (part, places)
        }
        Action::BatchModify { modifies, always } => {
            let reducing = modifies.iter().enumerate().filter(|(_, modify)| modify.order.reduce_only);
            let (places, modifies) = reducing.map(|(place, modify)| (place, modify.clone())).unzip();
            (Action::BatchModify { modifies, always: *always }, places)
        }
        Action::Cancel { cancels, fast } => {
            let free = cancels.iter().enumerate().filter(|(_, cancel)| !may_cover(guard, Target::Oid(cancel.oid)));
            let (places, cancels) = free.map(|(place, cancel)| (place, *cancel)).unzip();
            (Action::Cancel { cancels, fast: *fast }, places)
        }
        Action::CancelByCloid { cancels, fast } => {
            let free = cancels.iter().enumerate().filter(|(_, cancel)| !may_cover(guard, Target::Cloid(cancel.cloid)));
            let (places, cancels) = free.map(|(place, cancel)| (place, *cancel)).unzip();
            (Action::CancelByCloid { cancels, fast: *fast }, places)
        }
        _ => return None,
    };
    (!Vec::is_empty(&places)).then_some((part, places))
}

/// The orders that reduce what is held, and the closing part of those that would flip it, each with its place.
fn reducing_orders(guard: &Guard, action: &OrderAction) -> Vec<(usize, Order)> {
    let mut exposure = guard.exposure();
    let hangs = action.grouping == Grouping::NormalTpsl;
    let orders = || action.orders.iter().enumerate();
    let mut reducing: Vec<(usize, Order)> = Vec::new();
    // What is marked first, wherever it stands: what it closes nothing else can count on closing.
    for (place, order) in orders().filter(|(_, order)| order.reduce_only && !hangs) {
        // A stop or a take-profit for what is not bought has nothing to reduce, where positions are known.
        let is_foreign = order.asset >= FIRST_NON_CORE_ASSET;
        if is_foreign || !exposure.market_mut(&guard.view, order.asset).held(side_covered(order.is_buy)).is_zero() {
            add_exit(guard, &mut exposure, order);
            reducing.push((place, order.clone()));
        }
    }
    for (place, order) in orders().filter(|(_, order)| !order.reduce_only && !order.is_trigger()) {
        let closing = order.size.saturating_sub(exposure.market_mut(&guard.view, order.asset).entry_part(order));
        if !closing.is_zero() {
            let order = Order { size: closing, reduce_only: true, ..order.clone() };
            add_exit(guard, &mut exposure, &order);
            reducing.push((place, order));
        }
    }
    reducing.sort_unstable_by_key(|(place, _)| *place);
    reducing
}

/// Whether a cancel of this target could take a position's stop.
fn may_cover(guard: &Guard, target: Target) -> bool {
    let covers = |order: &Resting| {
        let side = side_covered(order.is_buy);
        let may_be_held = !guard.sent.may_have_filled(order.asset, side).is_zero();
        order.stop_px.is_some() && (may_be_held || cover::covers(order, guard.view.position(order.asset)))
    };
    match target {
        Target::Oid(oid) => guard.order(oid).is_some_and(covers),
        Target::Cloid(cloid) => guard.orders_by_cloid(cloid).any(covers),
    }
}
