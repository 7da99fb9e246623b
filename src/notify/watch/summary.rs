//! The summary of a day.

use super::Watch;
use super::book::{Report, named};
use crate::base::day::{Day, day_of};
use crate::notify::hours::Clock;
use crate::notify::notice::{Notice, Severity};
use crate::notify::words::{count, shown};
use crate::record::status::Status;

/// Days that one summary tells of at most, where those before it could not.
const MOST_DAYS: u32 = 31;

/// A summary that is due: the UTC days that have ended since the last one, whose book it tells.
#[derive(Debug, Clone, Copy)]
pub(in crate::notify) struct Due {
    round: u64,
    /// The first day.
    pub(in crate::notify) from: Day,
    /// The last day.
    pub(in crate::notify) to: Day,
}

impl Watch {
    /// The summary whose minute of the day has come. The first one is due a day after the notifier began at most.
    pub(in crate::notify) fn summary_due(&mut self, clock: Clock, minute: u64, now_ms: u64) -> Option<Due> {
        let to = day_of(now_ms).preceding();
        // What was told of a day before it had ended, by a clock that stood ahead, was not the whole of it.
        for told in [&mut self.summary_day, &mut self.summary_to].into_iter().flatten() {
            *told = to.number().min(*told);
        }
        let round = clock.rounds(now_ms, minute);
        let last = self.summary_round.get_or_insert(round);
        // A clock that was set back says the same minute twice: then the last day that ended was told already.
        *last = round.min(*last);
        if round == *last {
            return None;
        }
        if self.summary_to == Some(to.number()) {
            return None;
        }
        let oldest = to.number().saturating_sub(MOST_DAYS - 1);
        let next = self.summary_day.map_or(to.number(), |told| told.saturating_add(1));
        let from = Day::from_number(next.clamp(oldest, to.number())).unwrap_or(to);
        Some(Due { round, from, to })
    }

    /// Tells the summary that is due, with what the guard reports of its days; or why it reports nothing in time: then the next
    /// summary tells of these days too.
    pub(in crate::notify) fn summarise(
        &mut self,
        status: Option<&Status>,
        due: Due,
        book: Result<&Report, &str>,
        now_ms: u64,
    ) {
        let Due { round, from, to } = due;
        (self.summary_round, self.summary_to) = (Some(round), Some(to.number()));
        let counts = std::mem::take(&mut self.counts);
        let account = status.map_or_else(|| "The guard does not answer.".to_owned(), account);
        let (told, book) = match book {
            Ok(report) => (to, report.words(from, to)),
            Err(why) => (from.preceding(), self.without_book(from, to, why)),
        };
        self.summary_day = Some(told.number());
        let lasting: Vec<&str> = self.open.values().map(|notice| notice.title.as_str()).collect();
        let lasting = if lasting.is_empty() {
            "Nothing needs a look.".to_owned()
        } else {
            format!("Still so: {}.", shown(&lasting.join("; ")))
        };
        let notice = Notice::once("summary", "summary", Severity::Info, "Daily summary");
        self.tell(notice.words(format!("{account} {book}"), counts.words(), lasting).at(now_ms));
    }

    fn without_book(&self, from: Day, to: Day, why: &str) -> String {
        let mode = &self.guard.mode;
        let now = if mode.is_empty() {
            String::new()
        } else {
            self.guard.typed(&format!("; `svc-guard report --mode {mode} --from {from} --to {to}` tells it now"))
        };
        format!(
            "{}: what the bot did with the money is not told, because {}. The next summary tells it{now}.",
            named(from, to),
            shown(why)
        )
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
