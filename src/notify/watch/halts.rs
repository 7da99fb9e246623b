//! Kill, halts, and that the account is flat.

use rust_decimal::Decimal;

use super::Watch;
use super::since::Flattening;
use crate::notify::notice::{Notice, Severity};
use crate::notify::words::{count, shown, time};
use crate::record::events::{Flat, Flatten};
use crate::record::risk_record::HaltDetails;
use crate::record::status::Status;

/// The topics of the two halts.
const DAY: &str = "halted_for_day";
const DRAWDOWN: &str = "stopped";

impl Watch {
    /// The kill switch is pulled; `kind` is the event, or the status that shows it first.
    pub(super) fn killed(&mut self, reason: &str, at_ms: u64) {
        let did = if self.guard.sends() {
            "The guard opens nothing any more, cancels every order and closes every position. You are told when the account is flat."
        } else {
            "Paper mode: the guard allows nothing any more. Nothing is sent, so the account's positions stay as they are."
        };
        let todo = format!("Find out why. To trade again: {}", self.guard.release());
        self.closes(reason, at_ms);
        let notice = Notice::once("kill", "kill", Severity::Critical, "Kill switch pulled");
        self.begin_again(notice.words(format!("Reason: {}", shown(reason)), did, todo).at(at_ms));
    }

    /// The risk state is another one.
    pub(super) fn risk_state(&mut self, state: &str, details: Option<&HaltDetails>, at_ms: u64) {
        if self.risk_state == state {
            return;
        }
        self.risk_state = state.to_owned();
        for topic in [DAY, DRAWDOWN].into_iter().filter(|topic| *topic != state) {
            self.end(topic, at_ms);
        }
        let figures = details.cloned().unwrap_or_default();
        let amount = |text: &Option<String>| text.as_deref().map_or_else(|| "not known".to_owned(), shown);
        let closes = if self.guard.sends() {
            "Every order is cancelled and every position closed. "
        } else {
            "Paper mode: nothing is sent. "
        };
        let notice = Notice::once("risk", state, Severity::Critical, "");
        if [DAY, DRAWDOWN].contains(&state) {
            self.closes(state, at_ms);
        }
        if state == DAY {
            let happened = format!(
                "{} USDC of the day's start of {} are lost; the limit is {} ({}%). Equity: {}.",
                amount(&figures.loss),
                amount(&figures.day_start_equity),
                amount(&figures.limit),
                amount(&figures.limit_pct),
                amount(&figures.equity)
            );
            let did = format!("{closes}Entries are refused until the UTC day ends.");
            let notice = notice.words(happened, did, "Nothing: it ends at 00:00 UTC. Look at what the bot did.");
            self.begin_again(Notice { title: "Daily loss stop".to_owned(), ..notice }.at(at_ms));
        } else if state == DRAWDOWN {
            let happened = format!(
                "{} USDC are lost since the peak of {}; the limit is {} ({}%). Equity: {}.",
                amount(&figures.drawdown),
                amount(&figures.peak_equity),
                amount(&figures.limit),
                amount(&figures.limit_pct),
                amount(&figures.equity)
            );
            let did = format!("{closes}Entries are refused until a person resumes.");
            let notice = notice.words(happened, did, format!("Find out why. Then: {}", self.guard.resume()));
            self.begin_again(Notice { title: "Drawdown halt".to_owned(), ..notice }.at(at_ms));
        }
    }

    /// Something fired that closes everything, also where the event of the close itself is missed.
    fn closes(&mut self, why: &str, at_ms: u64) {
        self.flattening.get_or_insert_with(|| Flattening { at_ms, why: shown(why), ..Flattening::default() });
    }

