//! The `risk` event: one whenever its content has changed.

use crate::guard::flow::discrepancies;
use crate::guard::flow::step_context::Step;
use crate::record::events::Risk;

/// A `risk` event whenever what it tells has changed.
pub(crate) fn record_risk_change(step: &mut Step<'_>) {
    let Some(account) = &step.guard.view.account else { return };
    let (equity, open_positions) = (account.equity, account.positions.len());
    let journal_error = step.guard.journal_error.clone();
    let (state, details) = (step.guard.risk.state.name(), step.guard.risk.details.clone());
    let discrepancies: Vec<String> = discrepancies::told(step.guard).map(|(_, text, _)| text).collect();
    let told = format!("{state} {open_positions} {journal_error:?} {discrepancies:?}");
    if step.guard.last_risk.as_ref() == Some(&told) {
        return;
    }
    step.guard.last_risk = Some(told);
    step.record(Risk {
        state: state.into(),
        details,
        equity: Some(equity),
        open_positions,
        discrepancies,
        journal_error,
    });
}
