//! Requests: judged at once, or parked for a moment until what they need is read: leverage settings and marks, or the open
//! orders for a cancel that may name a stop of the guard's which no read has shown.

use crate::base::address::{Address, Cloid};
use crate::guard::effects::{Command, Read};
use crate::guard::flow::decision;
use crate::guard::flow::fresh_marks;
use crate::guard::flow::step_context::Step;
use crate::guard::input::{Request, RequestBody};
use crate::guard::judge::cancel;
use crate::guard::judge::cancelled;
use crate::guard::judge::entry::{known_mark, lower_leverage};
use crate::guard::state::cover::side_covered;
use crate::guard::state::guard::{Guard, Parked};
use crate::venue::action::{Action, Grouping};
use crate::venue::info::Leverage;
use crate::venue::market::{FIRST_NON_CORE_ASSET, Market};
use std::collections::BTreeSet;

/// Requests that wait at most, of all clients together.
const MAX_PARKED: usize = 64;

/// A request waits this long for a leverage setting or a mark; then it counts as unknown.
const MAX_PARKED_MS: u64 = 2_000;

/// A cancel waits this long for the open orders, two reads of 3 s each at most: one that began too early, and the next.
/// Then it is refused: it could take a stop of the guard's.
const MAX_CANCEL_MS: u64 = 6_000;

/// Judges a request, unless something must be read first.
pub(crate) fn on_request(step: &mut Step<'_>, request: Request) {
    if let RequestBody::Signed { envelope, client, .. } = &request.body {
        let has_room = has_room(step.guard, *client);
        let named: BTreeSet<Cloid> = cloids_cancelled(&envelope.action).collect();
        if has_room && cancel::must_wait(step.guard, &envelope.action) {
            refuse_cancelled(step, &named);
            step.effects.immediate.push(Command::Read(Read::OrdersSoon));
            let (wanted, marks, at_ms) = (BTreeSet::new(), BTreeSet::new(), step.now_ms);
            step.guard.parked.push(Parked { request, wanted, marks, for_orders: true, at_ms });
            return;
        }
        let guard = &*step.guard;
        let entered = lower_leverage::markets_entered(guard, &envelope.action, step.now_ms);
        let is_unknown = |market: &&&Market| !lower_leverage::is_known(guard, market.asset, step.now_ms);
        let is_asked = |asset: u32| guard.parked.iter().any(|waiting| waiting.wanted.contains(&asset));
        let wanted: BTreeSet<u32> = entered.iter().filter(is_unknown).map(|market| market.asset).collect();
        let reads = entered.iter().filter(is_unknown).filter(|market| !is_asked(market.asset));
        let reads = reads.map(|market| Read::Leverage { asset: market.asset, coin: market.coin.clone() });
        step.effects.immediate.extend(reads.map(Command::Read));
        let entered: BTreeSet<u32> = entered.into_iter().map(|market| market.asset).collect();
        let is_unmarked = |asset: &u32| !known_mark::is_known(guard, *asset, step.now_ms);
        let marks: BTreeSet<u32> = entered.iter().copied().filter(is_unmarked).collect();
        fresh_marks::note_entered(step, entered);
        let can_wait = has_room && !closes_anything(step.guard, &envelope.action);
        if !marks.is_subset(&wanted) {
            // A setting comes with its market's mark.
            step.effects.immediate.push(Command::Read(Read::Universe));
        }
        if !(wanted.is_empty() && marks.is_empty()) && can_wait {
            step.guard.parked.push(Parked { request, wanted, marks, for_orders: false, at_ms: step.now_ms });
            return;
        }
        refuse_cancelled(step, &named);
    }
    decision::decide(step, request);
}

/// Whether one more request of a client may wait: each client has an equal part of the places.
fn has_room(guard: &Guard, client: Address) -> bool {
    let is_its = |waiting: &&Parked| matches!(waiting.request.body, RequestBody::Signed { client: other, .. } if other == client);
    let part = MAX_PARKED.checked_div(guard.config.clients.len()).unwrap_or(MAX_PARKED).max(1);
    guard.parked.len() < MAX_PARKED && guard.parked.iter().filter(is_its).count() < part
}

