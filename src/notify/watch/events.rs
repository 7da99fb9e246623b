//! Events, each taken in once and in order.

use super::Watch;
use super::since::Flattening;
use crate::notify::notice::{Notice, Severity};
use crate::notify::words::{count, shown};
use crate::record::event::{Event, Kind};
use crate::record::events::{Decision, Problem, Protect, Sent, Started};

/// What a person has to do about a position that the guard does not cover.
const BARE: &str = "Place a stop at the venue's own page, or close the position.";

impl Watch {
    /// Takes one event in. One that was taken in before changes nothing; where some are missing, that is told.
    pub(in crate::notify) fn event(&mut self, event: &Event<'_>) {
        let cursor = self.cursor.unwrap_or_else(|| event.seq.saturating_sub(1));
        if event.seq <= cursor {
            return;
        }
        let missing = event.seq.saturating_sub(cursor).saturating_sub(1);
        if missing > 0 {
            self.missed(missing, cursor, event.at_ms);
        }
        self.cursor = Some(event.seq);
        let at_ms = event.at_ms;
        if at_ms < self.news_ms && event.seq <= self.news_seq {
            return;
        }
        self.mark = Some((event.seq, at_ms));
        if matches!(event.kind, Kind::Kill(_) | Kind::Risk(_) | Kind::Flatten(_) | Kind::Flat(_)) {
            self.ruled = self.mark;
        }
        let was_stopped = std::mem::take(&mut self.stopped);
        match &event.kind {
            Kind::Started(started) => self.started(started, was_stopped, at_ms),
            Kind::Stopped(stopped) => self.service_stopped(&stopped.reason, at_ms),
            Kind::Decision(decision) => self.decided(decision, at_ms),
            Kind::Kill(kill) => self.kill(kill, at_ms),
            Kind::Risk(risk) => self.risk(&risk.state, risk.details.as_ref(), at_ms),
            Kind::Flatten(flatten) => self.flatten(event.seq, flatten, at_ms),
            Kind::Flat(flat) => self.flat(flat, at_ms),
            Kind::Protect(protect) => self.protect(event.seq, protect, at_ms),
            Kind::Sent(sent) => self.sent(sent, at_ms),
            Kind::Error(trouble) => self.trouble(&trouble.text, at_ms),
            Kind::Recovered(found) if found.outcome == "happened" => self.stop_taken(found.intent, found.index, at_ms),
            Kind::Intent(intent) => self.intent(event.seq, intent, at_ms),
            Kind::Done(_) | Kind::Recovered(_) | Kind::Other(_) => {}
            // The book is told of by the daily word, not fill by fill.
            Kind::Fill(_) | Kind::Funding(_) | Kind::Transfer(_) | Kind::Balance(_) => {}
        }
    }

    /// No event up to this one can be had any more.
    pub(in crate::notify) fn gone_up_to(&mut self, seq: u64, now_ms: u64) {
        let cursor = self.cursor.unwrap_or(seq);
        if cursor < seq {
            self.missed(seq.saturating_sub(cursor), cursor, now_ms);
            self.cursor = Some(seq);
        }
    }

    /// The guard's events do not go on where they ended: it is another journal. What stands in it from before the last event
    /// that was heard of is no news.
    pub(in crate::notify) fn begin_anew(&mut self, (oldest, newest): (u64, u64), now_ms: u64) {
        let before = self.cursor.replace(oldest.saturating_sub(1)).unwrap_or(0);
        self.news_seq = newest;
        self.news_ms = self.mark.take().map_or(0, |(_, at_ms)| at_ms.min(now_ms));
        self.ruled = None;
        self.own.clear();
        self.flattening.iter_mut().for_each(Flattening::begin_anew);
        let happened = format!(
            "The last event heard of was {before}, and the guard's events do not go on from it: its journal is another one."
        );
        let notice =
            Notice::once("notifier", "journal_changed", Severity::Warning, "The guard's journal is another one");
        let todo = "Nothing, if you set the guard up anew. Otherwise look at who changed it.";
        self.tell(notice.words(happened, "The notifier goes on with the new one.", todo).at(now_ms));
    }

    fn missed(&mut self, missing: u64, after: u64, at_ms: u64) {
        let events = if missing == 1 { "1 event".to_owned() } else { format!("{missing} events") };
        let was = if missing == 1 { "was" } else { "were" };
        let why = match self.not_in_journal.as_str() {
            "" => "the journal could not be read".to_owned(),
            why => shown(why),
        };
        let happened =
            format!("{events} after event {after} {was} gone from the guard's memory before being read, and {why}.");
        let notice = Notice::once("notifier", "missed", Severity::Warning, "Events were missed");
        let todo = "Look at the guard's page or its journal for what happened then. The notifier reads the journal where it may: give it the folder with --journal.";
        self.tell(notice.words(happened, "What lasts is told all the same.", todo).at(at_ms));
    }

    fn started(&mut self, started: &Started, was_stopped: bool, at_ms: u64) {
        self.counts.restarts = self.counts.restarts.saturating_add(1);
        self.started_ms = Some(at_ms);
        let is_first = self.cursor == Some(1);
        let happened = format!(
            "Version {} guards {} in {} mode.",
            shown(&started.version),
            shown(&started.account),
            shown(&started.mode)
        );
        let notice = match was_stopped || is_first {
            true => Notice::once("started", "started", Severity::Info, "Guard started").words(
                happened,
                if started.mode == "paper" {
                    "It judges requests from now on. Paper mode: nothing is sent."
                } else {
                    "It judges requests and covers what is held from now on."
                },
                "Nothing.",
            ),
            false => Notice::once("started", "restarted", Severity::Warning, "Guard restarted after it broke off").words(
                format!("The life before ended without a word: a crash, a kill of the process or of the machine. {happened}"),
                "What was on its way was looked up at the venue before anything new was taken.",
                format!("Look at the log for why it broke off: {}", self.guard.log()),
            ),
        };
        self.tell(notice.at(at_ms));
    }

