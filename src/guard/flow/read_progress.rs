//! Whether account and orders were read late enough to act on what they show.

use crate::guard::flow::guard_actions;
use crate::guard::state::guard::Guard;

/// A read that should settle a question is waited for this long, and a bare position this long for all of them together;
/// then what is known must do: within a second the account shows what is bare, and in three it is covered.
const MAX_WAIT_MS: u64 = 2_000;

/// Whether account and orders were read late enough to say whether a market's position is bare: a position seen to
/// grow may have got its stop with it, and a stop seen gone may have taken the position along.
pub(crate) fn is_settled(guard: &Guard, asset: u32, now_ms: u64) -> bool {
    let account_ms = guard.view.account.as_ref().map(|account| account.begun_ms);
    let known = |read_ms: Option<u64>, since_ms: Option<u64>| {
        since_ms.is_none_or(|since_ms| read_ms >= Some(since_ms) || now_ms.saturating_sub(since_ms) > MAX_WAIT_MS)
    };
    let attempted_ms = guard.watch.retry(asset).map(|retry| retry.reads_since_ms);
    // A stop too many does no harm; one that waits for doubt after doubt does.
    let has_waited =
        guard.watch.bare_ms.get(&asset).is_some_and(|since_ms| now_ms.saturating_sub(*since_ms) > MAX_WAIT_MS);
    // A young doubt may be settled by the venue's own word in a moment; an old one holds up nothing.
    let is_known = known(None, guard_actions::in_doubt_since(guard, asset))
        && known(guard.view.orders_ms, guard.watch.changed_ms.get(&asset).copied())
        && known(account_ms, guard.watch.gone_ms.get(&asset).copied());
    // What the guard itself just did is waited for in any case: it may be the cover that is missed.
    (is_known || has_waited) && known(account_ms, attempted_ms) && known(guard.view.orders_ms, attempted_ms)
}

/// Whether the feed's account has shown what is known of positions since then: what is left is closed by that too, where reads fail.
pub(crate) fn is_told_since(guard: &Guard, since_ms: u64) -> bool {
    guard.feed.agreed_ms >= since_ms
}

/// Whether a read of the account and one of the orders began after `since_ms`, or were waited for long enough.
pub(crate) fn is_read_since(guard: &Guard, since_ms: u64, now_ms: u64) -> bool {
    let account_ms = guard.view.account.as_ref().map(|account| account.begun_ms);
    let late = now_ms.saturating_sub(since_ms) > MAX_WAIT_MS;
    account_ms >= Some(since_ms) && (guard.view.orders_ms >= Some(since_ms) || late)
}
