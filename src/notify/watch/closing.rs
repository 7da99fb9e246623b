//! Closing everything after a kill or halt: whether the account is flat, by the guard's word alone, and that it no longer is.

use rust_decimal::Decimal;
use serde_json::Value;

use super::Watch;
use super::since::Flattening;
use crate::base::moment::utc;
use crate::notify::notice::{Notice, Severity};
use crate::notify::words::{count, shown};
use crate::record::events::{Flat, Flatten, Intent};
use crate::record::status::Status;

/// The alert of a position in a market that the guard does not know: its status lists no such position.
const UNKNOWN_POSITION: &str = "position_unknown";

impl Watch {
    /// What is unfinished, in words: everything has to be closed, and the account was not seen flat, or no longer is.
    pub(super) fn unfinished(&self) -> Option<&'static str> {
        let flattening = self.flattening.as_ref().filter(|flattening| self.guard.sends() && !flattening.is_flat())?;
        Some(match flattening.flat_ms {
            None => "It was closing everything, and the account was not seen flat yet.",
            Some(_) => "It was closing everything once more, and the account was not seen flat again.",
        })
    }

    /// Something fired that closes everything, also where the event of the close itself is missed.
    pub(super) fn closes(&mut self, why: &str, at_ms: u64) {
        if self.flattening.as_ref().is_none_or(Flattening::is_flat) {
            self.flattening = Some(Flattening { at_ms, why: shown(why), ..Flattening::default() });
        }
    }

    /// Everything is closed, once more where it was not flat yet.
    pub(super) fn flatten(&mut self, seq: u64, flatten: &Flatten<'_>, at_ms: u64) {
        self.counts.closes = self.counts.closes.saturating_add(1);
        self.remember_own(seq, true);
        let is_again = self.flattening.as_ref().is_some_and(|before| before.told && !before.is_flat());
        let why = shown(&flatten.reason);
        self.flattening = Some(Flattening { at_ms, why, told: true, of: Some(seq), ..Flattening::default() });
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
        let mut todo = match flatten.sent {
            true => {
                "Nothing yet. What is left after ten seconds is told: close that at the venue's own page if it lasts."
            }
            false => "Close at the venue's own page what you want closed.",
        }
        .to_owned();
        if !flatten.problems.is_empty() {
            let problems = flatten.problems.iter().take(8).map(|problem| format!("{}: {}", problem.coin, problem.text));
            did = format!("{did} Not closed: {}.", shown(&problems.collect::<Vec<_>>().join("; ")));
            "Close at the venue's own page what the guard cannot.".clone_into(&mut todo);
        }
        let happened = format!("Because of: {}", shown(&flatten.reason));
        self.tell(Notice::once("flatten", code, severity, title).words(happened, did, todo).at(at_ms));
    }

    /// One more action for the sake of an earlier event. A later round of a close is one, so where the account was flat it no
    /// longer is.
    pub(super) fn intent(&mut self, seq: u64, intent: &Intent<'_>, at_ms: u64) {
        let is_of_this = self.flattening.as_ref().is_some_and(|flattening| flattening.of == Some(intent.of));
        if !is_of_this && self.own_of(intent.of) != Some(true) {
            return;
        }
        // An order that is gone before its cancel comes is none that was not closed.
        let is_cancel =
            intent.action.get("type").and_then(Value::as_str).is_some_and(|name| name.starts_with("cancel"));
        if !is_cancel {
            self.remember_own(seq, true);
        }
        self.ruled = self.mark;
        self.opened_again(at_ms);
    }

    /// Whether the answer to a close is news: any to the first one, and to a later round one that the round before had not.
    pub(super) fn is_news(&mut self, closed_by: u64, reply: &str) -> bool {
        let Some(flattening) = &mut self.flattening else { return true };
        let reply: String = reply.chars().filter(|letter| !letter.is_numeric()).collect();
        let is_news = flattening.of == Some(closed_by) || flattening.refused != reply;
        flattening.refused = reply;
        is_news
    }

    /// The guard put on record that the account is flat; what was told of it already is told no second time.
    pub(super) fn flat(&mut self, flat: &Flat, at_ms: u64) {
        if let Some(flattening) = &mut self.flattening {
            flattening.of = Some(flat.flatten);
        }
        self.flat_again(flat.checked_ms, flat.equity, at_ms);
    }

    /// Takes in what the status says of it: that the account is flat, or no longer is; and where what asked for it is over without
    /// that word, that nobody knows. The status is of the time after every event that was taken in of it.
    pub(super) fn closing(&mut self, status: &Status) {
        let Some(flattening) = &mut self.flattening else { return };
        if status.killed.is_none() && status.risk.state == "active" {
            // The events up to here may hold the word of it.
            let last = status.last_event.as_ref().and_then(|event| event.get("seq")?.as_u64());
            let over = *flattening.over.get_or_insert(last.unwrap_or(0));
            if self.cursor.unwrap_or(0) >= over {
                self.closing_is_over(status.at_ms);
            }
            return;
        }
        match &status.closing {
            Some(closing) if closing.flat => {
                self.flat_again(closing.checked_ms.unwrap_or(status.at_ms), status.equity, status.at_ms);
            }
            // Reads that are too old leave it open whether the account is flat, and show nothing.
            Some(_) if is_any_left(status) => self.opened_again(status.at_ms),
            _ => {}
        }
    }

    fn flat_again(&mut self, read_ms: u64, equity: Option<Decimal>, at_ms: u64) {
        let Some(flattening) = self.flattening.as_mut().filter(|flattening| !flattening.is_flat()) else { return };
        (flattening.flat_ms, flattening.is_open_again) = (Some(read_ms), false);
        let equity = equity.map_or_else(String::new, |equity| format!(" Equity: {equity} USDC."));
        let happened = format!("0 positions, 0 orders, checked at {}.{equity}", utc(read_ms));
        let did = format!("Closed because of: {}", flattening.why);
        let notice = Notice::once("status", "flat", Severity::Critical, "Flat");
        let todo = "Nothing is open. Nothing new is opened while the kill switch or halt lasts.";
        self.tell(notice.words(happened, did, todo).at(at_ms));
    }

    /// Something is held or rests where the account was told to be flat: what was told no longer holds.
    fn opened_again(&mut self, at_ms: u64) {
        let Some(flattening) = self.flattening.as_mut().filter(|flattening| flattening.is_flat()) else { return };
        flattening.is_open_again = true;
        let happened = format!(
            "At {} the account was flat. Something is held or rests there again: opened elsewhere, or by an order that was on its way before.",
            utc(flattening.flat_ms.unwrap_or(0))
        );
        let notice = Notice::once("status", "flat_ended", Severity::Critical, "Not flat any more");
        let did = "The guard closes it. You are told when the account is flat again.";
        let todo = "Find out who trades there: another bot or wallet, or somebody at the venue's own page. Close it there if you do not hear that it is flat.";
        self.tell(notice.words(happened, did, todo).at(at_ms));
    }

    /// The kill switch or halt is over; where the last word is not that the account is flat, that is told.
    pub(super) fn closing_is_over(&mut self, now_ms: u64) {
        let is_told = self.unfinished().is_some();
        let Some(flattening) = self.flattening.take().filter(|_| is_told) else { return };
        let was_flat = flattening.flat_ms.map_or_else(String::new, |flat_ms| {
            format!(" At {} the account was flat, and something was opened after that.", utc(flat_ms))
        });
        let happened = format!(
            "Closing everything began at {} because of: {}.{was_flat} That is over, and no word came that 0 positions and 0 orders are left: the guard ended before that, or the halt did.",
            utc(flattening.at_ms),
            flattening.why
        );
        let notice = Notice::once("status", "flat_unconfirmed", Severity::Critical, "Flat was never confirmed");
        let did = "It closes nothing more on that account. What is held it covers with stops, and the bot may trade.";
        let todo = "Look at what is held, on the guard's page or at the venue's own, and close what should not be.";
        self.tell(notice.words(happened, did, todo).at(now_ms));
    }
}

fn is_any_left(status: &Status) -> bool {
    let twaps = status.closing.as_ref().and_then(|closing| closing.twaps);
    let is_unknown = status.alerts.iter().any(|alert| alert.code == UNKNOWN_POSITION);
    !status.positions.is_empty() || !status.open_orders.is_empty() || twaps.is_some_and(|count| count > 0) || is_unknown
}
