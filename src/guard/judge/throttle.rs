//! Limits on how much is asked: entries a minute, open entries, duplicates, the account's allowance at the venue.

use crate::guard::state::throttle::EntryNote;
use crate::guard::state::throttle::MINUTE_MS;
use std::collections::BTreeSet;

use super::veto::Veto;
use crate::base::address::Cloid;
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::state::guard::Guard;

/// Requests of the account's allowance that are kept for exits and stops.
const KEPT_REQUESTS: u64 = 500;

/// Judges the entries of one request together. `resting` of them may stay open; `cloids` are their client order ids.
pub(crate) fn check(
    guard: &Guard,
    entries: &[EntryNote],
    cloids: &[Cloid],
    resting: usize,
    now_ms: u64,
) -> Result<(), Veto> {
    if entries.is_empty() {
        return Ok(());
    }
    let rules = &guard.config.rules;
    let (recent, limit) = (entries_in_last_minute(guard, now_ms), rules.orders_per_minute);
    if recent.saturating_add(entries.len()) > usize::try_from(limit).unwrap_or(usize::MAX) {
        let text =
            format!("{recent} entries in the last minute and {} more are over {limit}; slow down", entries.len());
        return Err(Veto::new(Code::OrderRateLimit, text).with(&limit, &recent.saturating_add(entries.len())));
    }
    let open = open_entries(guard);
    if resting > 0 && open.saturating_add(resting) > usize::try_from(rules.open_orders).unwrap_or(usize::MAX) {
        let text = format!("{open} open entries and {resting} more are over {}; cancel some first", rules.open_orders);
        return Err(Veto::new(Code::OpenOrdersLimit, text).with(&rules.open_orders, &open.saturating_add(resting)));
    }
    duplicates(guard, entries, now_ms)?;
    live_cloids(guard, cloids)?;
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

/// Entries that passed in the last minute.
pub(crate) fn entries_in_last_minute(guard: &Guard, now_ms: u64) -> usize {
    guard.throttle.in_last(MINUTE_MS, now_ms).count()
}

/// Entries that are open or may come to be.
pub(crate) fn open_entries(guard: &Guard) -> usize {
    let resting = guard.view.orders.values().filter(|order| order.is_entry()).count();
    let in_flight = guard.sent.open().filter(|order| !order.reduce_only && !order.is_immediate).count();
    let in_paper = guard.paper.resting().filter(|order| !order.reduce_only).count();
    resting.saturating_add(in_flight).saturating_add(in_paper)
}

fn duplicates(guard: &Guard, entries: &[EntryNote], now_ms: u64) -> Result<(), Veto> {
    let window_ms = guard.config.rules.duplicate_window_ms();
    let known: Vec<&EntryNote> = guard.throttle.in_last(window_ms, now_ms).collect();
    match entries.iter().find(|entry| known.contains(entry)) {
        Some(entry) => {
            let (side, size, px) = (if entry.is_buy { "buy" } else { "sell" }, to_wire(entry.size), to_wire(entry.px));
            let text = format!(
                "the same {side} of {size} at {px} in asset {} came within {window_ms} ms; wait, or change it",
                entry.asset
            );
            Err(Veto::new(Code::DuplicateOrder, text))
        }
        None => Ok(()),
    }
}

/// Refuses a client order id of an earlier request that is alive or in doubt, and one for two entries. An entry and its
/// stop may carry the same.
fn live_cloids(guard: &Guard, cloids: &[Cloid]) -> Result<(), Veto> {
    if cloids.is_empty() {
        return Ok(());
    }
    let mut asked = BTreeSet::new();
    if let Some(twice) = cloids.iter().find(|cloid| !asked.insert(**cloid)) {
        let text = format!("client order id {twice} is given to two entries; choose another for one of them");
        return Err(Veto::new(Code::DuplicateOrder, text));
    }
    let resting = guard.view.orders.values().filter_map(|order| order.cloid);
    let in_flight = guard.sent.open().filter_map(|order| order.cloid);
    let in_paper = guard.paper.cloids();
    match resting.chain(in_flight).chain(in_paper).find(|cloid| asked.contains(cloid)) {
        Some(cloid) => {
            let text = format!("client order id {cloid} is that of an order that is alive or in doubt; choose another");
            Err(Veto::new(Code::DuplicateOrder, text))
        }
        None => Ok(()),
    }
}
