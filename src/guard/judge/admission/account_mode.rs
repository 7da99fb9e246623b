//! `account_mode`: an entry is judged by an equity that can be read.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;

pub(crate) fn check(guard: &Guard) -> Result<(), Veto> {
    match &guard.risk.unvalued {
        Some((mode, _)) => {
            let text = format!(
                "the account's mode is {mode}, whose equity cannot be valued surely; exits pass, entries come back with \
                 the standard or unified mode"
            );
            Err(Veto::new(Code::AccountMode, text).with(&"default, disabled or unifiedAccount", mode))
        }
        None => Ok(()),
    }
}
