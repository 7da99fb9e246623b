//! `account_stale`: an entry is judged by an account read that is recent enough.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::view::AccountView;

pub(crate) fn check(guard: &Guard, account: &AccountView, now_ms: u64) -> Result<(), Veto> {
    let (age_ms, limit_ms) = (now_ms.saturating_sub(account.begun_ms), guard.config.account_max_age_ms);
    if age_ms <= limit_ms {
        return Ok(());
    }
    let text = format!("the account was last read {age_ms} ms ago, over {limit_ms} ms; the venue may be away");
    Err(Veto::new(Code::AccountStale, text).with(&limit_ms, &age_ms))
}
