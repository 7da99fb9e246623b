//! `starting`: after a start, what has not been read from the venue yet cannot be judged by.

use crate::guard::code::Code;
use crate::guard::config::Mode;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::view::AccountView;

/// Refuses an entry before the first reads of the account, which it gives, and of the open orders.
pub(crate) fn check_reads(guard: &Guard) -> Result<&AccountView, Veto> {
    let Some(account) = &guard.view.account else {
        return Err(Veto::new(Code::Starting, "the account has not been read yet; try again in a moment"));
    };
    if guard.view.orders_ms.is_none() {
        return Err(Veto::new(Code::Starting, "the open orders have not been read yet; try again in a moment"));
    }
    if guard.is_account_older() {
        let text = "the account was not read since the start and the first read of the open orders, and may lack what filled; \
             try again in a moment";
        return Err(Veto::new(Code::Starting, text));
    }
    Ok(account)
}

/// Refuses every request, exits too, before it is known whether the account is a sub-account or vault: sent without its
/// name, an action would reach the positions of the master account.
pub(crate) fn check_account_kind(guard: &Guard) -> Result<(), Veto> {
    if guard.acts_for.is_none() && guard.config.mode != Mode::Paper {
        let text = "it is not known yet whether the account is a sub-account or vault; try again in a moment, or close at the \
                    venue's own page";
        return Err(Veto::new(Code::Starting, text));
    }
    Ok(())
}
