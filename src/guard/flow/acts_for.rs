//! The vault or sub-account that actions name.

use crate::base::address::Address;
use crate::guard::config::Mode;
use crate::guard::flow::risk::records;
use crate::guard::flow::step_context::Step;

/// Takes in whom actions are for. It is written down, so that the next start need not wait for the venue with exits.
pub(crate) fn on_acts_for(step: &mut Step<'_>, vault: Option<Address>) {
    if step.guard.acts_for.replace(vault) != Some(vault) && step.guard.config.mode != Mode::Paper {
        step.effects.risk.push(records::role(vault.is_some(), step.now_ms));
    }
}
