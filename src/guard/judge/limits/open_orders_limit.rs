//! `open_orders_limit`: entries that are open at a time.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;

/// Refuses `more` entries that may stay open.
pub(crate) fn check(guard: &Guard, more: usize) -> Result<(), Veto> {
    let (open, limit) = (open_entries(guard), guard.config.rules.open_orders);
    let count = open.saturating_add(more);
    if more == 0 || count <= usize::try_from(limit).unwrap_or(usize::MAX) {
        return Ok(());
    }
    let text = format!("{open} open entries and {more} more are over {limit}; cancel some first");
    Err(Veto::new(Code::OpenOrdersLimit, text).with(&limit, &count))
}

/// Entries that are open or may come to be.
pub(crate) fn open_entries(guard: &Guard) -> usize {
    let resting = guard.view.orders.values().filter(|order| order.is_entry()).count();
    let in_flight = guard.sent.open().filter(|order| !order.reduce_only && !order.is_immediate).count();
    let in_paper = guard.paper.resting().filter(|order| !order.reduce_only).count();
    resting.saturating_add(in_flight).saturating_add(in_paper)
}
