//! `venue_budget`: the last requests that the venue takes from the account are kept for exits and stops.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;

/// Requests of the account's allowance that entries leave alone.
const KEPT_REQUESTS: u64 = 500;

pub(crate) fn check(guard: &Guard) -> Result<(), Veto> {
    match guard.requests_left {
        Some(left) if left < KEPT_REQUESTS => {
            let text = format!(
                "the venue takes {left} more requests from this account, under the {KEPT_REQUESTS} kept for exits and \
                 stops; trading volume earns more"
            );
            Err(Veto::new(Code::VenueBudget, text).with(&KEPT_REQUESTS, &left))
        }
        _ => Ok(()),
    }
}
