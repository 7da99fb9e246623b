//! `duplicate_order`: the same entry again within the window, and client order ids that are taken.

use crate::venue::side::Side;
use std::collections::BTreeSet;

use crate::base::address::Cloid;
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::throttle::EntryNote;

/// Refuses an entry like one of an earlier request of the same client. Two alike in one request are meant.
pub(crate) fn check_entries(guard: &Guard, entries: &[EntryNote], now_ms: u64) -> Result<(), Veto> {
    let window_ms = guard.config.rules.duplicate_window_ms();
    let known: Vec<&EntryNote> = guard.throttle.in_last(window_ms, now_ms).collect();
    match entries.iter().find(|entry| known.contains(entry)) {
        Some(entry) => {
            let (side, size, px) = (Side::of(entry.is_buy).name(), to_wire(entry.size), to_wire(entry.px));
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
pub(crate) fn check_cloids(guard: &Guard, cloids: &[Cloid]) -> Result<(), Veto> {
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
