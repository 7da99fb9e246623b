//! `duplicate_order`: the same entry again within the window, and client order ids that are taken.

use crate::venue::order::{Order, Tif};
use crate::venue::side::Side;
use std::collections::BTreeSet;

use crate::base::address::Cloid;
use crate::base::amount::to_wire;
use crate::base::moment::span;
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::record::minute_record::EntryNote;

/// Refuses an entry like one of an earlier request of the same client. Two alike in one request are meant.
pub(crate) fn check_entries(guard: &Guard, entries: &[EntryNote], now_ms: u64) -> Result<(), Veto> {
    let window_ms = guard.config.rules.duplicate_window_ms();
    let known: Vec<&EntryNote> = guard.throttle.in_last(window_ms, now_ms).collect();
    match entries.iter().find(|entry| known.contains(entry)) {
        Some(entry) => {
            let (side, size, px) = (Side::of(entry.is_buy).name(), to_wire(entry.size), to_wire(entry.px));
            let text = format!(
                "the same {side} of {size} at {px} in {} came within {}; wait, or change it",
                guard.view.coin(entry.asset),
                span(window_ms)
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
    match alive(guard).find(|cloid| asked.contains(cloid)) {
        Some(cloid) => {
            let text = format!("client order id {cloid} is that of an order that is alive or in doubt; choose another");
            Err(Veto::new(Code::DuplicateOrder, text))
        }
        None => Ok(()),
    }
}

/// Takes the client order id from what only reduces, and may rest, where an order of an earlier request has it: under two
/// orders a cancel or a modify by that id could take the other one. The exit goes in any case.
pub(crate) fn take_borrowed<'a>(guard: &Guard, orders: impl Iterator<Item = &'a mut Order>, changes: &mut Vec<String>) {
    let may_rest = |order: &Order| !order.tif().is_some_and(Tif::is_immediate);
    let is_asked = |order: &&mut Order| order.reduce_only && order.cloid.is_some() && may_rest(order);
    let mut named: Vec<&mut Order> = orders.filter(is_asked).collect();
    if named.is_empty() {
        return;
    }
    let alive: BTreeSet<Cloid> = alive(guard).collect();
    for order in &mut named {
        if let Some(cloid) = order.cloid.take_if(|cloid| alive.contains(cloid)) {
            let text = "is that of an order that is alive or in doubt, so the order that reduces goes without it";
            changes.push(format!("client order id {cloid} {text}"));
        }
    }
}

/// The client order ids that orders carry or may carry.
pub(crate) fn alive(guard: &Guard) -> impl Iterator<Item = Cloid> {
    let resting = guard.view.orders.values().filter_map(|order| order.cloid);
    resting.chain(on_their_way(guard))
}

/// Those of them that no read has to show.
pub(crate) fn on_their_way(guard: &Guard) -> impl Iterator<Item = Cloid> {
    let in_flight = guard.sent.open().filter_map(|order| order.cloid);
    in_flight.chain(guard.sent.trigger_cloids()).chain(guard.paper.cloids())
}
