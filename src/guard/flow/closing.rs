//! How far closing everything has come: the one place that says that an account is flat. Whoever tells of it goes by this.
//! It is put on record each time that it comes to be so, for those who look at the status too late.

use crate::guard::config::Mode;
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{flatten, hindrances};
use crate::guard::state::guard::Guard;
use crate::record::events::Flat;
use crate::record::status::Closing;

/// Where everything must be closed: whether it is, by recent reads that began after the last close, and nothing less.
pub(crate) fn closing(guard: &Guard, now_ms: u64) -> Option<Closing> {
    if guard.config.mode == Mode::Paper || !guard.must_be_flat() {
        return None;
    }
    let twaps = guard.watch.flatten.twaps.known();
    let account = guard.view.account.as_ref().filter(|_| guard.is_account_known());
    let times = account.map(|account| account.shown_ms()).zip(guard.view.orders_known_ms());
    let is_recent = times.is_some_and(|(account_ms, orders_ms)| {
        let is_young = |at_ms: u64, most_ms: u64| now_ms.saturating_sub(at_ms) <= most_ms;
        is_young(account_ms, guard.account_max_age_ms()) && is_young(orders_ms, guard.orders_max_age_ms())
    });
    let checked_ms = times.map(|(account_ms, orders_ms)| account_ms.min(orders_ms));
    let is_after = checked_ms >= Some(guard.watch.flatten.reads_since_ms);
    let is_nothing_known = account.is_some() && twaps == Some(0) && !is_any_left(guard);
    let flat = is_recent && is_after && is_nothing_known && flatten::is_flat(guard);
    let hindrances = if flat { Vec::new() } else { hindrances::of_closing(guard) };
    Some(Closing { flat, checked_ms, twaps, hindrances })
}

/// Whether anything is held, rests or runs, as far as is known.
fn is_any_left(guard: &Guard) -> bool {
    let account = guard.view.account.as_ref().filter(|_| guard.is_account_known());
    let is_held = account.is_some_and(|account| !account.is_flat());
    is_held || rests_any(guard) || guard.watch.flatten.twaps.known().is_some_and(|running| running > 0)
}

/// Whether any order rests, also one that was accepted since the last read, or of no core perp.
fn rests_any(guard: &Guard) -> bool {
    !guard.view.orders.is_empty()
        || !guard.view.foreign_orders.is_empty()
        || guard.sent.resting().next().is_some()
        || guard.paper.resting_by_id().next().is_some()
}

/// Records that what was closed is flat: once a closing, once in each life that takes one up, and once more when what turned up
/// after that is closed as well.
pub(crate) fn record_flat(step: &mut Step<'_>) {
    if is_any_left(step.guard) {
        step.guard.watch.flatten.is_recorded = false;
    }
    let Some(flatten) = step.guard.watch.flatten.of.filter(|_| !step.guard.watch.flatten.is_recorded) else { return };
    let Some(Closing { flat: true, checked_ms: Some(checked_ms), .. }) = closing(step.guard, step.now_ms) else {
        return;
    };
    step.guard.watch.flatten.is_recorded = true;
    let equity = step.guard.equity_now();
    step.record(Flat { flatten, positions: 0, orders: 0, checked_ms, equity });
}
