//! `order_rate_limit`: entries a minute.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::throttle::MINUTE_MS;

pub(crate) fn check(guard: &Guard, more: usize, now_ms: u64) -> Result<(), Veto> {
    let (recent, limit) = (entries_in_last_minute(guard, now_ms), guard.config.rules.orders_per_minute);
    let count = recent.saturating_add(more);
    if count <= usize::try_from(limit).unwrap_or(usize::MAX) {
        return Ok(());
    }
    let text = format!("{recent} entries in the last minute and {more} more are over {limit}; slow down");
    Err(Veto::new(Code::OrderRateLimit, text).with(&limit, &count))
}

/// Entries that passed in the last minute.
pub(crate) fn entries_in_last_minute(guard: &Guard, now_ms: u64) -> usize {
    guard.throttle.in_last(MINUTE_MS, now_ms).count()
}
