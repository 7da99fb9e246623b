//! The end of the service: no new request, then the `stopped` event once every send has ended.

use crate::guard::effects::Command;
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{book, requests};
use crate::record::events::Stopped;

/// No new request is taken from now on; what waits for a leverage setting is judged without it.
pub(crate) fn on_shutdown(step: &mut Step<'_>, reason: String) {
    step.guard.shutdown_reason.get_or_insert(reason);
    requests::unpark_all(step);
}

/// Every send has ended: the last event of this life.
pub(crate) fn on_sends_ended(step: &mut Step<'_>) {
    if !std::mem::replace(&mut step.guard.is_shut_down, true) {
        book::on_end(step);
        let reason = step.guard.shutdown_reason.clone().unwrap_or_else(|| "unknown".to_owned());
        step.record(Stopped { reason: reason.into() });
    }
    step.effects.after_commit.push(Command::FinishShutdown);
}
