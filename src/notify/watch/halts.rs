//! Kill and halts: that they begin, and that they are over.

use super::Watch;
use crate::notify::notice::{Notice, Severity};
use crate::notify::words::shown;
use crate::record::events::Kill;
use crate::record::risk_record::HaltDetails;

/// The topics of the kill switch and of the two halts.
const KILL: &str = "kill";
const DAY: &str = "halted_for_day";
const DRAWDOWN: &str = "stopped";

impl Watch {
    /// The event of a kill. The switch is pulled once in a life of the guard: one that was not there at the start is another
    /// than the one of before, which ended with the life before.
    pub(super) fn kill(&mut self, kill: &Kill<'_>, at_ms: u64) {
        if kill.at_start == Some(false) && self.lasts(KILL) {
            let ended_ms = self.started_ms.unwrap_or(at_ms);
            self.end(KILL, ended_ms);
            if !self.is_halted() {
                self.closing_is_over(ended_ms);
            }
        }
        self.killed(&kill.reason, at_ms);
    }

    /// The event of the risk state.
    pub(super) fn risk(&mut self, state: &str, details: Option<&HaltDetails>, at_ms: u64) {
        let was_halted = self.is_halted();
        self.risk_state(state, details, at_ms);
        if was_halted && !self.is_halted() && !self.lasts(KILL) {
            self.closing_is_over(at_ms);
        }
    }

    /// The kill switch is pulled, as its event says, or the status that shows it first.
    pub(super) fn killed(&mut self, reason: &str, at_ms: u64) {
        let did = if self.guard.sends() {
            "The guard opens nothing any more, cancels every order and closes every position. You are told when the account is flat."
        } else {
            "Paper mode: the guard allows nothing any more. Nothing is sent, so the account's positions stay as they are."
        };
        let todo = format!("Find out why. To trade again: {}", self.guard.release());
        self.closes(reason, at_ms);
        let notice = Notice::once(KILL, KILL, Severity::Critical, "Kill switch pulled");
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
            "The guard cancels every order and closes every position; you are told when the account is flat. "
        } else {
            "Paper mode: nothing is sent. "
        };
        let notice = Notice::once("risk", state, Severity::Critical, "");
        if self.is_halted() {
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

    /// Whether a halt lasts, as far as was told.
    pub(super) fn is_halted(&self) -> bool {
        [DAY, DRAWDOWN].contains(&self.risk_state.as_str())
    }
}
