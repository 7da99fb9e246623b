//! `leverage_too_high`: a client sets no market's leverage above the rule.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;

pub(crate) fn check(guard: &Guard, asset: u32, leverage: u32) -> Result<(), Veto> {
    let limit = guard.config.rules.leverage;
    if leverage <= limit {
        return Ok(());
    }
    let text = format!("leverage {leverage} for asset {asset} is over {limit}; ask for at most {limit}");
    Err(Veto::new(Code::LeverageTooHigh, text).with(&limit, &leverage))
}
