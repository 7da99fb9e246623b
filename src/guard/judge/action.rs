//! An action by its type: which rules judge it, and which types pass as they are.

use super::entry::leverage_too_high;
use super::head::expired;
use super::limits::{open_exits_limit, open_orders_limit, order_rate_limit, venue_budget};
use super::plan::Plan;
use super::veto::Veto;
use super::{action_not_allowed, cancel, margin_removal, modify, orders, settings};
use crate::base::address::Address;
use crate::guard::state::guard::Guard;
use crate::venue::action::Action;

/// Judges an action of a request whose head passed: by its own rules, then by what may be spent on it.
pub(crate) fn judge(
    guard: &Guard,
    client: Address,
    action: &Action,
    expires_ms: Option<u64>,
    now_ms: u64,
) -> Result<Plan, Veto> {
    let in_time = expired::check_entry(expires_ms, guard.clock.best_ms());
    let in_time = in_time.and_then(|()| venue_budget::check_late(guard, action, expires_ms));
    let no_entry = in_time.and_then(|()| open_orders_limit::check_room(guard, now_ms)).err();
    let plan = judge_kind(guard, client, action, expires_ms, no_entry.as_ref(), now_ms)?;
    let plan = match (open_exits_limit::check(guard, client, &plan, now_ms), action) {
        (Ok(()), _) => plan,
        // What fills at once needs no room, and goes without what stands beside it.
        (Err(veto), Action::Order(orders)) => {
            let plan = orders::judge(guard, client, orders, now_ms, [Some(&veto), no_entry.as_ref()])?;
            open_exits_limit::check(guard, client, &plan, now_ms)?;
            plan
        }
        (Err(veto), _) => return Err(veto),
    };
    if let Some(forward) = plan.forward.as_ref().filter(|_| !plan.is_entry) {
        venue_budget::check_action(guard, client, forward, now_ms)?;
    }
    Ok(plan)
}

/// Judges it by the rules of its kind; with `no_entry` every entry is refused with that.
fn judge_kind(
    guard: &Guard,
    client: Address,
    action: &Action,
    expires_ms: Option<u64>,
    no_entry: Option<&Veto>,
    now_ms: u64,
) -> Result<Plan, Veto> {
    if action.is_neutral() {
        // What takes something away goes out on the guard's own terms where it must.
        if !matches!(action, Action::TwapCancel { .. }) {
            venue_budget::check_late(guard, action, expires_ms)?;
        }
        order_rate_limit::check_neutral(guard, client, now_ms)?;
    }
    match action {
        Action::Order(orders) => {
            action_not_allowed::check_grouping(orders)?;
            orders::judge(guard, client, orders, now_ms, [None, no_entry])
        }
        Action::Modify { modify, always } => modify::judge(
            guard,
            client,
            std::slice::from_ref(modify),
            (now_ms, no_entry),
            |mut modifies| match modifies.pop() {
                Some(modify) => Action::Modify { modify, always: *always },
                None => Action::Noop,
            },
        ),
        Action::BatchModify { modifies, always } => {
            modify::judge(guard, client, modifies, (now_ms, no_entry), |modifies| Action::BatchModify {
                modifies,
                always: *always,
            })
        }
        Action::Cancel { .. } | Action::CancelByCloid { .. } => cancel::judge(guard, client, action, now_ms),
        Action::UpdateLeverage { asset, is_cross, leverage } => {
            leverage_too_high::check(guard, *asset, *leverage)?;
            if !leverage_too_high::only_lowers(guard, *asset, *is_cross, *leverage) {
                settings::check(guard, *asset, now_ms)?;
            }
            Ok(Plan::unchanged(action.clone()))
        }
        Action::UpdateIsolatedMargin { asset, ntli, .. } => {
            margin_removal::check(*ntli)?;
            settings::check(guard, *asset, now_ms)?;
            Ok(Plan::unchanged(action.clone()))
        }
        Action::Noop => Ok(Plan::unchanged(action.clone())),
        Action::TwapCancel { .. } => Ok(Plan::reducing(action.clone())),
        Action::GuardKill { .. } => Err(action_not_allowed::guard_kill()),
        Action::Other { name } => Err(action_not_allowed::other(name)),
    }
}
