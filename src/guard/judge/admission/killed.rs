//! `killed`: nothing is opened once the kill switch is pulled, until a person releases it and restarts the service.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;

pub(crate) fn check(guard: &Guard) -> Result<(), Veto> {
    match &guard.killed {
        Some(reason) => {
            let text = format!(
                "the kill switch is pulled ({reason}); a person removes {} and restarts the service",
                guard.config.kill_file
            );
            Err(Veto::new(Code::Killed, text))
        }
        None => Ok(()),
    }
}
