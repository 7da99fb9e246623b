//! The book of money kept: each fill, payment of funding and transfer goes on record once, whoever tells of it first. What was
//! missed is read. Nothing here judges, sends or halts.

mod reads;
mod rows;

pub(crate) use reads::{on_fills_page, on_fundings_page};
pub(crate) use rows::{Told, on_fills_read, on_fills_told, on_fundings_told, on_ledger};

use crate::guard::flow::step_context::Step;

/// Does what is due as time passes.
pub(crate) fn on_tick(step: &mut Step<'_>) {
    reads::ask(step);
}
