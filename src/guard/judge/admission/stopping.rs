//! `stopping`: nothing is opened while the service shuts down.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;

pub(crate) fn check(guard: &Guard) -> Result<(), Veto> {
    match guard.shutdown_reason {
        Some(_) => Err(Veto::new(Code::Stopping, "the service is stopping; send it again when it is back")),
        None => Ok(()),
    }
}
