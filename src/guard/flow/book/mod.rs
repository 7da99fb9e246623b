//! The book of money kept: each fill, payment of funding and transfer goes on record once, whoever tells of it first. What was
//! missed is read. Nothing here judges, sends or halts.

mod audit;
mod reads;
mod rows;

pub(crate) use reads::{on_fills_page, on_fundings_page};
pub(crate) use rows::{Told, on_fills_read, on_fills_told, on_fundings_told, on_ledger};

use crate::guard::flow::step_context::Step;

/// Has fills read: what was told of them is not believed.
pub(crate) fn read_fills(step: &mut Step<'_>) {
    let now_ms = step.now_ms;
    step.guard.book.fill_reads.want(now_ms);
}

/// Does what is due as time passes.
pub(crate) fn on_tick(step: &mut Step<'_>) {
    audit::note_unread(step);
    reads::ask(step);
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