    fn service_stopped(&mut self, reason: &str, at_ms: u64) {
        self.stopped = true;
        let did = if self.guard.sends() {
            "Stops that rest at the venue stay there. Nobody halts, covers or closes until it runs again."
        } else {
            "Paper mode: nothing was at the venue by this guard."
        };
        let todo = format!("Start it if you did not stop it: {}", self.guard.service("start"));
        let notice = Notice::once("stopped", "service_stopped", Severity::Warning, "Guard stopped");
        let unfinished = self.unfinished().map_or_else(String::new, |text| format!(". {text}"));
        self.tell(notice.words(format!("Reason: {}{unfinished}", shown(reason)), did, todo).at(at_ms));
    }

    fn decided(&mut self, decision: &Decision<'_>, at_ms: u64) {
        self.counts.decided(&decision.verdict, decision.count.unwrap_or(1));
        if decision.verdict != "veto" {
            return;
        }
        let happened = format!("{}: {}", decision.code, shown(&decision.text));
        let notice = Notice::once("decision", &shown(&decision.code), Severity::Info, "Request refused");
        let todo = "Nothing, if the bot goes on as it should. svc-guard-codes(7) says what this code means.";
        self.tell(notice.words(happened, "Nothing was sent.", todo).at(at_ms));
    }

    fn protect(&mut self, seq: u64, protect: &Protect<'_>, at_ms: u64) {
        self.remember_own(seq, false);
        let coins = shown(&protect.coins.join(", "));
        let happened = format!("{coins}: the position had no stop that covers it in full.");
        let notice = match (protect.problems.is_empty(), protect.sent) {
            // It is told when the venue took it.
            (true, true) => return self.placing.begin(seq, &coins, protect.actions.len()),
            (true, false) => Notice::once("protect", "stop_placed", Severity::Info, "Guard would place its own stop")
                .words(happened, "Paper mode: nothing is sent.", BARE),
            (false, sent) => {
                let did = match sent {
                    true => format!("The guard sends what it can ({}).", count(protect.actions.len(), "action")),
                    false => "Paper mode: nothing is sent.".to_owned(),
                };
                Notice::once("protect", "stop_not_possible", Severity::Warning, "A stop could not be placed").words(
                    format!("{happened} {}", problems(&protect.problems)),
                    did,
                    BARE,
                )
            }
        };
        self.tell(notice.about(coins).at(at_ms));
    }

    /// The venue took one of the guard's own stops, as its answer says or as it was found out without one.
    fn stop_taken(&mut self, seq: u64, index: usize, at_ms: u64) {
        let Some(coins) = self.placing.taken(seq, index) else { return };
        self.counts.stops = self.counts.stops.saturating_add(1);
        let happened = format!("{coins}: the position had no stop that covers it in full.");
        let notice = Notice::once("protect", "stop_placed", Severity::Info, "Guard's own stop placed");
        let did = "The guard placed its own, and the venue took it.";
        let todo = "Nothing. Where the bot was to place a stop itself, look at why it did not.";
        self.tell(notice.words(happened, did, todo).about(coins).at(at_ms));
    }

    /// The venue's answer to the guard's own stop or close; what it refuses a bot is the bot's affair.
    fn sent(&mut self, sent: &Sent<'_>, at_ms: u64) {
        if sent.ok {
            return self.stop_taken(sent.decision, sent.index, at_ms);
        }
        let Some(closes) = self.own_of(sent.decision) else { return };
        let reply = shown(&sent.reply.to_string());
        if closes && !self.is_news(sent.decision, &reply) {
            return;
        }
        let (happened, which) = match sent.is_answered() {
            true => (format!("The venue's answer: {reply}"), "was not taken"),
            // It may have been taken all the same, which is found out.
            false => (format!("No answer came: {reply}"), "may not have been taken"),
        };
        if sent.is_answered() {
            self.placing.refused(sent.decision);
        }
        let (code, what, todo) = match closes {
            true => ("close_refused", "A close", "Close it at the venue's own page if you hear that it is not flat."),
            false => (
                "stop_refused",
                "A stop",
                "Place a stop at the venue's own page if you hear that the position has none.",
            ),
        };
        let notice = Notice::once("sent", code, Severity::Warning, format!("{what} {which}"));
        self.tell(notice.words(happened, "The guard tries again, and says if it lasts.", todo).at(at_ms));
    }

    fn trouble(&mut self, text: &str, at_ms: u64) {
        let text = self.guard.typed(&shown(text));
        // Numbers change from one time to the next of the same trouble.
        let about: String = text.chars().filter(|letter| !letter.is_numeric()).take(60).collect();
        let notice = Notice::once("error", "error", Severity::Warning, "Something went wrong");
        let did = "The guard goes on, and tries again where it can.";
        self.tell(notice.words(text, did, "Look at it if it comes again.").about(about).at(at_ms));
    }
}

fn problems(problems: &[Problem]) -> String {
    let each = problems.iter().take(8).map(|problem| format!("{}: {}", problem.coin, problem.text));
    shown(&each.collect::<Vec<_>>().join("; "))
}
