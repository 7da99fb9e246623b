//! Whether an entry can be judged at all: kill switch, stop, journal, and the age of what was read.

use super::veto::Veto;
use crate::guard::code::Code;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::risk_state::RiskState;

/// Refuses an entry while nothing may be opened, or while what is known is too old.
pub(crate) fn check(guard: &Guard, now_ms: u64) -> Result<(), Veto> {
    if let Some(reason) = &guard.killed {
        let text = format!(
            "the kill switch is pulled ({reason}); a person removes {} and restarts the service",
            guard.config.kill_file
        );
        return Err(Veto::new(Code::Killed, text));
    }
    if guard.risk.is_halted() {
        return Err(halted(guard));
    }
    if guard.stopping.is_some() {
        return Err(Veto::new(Code::Stopping, "the service is stopping; send it again when it is back"));
    }
    if let Some(problem) = &guard.journal_error {
        return Err(Veto::new(Code::JournalError, format!("decisions cannot be written: {problem}")));
    }
    if guard.is_behind {
        let text = "the disk is behind and the journal's queue is full; exits pass, send this again in a moment";
        return Err(Veto::new(Code::Busy, text));
    }
    let Some(account) = &guard.view.account else {
        return Err(Veto::new(Code::Starting, "the account has not been read yet; try again in a moment"));
    };
    if guard.view.orders_ms.is_none() {
        return Err(Veto::new(Code::Starting, "the open orders have not been read yet; try again in a moment"));
    }
    let (age_ms, limit_ms) = (now_ms.saturating_sub(account.begun_ms), guard.config.account_max_age_ms);
    if age_ms > limit_ms {
        let text = format!("the account was last read {age_ms} ms ago, over {limit_ms} ms; the venue may be away");
        return Err(Veto::new(Code::AccountStale, text).with(&limit_ms, &age_ms));
    }
    let Some(mids_ms) = guard.view.mids_ms else {
        return Err(Veto::new(Code::PriceStale, "no prices have been read yet; try again in a moment"));
    };
    let (age_ms, limit_ms) = (now_ms.saturating_sub(mids_ms), guard.config.prices_max_age_ms);
    if age_ms > limit_ms {
        let text = format!("prices were last read {age_ms} ms ago, over {limit_ms} ms; the venue may be away");
        return Err(Veto::new(Code::PriceStale, text).with(&limit_ms, &age_ms));
    }
    Ok(())
}

/// The refusal while a daily loss stop or a drawdown halt holds.
fn halted(guard: &Guard) -> Veto {
    let figure = |key: &str| {
        let details = guard.risk.details.as_ref();
        details.and_then(|details| details.get(key)?.as_str()).unwrap_or("?").to_owned()
    };
    if guard.risk.state == RiskState::HaltedForDay {
        let (loss, limit, percent) = (figure("loss"), figure("limit"), figure("limit_pct"));
        let text = format!(
            "the daily loss stop fired: {loss} lost, limit {limit} ({percent}% of the day's start); entries come back with \
             the next UTC day, once all is flat"
        );
        return Veto::new(Code::HaltedForDay, text).with(&limit, &loss);
    }
    let (down, limit, percent) = (figure("drawdown"), figure("limit"), figure("limit_pct"));
    let text = format!(
        "the drawdown halt fired: {down} below the peak, limit {limit} ({percent}%); a person reviews it, stops the service \
         and runs `svc-guard journal-resume`"
    );
    Veto::new(Code::Stopped, text).with(&limit, &down)
}
