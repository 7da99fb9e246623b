//! The price collar: an entry's limit may not reach further through the mid than the rule allows.

use rust_decimal::Decimal;

use crate::base::amount::{percent_of, to_wire};
use crate::venue::market::Market;
use crate::venue::order::Order;
use crate::venue::side::{PositionSide, Side};

/// Pulls the limit price to the collar where it is beyond. The passive side is left alone, and so is a price under which
/// there is none: no stop can stand below it, so it opens nothing.
pub(crate) fn pull(order: &mut Order, market: &Market, mid: Decimal, collar_pct: Decimal) -> Option<String> {
    let width = percent_of(mid, collar_pct);
    let side = Side::of(order.is_buy);
    // Rounded toward the mid.
    let inward = PositionSide::opened_by(side).losing_direction();
    let edge = market.round_price(side.worsen(mid, width), inward);
    let beyond = side.worse(order.limit_px, edge) && !edge.is_zero();
    if !beyond {
        return None;
    }
    let asked = std::mem::replace(&mut order.limit_px, edge);
    let (asked, edge) = (to_wire(asked), to_wire(edge));
    Some(format!("{} price pulled from {asked} to {edge}, {collar_pct}% from the mid {}", market.coin, to_wire(mid)))
}
