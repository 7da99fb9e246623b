//! `journal_error`: nothing is opened while decisions cannot be written to disk.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;

pub(crate) fn check(guard: &Guard) -> Result<(), Veto> {
    match &guard.journal_error {
        Some(problem) => Err(Veto::new(Code::JournalError, format!("decisions cannot be written: {problem}"))),
        None => Ok(()),
    }
}
