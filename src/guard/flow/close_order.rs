//! Closing a position: a reduce-only order that fills at once, further from the price with every try.

use crate::base::amount::percent_of;
use crate::guard::state::guard::Guard;
use crate::guard::state::marks::is_apart;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::market::Toward;
use crate::venue::order::{Order, OrderKind, Tif};
use crate::venue::side::PositionSide;
use rust_decimal::{Decimal, dec};

/// How far from the price a close may fill, percent, try by try; the last one stays. The venue takes no price that is
/// 80% away.
const SLIPPAGE_PCT: [Decimal; 5] = [dec!(2), dec!(5), dec!(10), dec!(20), dec!(40)];

/// No close goes farther from a mark that its price comes from: a mid that stands far from it must not take a close where the
/// venue refuses it.
const FARTHEST_PCT: Decimal = dec!(75);

/// The order that closes a market's position, after so many tries; `None` where there is no position or no price.
pub(crate) fn close_order(guard: &Guard, asset: u32, tries: usize) -> Option<Order> {
    let (market, szi) = (guard.view.market(asset)?, guard.view.position(asset));
    let side = PositionSide::of(szi)?;
    // A fill may have told of more than was read. An order that only reduces closes no more than there is.
    let told = side.held(guard.position_told(asset));
    let slippage = SLIPPAGE_PCT.get(tries).or(SLIPPAGE_PCT.last()).copied().unwrap_or_default();
    let (px, mark) = close_price(guard, asset, side, tries)?;
    let limit_px = side.away(px, percent_of(px, slippage));
    let farthest_px = mark.map(|mark| side.away(mark, percent_of(mark, FARTHEST_PCT)));
    let limit_px = farthest_px.map_or(limit_px, |farthest_px| side.nearer_of(limit_px, farthest_px));
    let limit_px = market.round_price(limit_px, side.losing_direction());
    // A price that rounds to nothing has no tick below it.
    let limit_px = if market.is_price(limit_px) { limit_px } else { market.round_price(px, Toward::Up) };
    let size = szi.abs().max(told);
    // Whoever closes bit by bit must not have each close of the rest be larger than that, where the venue refuses those.
    let is_oversized = guard.watch.retry(asset).is_some_and(|retry| retry.is_oversized);
    let closed = if is_oversized { guard.sent.being_closed(asset, side) } else { Decimal::ZERO };
    let left = size.saturating_sub(closed);
    let kind = OrderKind::Limit(Tif::Ioc);
    Some(Order {
        asset,
        is_buy: side.closing().is_buy(),
        limit_px,
        size: if left > Decimal::ZERO { left } else { size },
        reduce_only: true,
        kind,
        cloid: None,
    })
}

/// The newer of mid and mark: the mid may be of a time before the account was read. Where both are known and stand apart the
/// worse of them, with the mark: whoever quotes alone in a thin market moves the mid, and must keep nothing from closing. Every
/// other try goes by the mid alone then: the mark is what one read says the position is worth, and that may be wrong.
fn close_price(guard: &Guard, asset: u32, side: PositionSide, tries: usize) -> Option<(Decimal, Option<Decimal>)> {
    let account_ms = guard.view.account.as_ref().map(|account| account.begun_ms);
    let oldest = account_ms.map(|at_ms| at_ms.saturating_sub(guard.prices_max_age_ms()));
    let mid = guard.view.mids.get(&asset).copied().filter(|mid| guard.view.mids_ms >= oldest && *mid > Decimal::ZERO);
    let mark = guard.view.mark(asset).filter(|mark| *mark > Decimal::ZERO);
    match (mid, mark) {
        (Some(mid), Some(mark)) if is_apart(mid, mark) && tries.is_multiple_of(2) => {
            Some((side.further_of(mid, mark), Some(mark)))
        }
        (Some(mid), Some(mark)) if is_apart(mid, mark) => Some((mid, None)),
        (mid, mark) => mid.or(mark).map(|px| (px, mark)),
    }
}

/// One action of these orders.
pub(crate) fn order_action(orders: Vec<Order>) -> Action {
    Action::Order(OrderAction { orders, grouping: Grouping::Na, builder: None })
}
