//! `expired`: a request is not decided after the time that its client gave it, nor an entry so shortly before that it would
//! come too late.

use crate::base::moment::span;
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::lifetime::{is_short, life_ms};

pub(crate) fn check(expires_after_ms: Option<u64>, now_ms: u64) -> Result<(), Veto> {
    match expires_after_ms {
        Some(expires_ms) if expires_ms < now_ms => {
            let text = format!("expiresAfter {expires_ms} was {} ago; send it anew", span(now_ms - expires_ms));
            Err(Veto::new(Code::Expired, text))
        }
        _ => Ok(()),
    }
}

/// Refuses an entry that the venue might get too late.
pub(crate) fn check_entry(expires_after_ms: Option<u64>, now_ms: u64) -> Result<(), Veto> {
    let left_ms = life_ms(expires_after_ms, now_ms);
    if is_short(left_ms) {
        let text = format!("expiresAfter is {} away, and a send may take a second; give it more time", span(left_ms));
        return Err(Veto::new(Code::Expired, text));
    }
    Ok(())
}
