//! Judging: a request goes in, a plan or a veto comes out. One file a rule.
//!
//! The order of checks is fixed, and the first that fails decides: network, nonce, expiry, account, action type, kill
//! and risk state, freshness, then each order in turn with budgets running down, then the limits of the whole action.
//! What can only reduce passes in every state and keeps its price and size.

mod cancel;
mod collar;
mod entry;
mod freshness;
mod leverage;
mod market;
mod modify;
mod orders;
mod release;
mod size;
pub(super) mod stop;
mod throttle;
mod tick;

use super::book::StopAt;
use super::code::Code;
use super::config::Mode;
use super::state::Guard;
use crate::base::address::Address;
use crate::venue::action::{Action, Grouping};
use crate::venue::envelope::Envelope;
use crate::venue::order::Order;
use crate::venue::signing::Source;

pub(super) use cancel::{GUARDS_OWN, guards_own};
pub(super) use leverage::unknown_for;
pub(super) use orders::add_exit;
pub(super) use throttle::{EntryNote, Throttle, entries_in_last_minute, open_entries};

/// A refusal of a whole request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Veto {
    pub(super) code: Code,
    /// Names the limit, the actual value and the way out.
    pub(super) text: String,
    /// The limit and the actual value once more, for programs, where the refusal comes down to two such.
    pub(super) figures: Option<Figures>,
}

/// A limit and the value that met it, each as it would stand in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) limit: String,
    pub(super) actual: String,
}

impl Veto {
    pub(super) fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), figures: None }
    }

    /// The same with its limit and the actual value.
    pub(super) fn with(self, limit: &impl ToString, actual: &impl ToString) -> Self {
        Self { figures: Some(Figures { limit: limit.to_string(), actual: actual.to_string() }), ..self }
    }
}

/// What is sent for a request that passed.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    /// Sent first; a failure stops the rest.
    pub(super) pre: Vec<Action>,
    pub(super) forward: Option<Action>,
    /// The places of the request that `forward` holds, where some were left out of it.
    pub(super) kept: Option<Vec<usize>>,
    /// Sent after `forward`, each under its condition.
    pub(super) post: Vec<Post>,
    /// What was altered, in words.
    pub(super) changes: Vec<String>,
    /// Where each order of `forward` is stopped out, for the exposure it reserves.
    pub(super) stops: Vec<Option<StopAt>>,
    /// Entries, for the throttles.
    pub(super) entries: Vec<EntryNote>,
    /// Whether any part of it can open or enlarge a position.
    pub(super) is_entry: bool,
    /// Whether it passed because it can only reduce.
    pub(super) reduces: bool,
}

/// An action that follows, and on what.
#[derive(Debug, Clone)]
pub(super) struct Post {
    pub(super) action: Action,
    /// Sent only if the order at this place of `forward` was accepted.
    pub(super) after_place: usize,
}

impl Plan {
    fn reducing(forward: Action) -> Self {
        Self { forward: Some(forward), reduces: true, ..Self::default() }
    }

    /// The code and text of this plan.
    pub(super) fn reason(&self) -> (Code, String) {
        if !self.changes.is_empty() {
            (Code::Resized, self.changes.join("; "))
        } else if self.reduces {
            (Code::Reduces, "can only reduce risk; forwarded as it came".to_owned())
        } else {
            (Code::Allowed, "within every rule; forwarded as it came".to_owned())
        }
    }
}

/// Judges a request signed by `client`. Uses up its nonce, also when it is refused.
pub(super) fn judge(
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
            super::once::check(guard, &orders.orders)?;
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
            let name = crate::base::text::short(name);
            let text = format!("{name} is never forwarded: it can move money or authority, or is not known here");
            Err(Veto::new(Code::ActionNotAllowed, text))
        }
    }
}

/// Refuses client order ids that look like the guard's own.
fn derived_ids<'a>(mut orders: impl Iterator<Item = &'a Order>) -> Result<(), Veto> {
    let derived = orders.find_map(|order| order.cloid.filter(super::pending::is_derived));
    derived.map_or(Ok(()), |cloid| {
        let text = format!("client order id {cloid} has the prefix of the guard's own; choose another");
        Err(Veto::new(Code::Malformed, text))
    })
}
