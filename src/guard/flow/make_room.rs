//! Room for an order of the guard's own where the venue takes no more open orders from the account, not even one that closes at
//! once. The clients' orders that cover nothing go first, those farthest from the price; then stops of theirs behind others that
//! cover all that is held; and for a close, where there is nothing else, the farthest stop there is: it comes again once there is
//! room. Where there is nothing to go for a stop, the position is closed.

use crate::guard::flow::guard_actions::{self, Cause};
use crate::guard::flow::step_context::Step;
use crate::guard::state::cover;
use crate::guard::state::guard::Guard;
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, Cancel};
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

/// Orders cancelled the first time: enough for the stops of a few markets. Each further time twice as many: nobody knows by how
/// many the account is over.
const AT_FIRST: usize = 10;
/// At most so many, in one action.
const AT_MOST: usize = 100;

/// The order is tried again after this long.
const PAUSE_MS: u64 = 500;

/// Makes room for the sake of the event `of` that placed a stop in this market, or a close.
pub(crate) fn run(step: &mut Step<'_>, of: u64, asset: u32, is_close: bool) {
    let times = step.guard.watch.retry(asset).map_or(0, |retry| retry.rooms());
    let most = AT_FIRST.saturating_mul(1_usize.checked_shl(times.saturating_sub(1)).unwrap_or(AT_MOST)).min(AT_MOST);
    let cancels = if is_close { for_close(step.guard, most) } else { for_stop(step.guard, most) };
    let retry = step.guard.watch.retry_mut(asset);
    retry.wants_room = false;
    if cancels.is_empty() {
        retry.closing = true;
        return;
    }
    retry.on_room_made(step.now_ms.saturating_add(PAUSE_MS));
    guard_actions::submit(step, Cause::FollowUp { of }, vec![Action::Cancel { cancels, fast: false }]);
}

/// Clients' orders without which every position is covered as it was.
fn for_stop(guard: &Guard, most: usize) -> Vec<Cancel> {
    let idle = guard.view.orders.values().filter(|order| !order.is_guards() && !is_cover(guard, order));
    let idle = farthest(guard, idle, most);
    if idle.is_empty() { farthest(guard, spare_stops(guard), most) } else { idle }
}

/// The same, or else one stop: a close needs one place, and leaves it free again.
pub(crate) fn for_close(guard: &Guard, most: usize) -> Vec<Cancel> {
    let cancels = for_stop(guard, most);
    if cancels.is_empty() { farthest(guard, guard.view.orders.values(), 1) } else { cancels }
}

/// Whether a stop stands where it covers a part of what is held.
fn is_cover(guard: &Guard, order: &Resting) -> bool {
    let line = guard.lines.get(order.asset).zip(order.stop_px);
    cover::covers(order, guard.view.position(order.asset)) && line.is_none_or(|(line, px)| line.counts(px))
}

/// The clients' stops behind others that cover all that is held, and so are never hit while it is.
fn spare_stops(guard: &Guard) -> impl Iterator<Item = &Resting> {
    let positions = guard.view.account.iter().flat_map(|account| &account.positions);
    positions.flat_map(|(asset, position)| {
        let held = position.szi.abs();
        let of_market = guard.view.orders.values().filter(|order| order.asset == *asset && is_cover(guard, order));
        let mut stops: Vec<&Resting> = of_market.collect();
        let side = PositionSide::of(position.szi);
        let depth = |order: &Resting| order.stop_px.zip(side).map(|(px, side)| -px.saturating_mul(side.sign()));
        stops.sort_by_key(|order| (depth(order), !order.is_guards(), order.oid));
        let mut left = held;
        stops.retain(|order| {
            let is_spare = left <= Decimal::ZERO;
            left = left.saturating_sub(cover::of_resting(order).map_or(Decimal::ZERO, |size| size.of(held)));
            is_spare && !order.is_guards()
        });
        stops
    })
}

fn farthest<'a>(guard: &Guard, orders: impl Iterator<Item = &'a Resting>, most: usize) -> Vec<Cancel> {
    let mut orders: Vec<(Decimal, &Resting)> = orders.map(|order| (distance(guard, order), order)).collect();
    orders.sort_by_key(|(distance, order)| (std::cmp::Reverse(*distance), order.oid));
    let ids = orders.into_iter().take(most).map(|(_, order)| Cancel { asset: order.asset, oid: order.oid });
    ids.collect()
}

/// How far an order is from its market's price, as a part of that; where there is none, as far as can be.
fn distance(guard: &Guard, order: &Resting) -> Decimal {
    let px = if order.is_trigger { order.order.trigger_px } else { order.px };
    let market_px = guard.view.price(order.asset);
    let part = market_px.and_then(|market_px| px.saturating_sub(market_px).abs().checked_div(market_px));
    part.unwrap_or(Decimal::MAX)
}
