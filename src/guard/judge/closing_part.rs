//! The part of an entry that closes: an order that would turn a position around still closes it, at the price that was
//! asked, where the rest of it opens nothing worth the name or may not be opened.

use super::context::JudgeContext;
use super::exit::{add_exit, mark_exit};
use super::veto::Veto;
use crate::base::amount::to_wire;
use crate::guard::state::cover::side_covered;
use crate::venue::market::MIN_NOTIONAL;
use crate::venue::order::Order;

/// Cuts an order to its closing part where the rest is under the venue's minimum; says whether it did.
pub(crate) fn close_but_dust(context: &mut JudgeContext<'_>, order: &mut Order) -> bool {
    let opening = context.market_exposure(order.asset).entry_part(order);
    let closing = order.size.saturating_sub(opening);
    let is_dust = opening.saturating_mul(order.limit_px) < MIN_NOTIONAL;
    if order.is_trigger() || closing.is_zero() || opening.is_zero() || !is_dust {
        return false;
    }
    let change = format!(
        "the {} beyond the position is under the venue's minimum of {MIN_NOTIONAL} USDC; cut from {} to the {} that closes",
        to_wire(opening),
        to_wire(order.size),
        to_wire(closing)
    );
    context.changes.push(change);
    (order.size, order.reduce_only) = (closing, true);
    add_exit(context.guard, &mut context.exposure, order);
    true
}

/// What closes the position of an entry refused with `veto`, if there is one.
///
/// All of it may close as well: an order counts as an entry because something on its way may close the position first,
/// and then it would open one. Marked reduce-only it cannot.
pub(crate) fn of(context: &mut JudgeContext<'_>, asked: &Order, veto: &Veto) -> Option<Order> {
    let held = context.market_exposure(asked.asset).may_be_held(side_covered(asked.is_buy));
    let size = asked.size.min(held);
    if asked.is_trigger() || size.is_zero() {
        return None;
    }
    let mut closing = Order { size, ..asked.clone() };
    if size == asked.size {
        mark_exit(context, &mut closing);
    } else {
        closing.reduce_only = true;
        let (whole, part) = (to_wire(asked.size), to_wire(size));
        context.changes.push(format!("{} ({}); cut from {whole} to the {part} that closes", veto.text, veto.code));
    }
    add_exit(context.guard, &mut context.exposure, &closing);
    Some(closing)
}
