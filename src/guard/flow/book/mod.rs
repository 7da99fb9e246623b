//! The book of money kept: each fill, payment of funding and transfer goes on record once, whoever tells of it first. What was
//! missed is read. Nothing here judges, sends or halts.

mod audit;
mod reads;
mod rows;
mod written;

pub(crate) use reads::{on_fills_page, on_fundings_page, on_ledger_ahead, on_ledger_lacks};
pub(crate) use rows::{Told, on_fills_told, on_fundings_told, on_ledger, on_newest_read};

use crate::guard::flow::step_context::Step;

/// Has fills read: what was told of them is not believed.
pub(crate) fn read_fills(step: &mut Step<'_>) {
    let now_ms = step.now_ms;
    step.guard.book.fill_reads.want(now_ms);
}

/// Has the fills read at once that tell which entries of an earlier life have made a position.
pub(crate) fn read_fills_for_cover(step: &mut Step<'_>) {
    let now_ms = step.now_ms;
    step.guard.book.fill_reads.want_for_cover(now_ms);
    reads::ask(step);
}

/// Does what is due as time passes.
pub(crate) fn on_tick(step: &mut Step<'_>) {
    written::note_unread(step);
    written::note_uncompared(step);
    reads::ask(step);
    look_at_resting(step);
}

/// An order that rests is kept in mind, however many are sent after it: its fill has its cause.
fn look_at_resting(step: &mut Step<'_>) {
    let (guard, now_ms) = (&mut *step.guard, step.now_ms);
    if guard.view.orders_ms.is_some() && guard.book.sent.is_look_due(now_ms) {
        let of_others = guard.view.foreign_orders.iter().filter_map(|order| order.cloid);
        let resting = guard.view.orders.values().filter_map(|order| order.cloid);
        guard.book.sent.look(resting.chain(of_others), now_ms);
    }
}

/// Looks at what was read or came in, and at what waits for that.
pub(crate) fn after_step(step: &mut Step<'_>) {
    if step.guard.shutdown_reason.is_none() {
        audit::run(step);
    }
}

/// Writes the last word of a life.
pub(crate) fn on_end(step: &mut Step<'_>) {
    audit::end(step);
}
