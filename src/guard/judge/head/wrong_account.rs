//! `wrong_account`: a vault or sub-account that a request names is the guarded account.

use crate::base::address::Address;
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;

pub(crate) fn check(guard: &Guard, vault: Option<Address>) -> Result<(), Veto> {
    match vault {
        Some(vault) if vault != guard.config.account => {
            let text =
                format!("vaultAddress {vault} is not the guarded account {}; leave it out", guard.config.account);
            Err(Veto::new(Code::WrongAccount, text))
        }
        _ => Ok(()),
    }
}
