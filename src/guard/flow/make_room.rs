//! Room for a stop of the guard's own where the venue takes no more open orders from the account: the clients' orders
//! that are farthest from the price go, none of them cover. Where there is none to go, the position is closed.

use crate::guard::flow::guard_actions::{self, Cause};
use crate::guard::flow::step_context::Step;
use crate::guard::state::cover;
use crate::guard::state::guard::Guard;
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, Cancel};
use rust_decimal::Decimal;

/// Orders cancelled at a time: enough for the stops of a few markets.
const AT_A_TIME: usize = 10;

/// The stop is tried again after this long.
const PAUSE_MS: u64 = 500;

/// Cancels what is farthest, for the sake of the event `of` that placed the stop in this market.
pub(crate) fn run(step: &mut Step<'_>, of: u64, asset: u32) {
    let cancels = farthest(step.guard);
    let retry = step.guard.watch.retry_mut(asset);
    retry.wants_room = false;
    if cancels.is_empty() {
        retry.closing = true;
        return;
    }
    retry.not_before_ms = step.now_ms.saturating_add(PAUSE_MS);
    guard_actions::submit(step, Cause::FollowUp { of }, vec![Action::Cancel { cancels, fast: false }]);
}

fn farthest(guard: &Guard) -> Vec<Cancel> {
    let counts = |order: &Resting| {
        let line = guard.lines.get(order.asset).zip(order.stop_px);
        line.is_none_or(|(line, px)| line.counts(px))
    };
    let is_cover = |order: &Resting| cover::covers(order, guard.view.position(order.asset)) && counts(order);
    let may_go = guard.view.orders.values().filter(|order| !order.is_guards() && !is_cover(order));
    let mut orders: Vec<(Decimal, &Resting)> = may_go.map(|order| (distance(guard, order), order)).collect();
    orders.sort_by_key(|(distance, order)| (std::cmp::Reverse(*distance), order.oid));
    let ids = orders.into_iter().take(AT_A_TIME).map(|(_, order)| Cancel { asset: order.asset, oid: order.oid });
    ids.collect()
}

/// How far an order is from its market's price, as a part of that; where there is none, as far as can be.
fn distance(guard: &Guard, order: &Resting) -> Decimal {
    let px = if order.is_trigger { order.order.trigger_px } else { order.px };
    let market_px = guard.view.price(order.asset);
    let part = market_px.and_then(|market_px| px.saturating_sub(market_px).abs().checked_div(market_px));
    part.unwrap_or(Decimal::MAX)
}
