//! `leverage_too_high`: a client sets no market's leverage above the rule.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::venue::info::MarginMode;

pub(crate) fn check(guard: &Guard, asset: u32, leverage: u32) -> Result<(), Veto> {
    let limit = guard.config.rules.leverage;
    if leverage <= limit {
        return Ok(());
    }
    let coin = guard.view.coin(asset);
    let text = format!("leverage {leverage} for {coin} is over {limit}; ask for at most {limit}");
    Err(Veto::new(Code::LeverageTooHigh, text).with(&limit, &leverage))
}

/// Whether a setting is known to become lower, in the same margin mode: that only takes risk away.
pub(crate) fn only_lowers(guard: &Guard, asset: u32, is_cross: bool, leverage: u32) -> bool {
    guard
        .view
        .leverage
        .get(&asset)
        .is_some_and(|(learnt, _)| (learnt.mode == MarginMode::Cross) == is_cross && leverage <= learnt.value)
}
