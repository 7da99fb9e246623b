//! Cancels: always pass, but a position is never left bare.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::{Plan, Veto, orders};
use crate::guard::code::Code;
use crate::guard::state::Guard;
use crate::guard::view::Resting;
use crate::venue::action::Action;
use crate::venue::amount::to_wire;

pub(super) fn judge(guard: &Guard, action: &Action) -> Result<Plan, Veto> {
    let named: Vec<&Resting> = match action {
        Action::Cancel { cancels, .. } => cancels.iter().filter_map(|cancel| guard.view.order(cancel.oid)).collect(),
        Action::CancelByCloid { cancels, .. } => {
            cancels.iter().flat_map(|cancel| guard.view.orders_by_cloid(cancel.cloid)).collect()
        }
        _ => Vec::new(),
    };
    let asked_for_guards = match action {
        Action::CancelByCloid { cancels, .. } => {
            cancels.iter().any(|cancel| crate::guard::pending::is_guard_stop(&cancel.cloid))
        }
        _ => false,
    };
    if asked_for_guards || named.iter().any(|order| order.is_guards()) {
        let text = "this stop is the guard's own and covers the position; close the position, or place a tighter stop";
        return Err(Veto::new(Code::GuardOrder, text));
    }
    let mut plan = Plan::reducing(action.clone());
    keep_cover(guard, &named, &mut plan);
    Ok(plan)
}

/// Puts the guard's own stops in front for the cover that these cancels would take from a position.
pub(super) fn keep_cover(guard: &Guard, cancelled: &[&Resting], plan: &mut Plan) {
    let mut by_market: BTreeMap<u32, Vec<&Resting>> = BTreeMap::new();
    for order in cancelled.iter().filter(|order| order.stop_px.is_some()) {
        by_market.entry(order.asset).or_default().push(order);
    }
    for (asset, stops) in by_market {
        let position = guard.view.position(asset);
        let is_long = position > Decimal::ZERO;
        let covers = |order: &Resting| order.asset == asset && order.is_buy != is_long && order.stop_px.is_some();
        let size_of = |order: &Resting| if order.is_position_tpsl { position.abs() } else { order.size };
        let kept = guard.view.orders.values().filter(|order| covers(order));
        let is_named = |order: &Resting| stops.iter().any(|stop| stop.oid == order.oid);
        let kept = kept.filter(|order| !is_named(order) && !guard.pending.is_going(order.oid, order.cloid));
        let kept = kept.map(size_of).fold(Decimal::ZERO, Decimal::saturating_add);
        let mut missing = position.abs().saturating_sub(kept).max(Decimal::ZERO);
        let mut going: Vec<&&Resting> = stops.iter().filter(|order| covers(order)).collect();
        going.sort_unstable_by_key(|order| if is_long { -order.trigger_px } else { order.trigger_px });
        for stop in going {
            let size = size_of(stop).min(missing);
            if size.is_zero() {
                continue;
            }
            let Some(action) = orders::own_stop(guard, asset, is_long, stop.trigger_px, size) else { continue };
            plan.pre.push(action);
            plan.changes.push(format!(
                "the guard's own stop for {} of {} goes to {} first, so that the position keeps its cover",
                to_wire(size),
                stop.order.coin,
                to_wire(stop.trigger_px)
            ));
            missing = missing.saturating_sub(size);
        }
    }
}
