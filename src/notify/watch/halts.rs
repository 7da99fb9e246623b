//! Kill, halts, and that the account is flat.

use super::Watch;
use super::since::Flattening;
use crate::notify::notice::{Notice, Severity};
use crate::notify::words::{count, shown, time};
use crate::record::events::Flatten;
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
        self.flattening.get_or_insert_with(|| Flattening { at_ms, why: shown(why), told: false });
    }

    /// Everything is closed, once more where it was not flat yet.
    pub(super) fn flatten(&mut self, seq: u64, flatten: &Flatten<'_>, at_ms: u64) {
        self.counts.closes = self.counts.closes.saturating_add(1);
        self.remember_own(seq, true);
        let is_again = self.flattening.as_ref().is_some_and(|before| before.told);
        self.flattening = Some(Flattening { at_ms, why: shown(&flatten.reason), told: true });
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

    /// Says that the account is flat, once the guard says so by reads since the close.
    pub(super) fn confirm_flat(&mut self, status: &Status) {
        let Some(flattening) = self.flattening.clone() else { return };
        let is_over = status.killed.is_none() && status.risk.state == "active";
        if is_over {
            self.flattening = None;
            return;
        }
        let checked_ms = status.closing.filter(|closing| closing.flat).and_then(|closing| closing.checked_ms);
        let Some(read_ms) = checked_ms.filter(|read_ms| *read_ms >= flattening.at_ms) else { return };
        self.flattening = None;
        let equity = status.equity.map_or_else(String::new, |equity| format!(" Equity: {equity} USDC."));
        let happened = format!("0 positions, 0 orders, checked at {}.{equity}", time(read_ms));
        let did = format!("Closed because of: {}", flattening.why);
        let notice = Notice::once("status", "flat", Severity::Critical, "Flat");
        self.tell(
            notice
                .words(happened, did, "Nothing is open. Nothing new is opened while the halt lasts.")
                .at(status.at_ms),
        );
    }
}
