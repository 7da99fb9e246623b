//! A signed request through the checks on its head, in this order: network, nonce, expiry, account.

use super::action;
use super::admission::starting;
use super::head::{expired, nonces, wrong_account, wrong_network};
use super::limits::venue_budget;
use super::plan::Plan;
use super::veto::Veto;
use crate::base::address::Address;
use crate::guard::state::guard::Guard;
use crate::venue::envelope::Envelope;
use crate::venue::signing::Source;

/// Judges a request signed by `client`. Uses up its nonce, also when it is refused.
pub(crate) fn judge(
    guard: &mut Guard,
    envelope: &Envelope,
    client: Address,
    signed_as: Source,
    now_ms: u64,
) -> Result<Plan, Veto> {
    let terms = &envelope.terms;
    // By the venue's clock, as the venue would: this machine's may have been set wrong, and the service's own time does
    // not go back when it is set right.
    let clock_ms = guard.clock.best_ms();
    let burnt = nonces::burn(guard, client, terms.nonce, clock_ms);
    wrong_network::check(guard, signed_as)?;
    burnt?;
    expired::check(terms.expires_after_ms, clock_ms)?;
    wrong_account::check(guard, terms.vault)?;
    starting::check_account_kind(guard)?;
    let plan = action::judge(guard, client, &envelope.action, terms.expires_after_ms, now_ms)?;
    venue_budget::take_turn(guard, client, &plan, now_ms)?;
    Ok(plan)
}
