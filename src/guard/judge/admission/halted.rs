//! `halted_for_day` and `stopped`: nothing is opened after the daily loss or the drawdown reached its limit. One file,
//! since an account is in one of these states at a time and both read the figures of the same halt.

use crate::base::amount::{cents, parse_info};
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::risk_state::RiskState;
use crate::record::risk_record::HaltDetails;

pub(crate) fn check(guard: &Guard) -> Result<(), Veto> {
    if !guard.risk.is_halted() {
        return Ok(());
    }
    Err(if guard.risk.state == RiskState::HaltedForDay { halted_for_day(guard) } else { drawdown_halt(guard) })
}

fn halted_for_day(guard: &Guard) -> Veto {
    let HaltDetails { loss, limit, limit_pct, .. } = guard.risk.details.clone().unwrap_or_default();
    let (loss, limit, percent) = (figure(loss), figure(limit), figure(limit_pct));
    let (lost, most) = (money(&loss), money(&limit));
    let text = format!(
        "the daily loss stop fired: {lost} lost, limit {most} ({percent}% of the day's start); entries come back with \
         the next UTC day, once all is flat"
    );
    Veto::new(Code::HaltedForDay, text).with(&limit, &loss)
}

fn drawdown_halt(guard: &Guard) -> Veto {
    let HaltDetails { drawdown, limit, limit_pct, .. } = guard.risk.details.clone().unwrap_or_default();
    let (down, limit, percent) = (figure(drawdown), figure(limit), figure(limit_pct));
    let (lost, most) = (money(&down), money(&limit));
    let text = format!(
        "the drawdown halt fired: {lost} below the peak, limit {most} ({percent}%); a person reviews it, stops the service \
         and runs `{word}svc-guard journal-resume --mode {mode} --note TEXT`",
        word = guard.config.confirmation(),
        mode = guard.config.mode
    );
    Veto::new(Code::Stopped, guard.config.typed(&text)).with(&limit, &down)
}

/// A figure of the halt as it was recorded when it fired; an earlier version may not have.
fn figure(recorded: Option<String>) -> String {
    recorded.unwrap_or_else(|| "?".to_owned())
}

/// The same for a text, to the cent.
fn money(figure: &str) -> String {
    parse_info(figure).map_or_else(|_| figure.to_owned(), cents)
}
