//! Cancels: always pass, but a position is never left bare.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::orders;
use super::plan::Plan;
use super::veto::Veto;
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::state::cover;
use crate::guard::state::guard::Guard;
use crate::guard::state::own_cloid::is_guard_stop;
use crate::guard::state::view::Resting;
use crate::venue::action::Action;
use crate::venue::side::PositionSide;

/// Why a guard's own stop stays.
pub(crate) const GUARDS_OWN: &str =
    "this stop is the guard's own and covers the position; close the position, or place a tighter stop";

pub(crate) fn judge(guard: &Guard, action: &Action) -> Result<Plan, Veto> {
    let own = guards_own(guard, action);
    let kept: Vec<usize> = own.iter().enumerate().filter(|(_, is_own)| !**is_own).map(|(place, _)| place).collect();
    if kept.is_empty() && !own.is_empty() {
        return Err(Veto::new(Code::GuardOrder, GUARDS_OWN));
    }
    // Who cancels everything that rests means the guard's stop the least.
    let left_out = own.len().saturating_sub(kept.len());
    let mut plan = Plan::reducing(only(action, &kept));
    if left_out > 0 {
        plan.changes.push(format!("{left_out} of {} cancels left out: {GUARDS_OWN}", own.len()));
        plan.kept = Some(kept);
    }
    let named: Vec<&Resting> = plan.forward.iter().flat_map(|action| named(guard, action)).flatten().collect();
    keep_cover(guard, &named, &mut plan);
    Ok(plan)
}

/// What each cancel of an action names, by place.
fn named<'a>(guard: &'a Guard, action: &Action) -> Vec<Vec<&'a Resting>> {
    match action {
        Action::Cancel { cancels, .. } => {
            cancels.iter().map(|cancel| guard.order(cancel.oid).into_iter().collect()).collect()
        }
        Action::CancelByCloid { cancels, .. } => {
            cancels.iter().map(|cancel| guard.orders_by_cloid(cancel.cloid).collect()).collect()
        }
        _ => Vec::new(),
    }
}

/// Which cancels of an action name a stop of the guard's own, by place; one by its cloid also before any read shows it.
pub(crate) fn guards_own(guard: &Guard, action: &Action) -> Vec<bool> {
    let mut own: Vec<bool> =
        named(guard, action).iter().map(|orders| orders.iter().any(|order| order.is_guards())).collect();
    if let Action::CancelByCloid { cancels, .. } = action {
        for (is_own, cancel) in own.iter_mut().zip(cancels) {
            *is_own |= is_guard_stop(&cancel.cloid);
        }
    }
    own
}

/// The cancels at these places.
fn only(action: &Action, places: &[usize]) -> Action {
    match action {
        Action::Cancel { cancels, fast } => Action::Cancel {
            cancels: places.iter().filter_map(|place| cancels.get(*place).copied()).collect(),
            fast: *fast,
        },
        Action::CancelByCloid { cancels, fast } => {
            let cancels = places.iter().filter_map(|place| cancels.get(*place).copied()).collect();
            Action::CancelByCloid { cancels, fast: *fast }
        }
        other => other.clone(),
    }
}

/// Puts the guard's own stops in front for the cover that these cancels would take from a position.
pub(crate) fn keep_cover(guard: &Guard, cancelled: &[&Resting], plan: &mut Plan) {
    let mut by_market: BTreeMap<u32, Vec<&Resting>> = BTreeMap::new();
    for order in cancelled.iter().filter(|order| order.stop_px.is_some()) {
        by_market.entry(order.asset).or_default().push(order);
    }
    for (asset, stops) in by_market {
        let szi = guard.view.position(asset);
        let Some(side) = PositionSide::of(szi) else { continue };
        let is_named = |order: &Resting| stops.iter().any(|stop| stop.oid == order.oid);
        let is_going = |order: &Resting| guard.sent.is_being_cancelled(order.oid, order.cloid);
        let kept = guard.view.orders.values().filter(|order| order.asset == asset && cover::covers(order, szi));
        let kept = kept.filter(|order| !is_named(order) && !is_going(order)).filter_map(cover::of_resting);
        let mut missing = szi.abs().saturating_sub(cover::total(kept, szi.abs())).max(Decimal::ZERO);
        let mut going: Vec<&&Resting> = stops.iter().filter(|order| cover::covers(order, szi)).collect();
        going.sort_unstable_by_key(|order| -order.trigger_px.saturating_mul(side.sign()));
        for stop in going {
            let closes = cover::of_resting(stop).map_or(Decimal::ZERO, |size| size.of(szi.abs()));
            let size = closes.min(missing);
            if size.is_zero() {
                continue;
            }
            let Some(action) = orders::own_stop(guard, asset, side, stop.trigger_px, size) else { continue };
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
