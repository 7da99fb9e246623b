//! `account_stale`: an entry is judged by reads of the account and of its open orders that are recent enough.

use crate::base::moment::span;
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::view::AccountView;

pub(crate) fn check(guard: &Guard, account: &AccountView, now_ms: u64) -> Result<(), Veto> {
    let orders_ms = guard.view.orders_known_ms().unwrap_or_default();
    let (age_ms, limit_ms) = (account.age_ms(now_ms), guard.account_max_age_ms());
    if age_ms > limit_ms && account.begun_ms > account.shown_ms() {
        let text = format!(
            "the venue goes on showing the account as it was {} ago, over {}: its answers stand still",
            span(age_ms),
            span(limit_ms)
        );
        return Err(Veto::new(Code::AccountStale, text).with(&limit_ms, &age_ms));
    }
    // One that was not read with the rest is as old as it is, whatever the feed tells.
    let (valued_ms, valued_limit_ms) = if account.is_valued() {
        (account.known_ms(), limit_ms)
    } else {
        (account.valued_ms.unwrap_or(account.begun_ms), guard.config.account_max_age_ms)
    };
    for (what, read_ms, limit_ms) in [
        ("the account was", account.known_ms(), limit_ms),
        ("the account's equity was", valued_ms, valued_limit_ms),
        ("the open orders were", orders_ms, guard.orders_max_age_ms()),
    ] {
        let age_ms = now_ms.saturating_sub(read_ms);
        if age_ms > limit_ms {
            let text = format!("{what} last read {} ago, over {}; the venue may be away", span(age_ms), span(limit_ms));
            return Err(Veto::new(Code::AccountStale, text).with(&limit_ms, &age_ms));
        }
    }
    if guard.judged_equity().is_none() {
        let text = "the account's equity was not read since its mode is known; that takes a moment";
        return Err(Veto::new(Code::AccountStale, text));
    }
    // Whoever loses at every trade must not go on trading while the guard makes sure of the loss.
    if guard.risk.is_in_doubt() {
        let text = "the account shows a loss over a limit, or money that came in may hide one, which is being made sure of; \
                    entries wait for that, seconds";
        return Err(Veto::new(Code::AccountStale, text));
    }
    Ok(())
}
