//! `order_rate_limit`: entries a minute, and as many actions that open and reduce nothing: settings, the end of a TWAP
//! order, a nonce used up. Each client has its part of either.

use crate::base::address::Address;
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::throttle::MINUTE_MS;

/// Refuses `more` entries of a client.
pub(crate) fn check(guard: &Guard, client: Address, more: usize, now_ms: u64) -> Result<(), Veto> {
    let recent: Vec<Address> = guard.throttle.in_last(MINUTE_MS, now_ms).map(|entry| entry.client).collect();
    check_kind(guard, client, "entries", &recent, more)
}

/// Refuses one more action of a client that opens and reduces nothing.
pub(crate) fn check_neutral(guard: &Guard, client: Address, now_ms: u64) -> Result<(), Veto> {
    let recent: Vec<Address> = guard.throttle.neutral_in_last_minute(now_ms).collect();
    check_kind(guard, client, "settings and noops", &recent, 1)
}

/// Half of the rule's number goes to whoever comes; the other half is kept, in equal parts, for whoever has not come yet.
fn check_kind(guard: &Guard, client: Address, what: &str, recent: &[Address], more: usize) -> Result<(), Veto> {
    let limit = usize::try_from(guard.config.rules.orders_per_minute).unwrap_or(usize::MAX);
    let part = limit.checked_div(guard.config.clients.len().saturating_mul(2)).unwrap_or_default();
    let unused = |whose: &Address| part.saturating_sub(recent.iter().filter(|client| *client == whose).count());
    let others = guard.config.clients.iter().filter(|other| **other != client);
    let kept = others.fold(0_usize, |kept, other| kept.saturating_add(unused(other)));
    let count = recent.len().saturating_add(more);
    if count.saturating_add(kept) <= limit {
        return Ok(());
    }
    let for_others = if kept > 0 { format!(", of which {kept} are kept for other clients") } else { String::new() };
    let recent = recent.len();
    let text = format!("{recent} {what} in the last minute and {more} more are over {limit}{for_others}; slow down");
    Err(Veto::new(Code::OrderRateLimit, text).with(&limit, &count))
}

/// Entries that passed in the last minute.
pub(crate) fn entries_in_last_minute(guard: &Guard, now_ms: u64) -> usize {
    guard.throttle.in_last(MINUTE_MS, now_ms).count()
}
