//! `margin_removal`: margin can be added to an isolated position and never taken out of it, which would move its
//! liquidation price past its stop.

use super::veto::Veto;
use crate::guard::code::Code;

/// Refuses a negative amount of margin, in millionths of a USDC.
pub(crate) fn check(ntli: i64) -> Result<(), Veto> {
    if ntli >= 0 {
        return Ok(());
    }
    let text = format!("takes {ntli} millionths of a USDC out of a position; margin can only be added");
    Err(Veto::new(Code::MarginRemoval, text))
}