/// Whether anything of an action closes a part of what is held: that waits for no setting.
fn closes_anything(guard: &Guard, action: &Action) -> bool {
    let is_group = matches!(action, Action::Order(orders) if orders.grouping == Grouping::NormalTpsl);
    let mut orders = action.orders().enumerate().filter(|(place, _)| !is_group || *place == 0);
    orders.any(|(_, order)| {
        let is_foreign = order.asset >= FIRST_NON_CORE_ASSET && order.reduce_only;
        is_foreign || guard.may_be_held(order.asset, side_covered(order.is_buy))
    })
}

/// Refuses the requests that wait and hold an order which a cancel names: its client is told that the order was never
/// placed, and so it must not be.
fn refuse_cancelled(step: &mut Step<'_>, named: &BTreeSet<Cloid>) {
    let is_named = |waiting: &Parked| match &waiting.request.body {
        RequestBody::Signed { envelope, .. } => {
            envelope.action.orders().filter_map(|order| order.cloid).any(|cloid| named.contains(&cloid))
        }
        _ => false,
    };
    let (refused, parked): (Vec<_>, Vec<_>) = std::mem::take(&mut step.guard.parked).into_iter().partition(is_named);
    step.guard.parked = parked;
    refused.into_iter().for_each(|waiting| decision::refuse_waiting(step, waiting.request, cancelled::veto()));
}

/// The client order ids that an action cancels.
fn cloids_cancelled(action: &Action) -> impl Iterator<Item = Cloid> {
    let cancels = if let Action::CancelByCloid { cancels, .. } = action { &cancels[..] } else { &[] };
    cancels.iter().map(|cancel| cancel.cloid)
}

/// Takes in a market's leverage setting, `None` where it could not be read.
pub(crate) fn on_leverage(step: &mut Step<'_>, asset: u32, leverage: Option<Leverage>) {
    if let Some(leverage) = leverage {
        step.guard.view.leverage.insert(asset, (leverage, step.now_ms));
    }
    for waiting in &mut step.guard.parked {
        waiting.wanted.remove(&asset);
    }
    unpark(step, Parked::has_all);
}

/// Judges the requests whose marks are known now.
pub(crate) fn on_marks_read(step: &mut Step<'_>) {
    let mut parked = std::mem::take(&mut step.guard.parked);
    let is_unknown = |asset: &u32| !known_mark::is_known(step.guard, *asset, step.now_ms);
    parked.iter_mut().for_each(|waiting| waiting.marks.retain(is_unknown));
    step.guard.parked = parked;
    unpark(step, Parked::has_all);
}

/// Judges the cancels that waited for this read of the open orders.
pub(crate) fn on_orders_read(step: &mut Step<'_>, begun_ms: u64) {
    unpark(step, |waiting| waiting.for_orders && begun_ms >= waiting.at_ms);
}

/// Judges the requests that have waited long enough: what they wait for counts as unknown.
pub(crate) fn unpark_overdue(step: &mut Step<'_>) {
    let now_ms = step.now_ms;
    unpark(step, |waiting| {
        let longest_ms = if waiting.for_orders { MAX_CANCEL_MS } else { MAX_PARKED_MS };
        now_ms.saturating_sub(waiting.at_ms) >= longest_ms
    });
}

/// Judges all requests that wait.
pub(crate) fn unpark_all(step: &mut Step<'_>) {
    unpark(step, |_| true);
}

/// Judges the parked requests that are `ready`.
fn unpark(step: &mut Step<'_>, is_ready: impl Fn(&Parked) -> bool) {
    let (ready, parked): (Vec<_>, Vec<_>) = std::mem::take(&mut step.guard.parked).into_iter().partition(is_ready);
    step.guard.parked = parked;
    ready.into_iter().for_each(|waiting| decision::decide(step, waiting.request));
}