    /// Everything is closed, once more where it was not flat yet.
    pub(super) fn flatten(&mut self, seq: u64, flatten: &Flatten<'_>, at_ms: u64) {
        self.counts.closes = self.counts.closes.saturating_add(1);
        self.remember_own(seq, true);
        let is_again = self.flattening.as_ref().is_some_and(|before| before.told);
        self.flattening = Some(Flattening { at_ms, why: shown(&flatten.reason), told: true, over: None });
        let (code, severity, title) = match is_again {
            false => ("flatten", Severity::Critical, "Closing everything"),
            true => ("flatten_again", Severity::Warning, "Closing what is left"),
        };
        let mut did = match flatten.sent {
            true => format!(
                "{} {} to the venue. You are told when the account is flat.",
                count(flatten.actions.len(), "action"),
                if flatten.actions.len() == 1 { "goes" } else { "go" }
            ),
            false => "Paper mode: nothing is sent.".to_owned(),
        };
        let mut todo = String::new();
        if !flatten.problems.is_empty() {
            let problems = flatten.problems.iter().take(8).map(|problem| format!("{}: {}", problem.coin, problem.text));
            did = format!("{did} Not closed: {}.", shown(&problems.collect::<Vec<_>>().join("; ")));
            "Close at the venue's own page what the guard cannot.".clone_into(&mut todo);
        }
        let happened = format!("Because of: {}", shown(&flatten.reason));
        self.tell(Notice::once("flatten", code, severity, title).words(happened, did, todo).at(at_ms));
    }

    /// The guard put on record that the account is flat; what the status told first is told no second time.
    pub(super) fn flat(&mut self, flat: &Flat, at_ms: u64) {
        let Some(flattening) = self.flattening.take() else { return };
        self.told_flat(&flattening.why, flat.checked_ms, flat.equity, at_ms);
    }

    /// Says that the account is flat where the status says so, by reads since the close; and where it is over without that word,
    /// that nobody knows.
    pub(super) fn confirm_flat(&mut self, status: &Status) {
        let Some(flattening) = &mut self.flattening else { return };
        if status.killed.is_none() && status.risk.state == "active" {
            // The events up to here may hold the word of it.
            let last = status.last_event.as_ref().and_then(|event| event.get("seq")?.as_u64());
            let over = *flattening.over.get_or_insert(last.unwrap_or(0));
            if self.cursor.unwrap_or(0) >= over {
                self.never_flat(status.at_ms);
            }
            return;
        }
        let since_ms = flattening.at_ms;
        let checked_ms = status.closing.filter(|closing| closing.flat).and_then(|closing| closing.checked_ms);
        let Some(read_ms) = checked_ms.filter(|read_ms| *read_ms >= since_ms) else { return };
        let Some(flattening) = self.flattening.take() else { return };
        self.told_flat(&flattening.why, read_ms, status.equity, status.at_ms);
    }

    fn told_flat(&mut self, why: &str, read_ms: u64, equity: Option<Decimal>, at_ms: u64) {
        let equity = equity.map_or_else(String::new, |equity| format!(" Equity: {equity} USDC."));
        let happened = format!("0 positions, 0 orders, checked at {}.{equity}", time(read_ms));
        let did = format!("Closed because of: {why}");
        let notice = Notice::once("status", "flat", Severity::Critical, "Flat");
        let todo = "Nothing is open. Nothing new is opened while the halt lasts.";
        self.tell(notice.words(happened, did, todo).at(at_ms));
    }

    /// The kill switch or halt is over, and the guard never said that the account was flat.
    fn never_flat(&mut self, now_ms: u64) {
        let Some(flattening) = self.flattening.take().filter(|_| self.guard.sends()) else { return };
        let happened = format!(
            "Closing everything began at {} because of: {}. That is over, and no word came that 0 positions and 0 orders are left: the guard ended before that, or the halt did.",
            time(flattening.at_ms),
            flattening.why
        );
        let notice = Notice::once("status", "flat_unconfirmed", Severity::Critical, "Flat was never confirmed");
        let did = "It closes nothing more on that account. What is held it covers with stops, and the bot may trade.";
        let todo = "Look at what is held, on the guard's page or at the venue's own, and close what should not be.";
        self.tell(notice.words(happened, did, todo).at(now_ms));
    }
}
