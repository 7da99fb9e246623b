//! An action by its type: which rules judge it, and which types pass as they are.

use super::entry::leverage_too_high;
use super::limits::{open_exits_limit, order_rate_limit, venue_budget};
use super::plan::Plan;
use super::veto::Veto;
use super::{
    action_not_allowed, cancel, margin_removal, modify, nothing_to_reduce, orders, reserved_cloid, single_use_cloid,
};
use crate::base::address::Address;
use crate::guard::state::guard::Guard;
use crate::venue::action::Action;

/// Judges an action of a request whose head passed: by its own rules, then by what may be spent on it.
pub(crate) fn judge(guard: &Guard, client: Address, action: &Action, now_ms: u64) -> Result<Plan, Veto> {
    let plan = judge_kind(guard, client, action, now_ms)?;
    if let Action::Order(_) = action {
        nothing_to_reduce::check(guard, action, now_ms)?;
    }
    if let Some(forward) = &plan.forward {
        open_exits_limit::check(guard, client, forward, plan.is_entry)?;
        if !plan.is_entry {
            venue_budget::check_action(guard, client, forward, now_ms)?;
        }
    }
    Ok(plan)
}

fn judge_kind(guard: &Guard, client: Address, action: &Action, now_ms: u64) -> Result<Plan, Veto> {
    if action.is_neutral() {
        order_rate_limit::check_neutral(guard, client, now_ms)?;
    }
    match action {
        Action::Order(orders) => {
            action_not_allowed::check_grouping(orders)?;
            reserved_cloid::check(action)?;
            single_use_cloid::check(guard, &orders.orders)?;
            orders::judge(guard, client, orders, now_ms)
        }
        Action::Modify { modify, always } => {
            reserved_cloid::check(action)?;
            let passed = modify::judge(guard, client, std::slice::from_ref(modify), now_ms)?;
            Ok(passed.into_plan(|mut modifies| match modifies.pop() {
                Some(modify) => Action::Modify { modify, always: *always },
                None => Action::Noop,
            }))
        }
        Action::BatchModify { modifies, always } => {
            reserved_cloid::check(action)?;
            let passed = modify::judge(guard, client, modifies, now_ms)?;
            Ok(passed.into_plan(|modifies| Action::BatchModify { modifies, always: *always }))
        }
        Action::Cancel { .. } | Action::CancelByCloid { .. } => cancel::judge(guard, action),
        Action::UpdateLeverage { asset, leverage, .. } => {
            leverage_too_high::check(guard, *asset, *leverage)?;
            Ok(Plan::unchanged(action.clone()))
        }
        Action::UpdateIsolatedMargin { ntli, .. } => {
            margin_removal::check(*ntli)?;
            Ok(Plan::unchanged(action.clone()))
        }
        Action::Noop => Ok(Plan::unchanged(action.clone())),
        Action::TwapCancel { .. } => Ok(Plan::reducing(action.clone())),
        Action::GuardKill { .. } => Err(action_not_allowed::guard_kill()),
        Action::Other { name } => Err(action_not_allowed::other(name)),
    }
}
