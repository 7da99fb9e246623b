//! `expired`: a request is not decided after the time that its client gave it.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;

pub(crate) fn check(expires_after_ms: Option<u64>, now_ms: u64) -> Result<(), Veto> {
    match expires_after_ms {
        Some(expires_ms) if expires_ms < now_ms => {
            let text = format!("expiresAfter {expires_ms} was {} ms ago; send it anew", now_ms - expires_ms);
            Err(Veto::new(Code::Expired, text))
        }
        _ => Ok(()),
    }
}
