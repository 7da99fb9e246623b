//! A request through the checks that come before its orders: network, nonce, expiry, account, action type.

use super::plan::Plan;
use super::veto::Veto;
use super::{cancel, leverage, modify, orders, single_use_cloid};
use crate::base::address::Address;
use crate::base::text::short;
use crate::guard::code::Code;
use crate::guard::config::Mode;
use crate::guard::state::guard::Guard;
use crate::guard::state::own_cloid::is_derived;
use crate::venue::action::{Action, Grouping};
use crate::venue::envelope::Envelope;
use crate::venue::order::Order;
use crate::venue::signing::Source;

/// Judges a request signed by `client`. Uses up its nonce, also when it is refused.
pub(crate) fn judge(
    guard: &mut Guard,
    envelope: &Envelope,
    client: Address,
    signed_as: Source,
    now_ms: u64,
) -> Result<Plan, Veto> {
    let window = guard.windows.entry(client).or_default();
    let burnt = window.burn(envelope.terms.nonce, now_ms);
    if guard.config.require_network && signed_as != guard.config.account_network {
        let (wanted, signed) = (guard.config.account_network.name(), signed_as.name());
        let text = format!("signed for {signed}, and require_network asks for {wanted}; sign for {wanted}");
        return Err(Veto::new(Code::WrongNetwork, text));
    }
    burnt.map_err(|(code, text)| Veto::new(code, text))?;
    if let Some(expires_ms) = envelope.terms.expires_after_ms
        && expires_ms < now_ms
    {
        let text = format!("expiresAfter {expires_ms} was {} ms ago; send it anew", now_ms - expires_ms);
        return Err(Veto::new(Code::Expired, text));
    }
    if let Some(vault) = envelope.terms.vault
        && vault != guard.config.account
    {
        let text = format!("vaultAddress {vault} is not the guarded account {}; leave it out", guard.config.account);
        return Err(Veto::new(Code::WrongAccount, text));
    }
    if guard.acts_for.is_none() && guard.config.mode != Mode::Paper {
        // Sent without the name of the sub-account, it would act on the master's positions instead.
        let text = "it is not known yet whether the account is a sub-account or vault; try again in a moment";
        return Err(Veto::new(Code::Starting, text));
    }
    judge_action(guard, &envelope.action, client, now_ms)
}

fn judge_action(guard: &Guard, action: &Action, client: Address, now_ms: u64) -> Result<Plan, Veto> {
    match action {
        Action::Order(orders) => {
            if let Grouping::Priority(_) = orders.grouping {
                let text = "a grouping that bids a priority fee is never forwarded; use na, normalTpsl or positionTpsl";
                return Err(Veto::new(Code::ActionNotAllowed, text));
            }
            derived_ids(orders.orders.iter())?;
            single_use_cloid::check(guard, &orders.orders)?;
            orders::judge(guard, client, orders, now_ms)
        }
        Action::Modify { modify, always } => {
            derived_ids(std::iter::once(&modify.order))?;
            modify::judge(guard, client, std::slice::from_ref(modify), now_ms).map(|judged| {
                judged.into_plan(|mut modifies| match modifies.pop() {
                    Some(modify) => Action::Modify { modify, always: *always },
                    None => Action::Noop,
                })
            })
        }
        Action::BatchModify { modifies, always } => {
            derived_ids(modifies.iter().map(|modify| &modify.order))?;
            modify::judge(guard, client, modifies, now_ms)
                .map(|judged| judged.into_plan(|modifies| Action::BatchModify { modifies, always: *always }))
        }
        Action::Cancel { .. } | Action::CancelByCloid { .. } => cancel::judge(guard, action),
        Action::UpdateLeverage { asset, leverage, .. } => {
            leverage::judge_update(guard, *asset, *leverage)?;
            Ok(Plan { forward: Some(action.clone()), ..Plan::default() })
        }
        Action::UpdateIsolatedMargin { ntli, .. } if *ntli < 0 => {
            let text = format!("takes {ntli} millionths of a USDC out of a position; margin can only be added");
            Err(Veto::new(Code::MarginRemoval, text))
        }
        Action::UpdateIsolatedMargin { .. } | Action::Noop => {
            Ok(Plan { forward: Some(action.clone()), ..Plan::default() })
        }
        Action::TwapCancel { .. } => Ok(Plan::reducing(action.clone())),
        Action::GuardKill { .. } => {
            Err(Veto::new(Code::ActionNotAllowed, "guardKill is posted to /guard/kill, not to /exchange"))
        }
        Action::Other { name } => {
            let name = short(name);
            let text = format!("{name} is never forwarded: it can move money or authority, or is not known here");
            Err(Veto::new(Code::ActionNotAllowed, text))
        }
    }
}

/// Refuses client order ids that look like the guard's own.
fn derived_ids<'a>(mut orders: impl Iterator<Item = &'a Order>) -> Result<(), Veto> {
    let derived = orders.find_map(|order| order.cloid.filter(is_derived));
    derived.map_or(Ok(()), |cloid| {
        let text = format!("client order id {cloid} has the prefix of the guard's own; choose another");
        Err(Veto::new(Code::Malformed, text))
    })
}
