//! The summary of a day.

use super::Watch;
use crate::notify::hours::Clock;
use crate::notify::notice::{Notice, Severity};
use crate::notify::words::{count, shown};
use crate::record::status::Status;

impl Watch {
    /// Tells the summary when its minute of the day has come. The first one is due a day after the notifier began at most.
    pub(in crate::notify) fn summarise(&mut self, status: Option<&Status>, clock: Clock, minute: u64, now_ms: u64) {
        let round = clock.rounds(now_ms, minute);
        let last = *self.summary_round.get_or_insert(round);
        // A clock that was set back says the same day twice; one that was far ahead must not keep the days until then quiet.
        if round <= last {
            self.summary_round = Some(last.min(round.saturating_add(1)));
            return;
        }
        self.summary_round = Some(round);
        let counts = std::mem::take(&mut self.counts);
        let account = status.map_or_else(|| "The guard does not answer.".to_owned(), account);
        let lasting: Vec<&str> = self.open.values().map(|notice| notice.title.as_str()).collect();
        let lasting = if lasting.is_empty() {
            "Nothing needs a look.".to_owned()
        } else {
            format!("Still so: {}.", shown(&lasting.join("; ")))
        };
        let notice = Notice::once("summary", "summary", Severity::Info, "Daily summary");
        self.tell(notice.words(account, counts.words(), lasting).at(now_ms));
    }
}

fn account(status: &Status) -> String {
    let amount = |amount: Option<rust_decimal::Decimal>| {
        amount.map_or_else(|| "not known".to_owned(), |amount| amount.to_string())
    };
    let risk = &status.risk;
    format!(
        "State: {}{}. Equity {} USDC, today {} of a loss limit of {}; {} below the peak, of {}. {}, {}, open risk {} of {}.",
        risk.state,
        if status.killed.is_some() { ", kill switch pulled" } else { "" },
        amount(status.equity),
        amount(risk.day_pnl),
        amount(risk.daily_loss_limit),
        amount(risk.drawdown),
        amount(risk.drawdown_limit),
        count(status.positions.len(), "position"),
        count(status.open_orders.len(), "open order"),
        amount(risk.open_risk),
        amount(risk.open_risk_limit),
    )
}
