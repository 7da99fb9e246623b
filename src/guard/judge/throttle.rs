//! The limits on how much is asked for, in their order. They look at the entries of one request together, once each of
//! them passed by itself.

use super::limits::{duplicate_order, open_orders_limit, order_rate_limit, venue_budget};
use super::veto::Veto;
use crate::base::address::{Address, Cloid};
use crate::guard::state::guard::Guard;
use crate::record::minute_record::EntryNote;

/// The entries of one request.
#[derive(Debug, Default)]
pub(crate) struct AskedEntries {
    /// Each as the client asked for it.
    pub(crate) notes: Vec<EntryNote>,
    /// Their client order ids.
    pub(crate) cloids: Vec<Cloid>,
    /// How many of them add to the open orders.
    pub(crate) resting: usize,
}

pub(crate) fn check(guard: &Guard, asked: &AskedEntries, now_ms: u64) -> Result<(), Veto> {
    let Some(EntryNote { client, .. }) = asked.notes.first() else { return Ok(()) };
    order_rate_limit::check(guard, *client, asked.notes.len(), now_ms)?;
    open_orders_limit::check(guard, *client, asked.resting)?;
    duplicate_order::check_entries(guard, &asked.notes, now_ms)?;
    duplicate_order::check_cloids(guard, &asked.cloids)?;
    venue_budget::check(guard, *client)
}

/// So many entries are looked at one by one, whatever the rules; more only where their number breaks no rule.
const FEW: usize = 100;

/// Refuses so many entries, and so many of them that may rest, that no minute and no empty book could take them.
pub(crate) fn check_counts(
    guard: &Guard,
    client: Address,
    (entries, resting): (usize, usize),
    now_ms: u64,
) -> Result<(), Veto> {
    let over = |count: usize, limit: u32| count > usize::try_from(limit).unwrap_or(usize::MAX).max(FEW);
    let rules = &guard.config.rules;
    if over(entries, rules.orders_per_minute) {
        order_rate_limit::check(guard, client, entries, now_ms)?;
    }
    if over(resting, rules.open_orders) { open_orders_limit::check(guard, client, resting) } else { Ok(()) }
}
