//! Leverage settings that the venue took.

use crate::guard::state::guard::Guard;
use crate::venue::action::Action;
use crate::venue::info::{Leverage, MarginMode};

/// Takes note of a leverage setting that was set.
pub(crate) fn learn_leverage(guard: &mut Guard, action: &Action, now_ms: u64) {
    if let Action::UpdateLeverage { asset, is_cross, leverage } = action {
        let mode = if *is_cross { MarginMode::Cross } else { MarginMode::Isolated };
        guard.view.leverage.insert(*asset, (Leverage { mode, value: *leverage }, now_ms));
    }
}
