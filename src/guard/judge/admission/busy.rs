//! `busy`: nothing is opened while the disk is behind, so that exits find room in the journal's queue.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;

pub(crate) fn check(guard: &Guard) -> Result<(), Veto> {
    if !guard.is_behind {
        return Ok(());
    }
    let text = "the disk is behind and the journal's queue is full; exits pass, send this again in a moment";
    Err(Veto::new(Code::Busy, text))
}
