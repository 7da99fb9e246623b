//! The vault or sub-account that actions name.

use crate::base::address::Address;
use crate::guard::config::Mode;
use crate::guard::flow::step_context::Step;
use crate::record::risk_record::{RiskRecord, Role};

/// Takes in whom actions are for. It is written down, so that the next start need not wait for the venue with exits.
pub(crate) fn on_acts_for(step: &mut Step<'_>, vault: Option<Address>) {
    if step.guard.acts_for.replace(vault) != Some(vault) && step.guard.config.mode != Mode::Paper {
        let role = Role { at_ms: step.now_ms, acts_for_account: Some(vault.is_some()) };
        step.effects.risk.push(RiskRecord::Role(role).into());
    }
}
