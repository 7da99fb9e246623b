//! `open_orders_limit`: entries that are open at a time. Of what the rule allows a part is each client's own. While a stop of the
//! guard's waits for room in a full book none is opened.

use crate::base::address::Address;
use crate::guard::code::Code;
use crate::guard::judge::fair_part;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;

/// Refuses `more` entries of a client that may stay open.
pub(crate) fn check(guard: &Guard, client: Address, more: usize) -> Result<(), Veto> {
    if more == 0 {
        return Ok(());
    }
    let limit = guard.config.rules.open_orders;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let entries = entries(guard);
    let kept = entries.kept_for_others(guard, client, most);
    let (open, count) = (entries.all, entries.all.saturating_add(more));
    if count.saturating_add(kept) <= most {
        return Ok(());
    }
    let kept = fair_part::told(kept);
    let text = format!("{open} open entries and {more} more are over {limit}{kept}; cancel some first");
    Err(Veto::new(Code::OpenOrdersLimit, text).with(&limit, &count))
}

/// Refuses every entry while a stop of the guard's waits for room: it would take that, or need one more.
pub(crate) fn check_room(guard: &Guard, now_ms: u64) -> Result<(), Veto> {
    if !guard.watch.waits_for_room(now_ms) {
        return Ok(());
    }
    let text = "the venue takes no more open orders from the account, and the guard's own stop waits for room among them, or its close; \
                cancel some first, or try again in ten seconds";
    Err(Veto::new(Code::OpenOrdersLimit, text.to_owned()).with(&0, &1))
}

/// Entries that are open or may come to be.
pub(crate) fn open_entries(guard: &Guard) -> usize {
    entries(guard).all
}

fn entries(guard: &Guard) -> fair_part::Resting {
    let resting = guard.view.orders.values().filter(|order| order.is_entry()).map(|order| order.cloid);
    let in_flight = guard.sent.open().filter(|order| !order.reduce_only && !order.is_immediate);
    let in_paper = guard.paper.resting().filter(|order| !order.reduce_only).map(|order| order.cloid);
    fair_part::Resting::count(guard, resting.chain(in_flight.map(|order| order.cloid)).chain(in_paper))
}
