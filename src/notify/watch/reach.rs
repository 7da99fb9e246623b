//! Whether the guard answers and is well. Half a minute of silence is a message of its own.

use super::Watch;
use super::since::Seen;
use crate::notify::notice::{Notice, Severity};
use crate::notify::words::shown;

/// How long the guard may be silent, unreachable or unwell before it is told.
const PATIENCE_MS: u64 = 30_000;

const AWAY: &str = "unreachable";
const UNWELL: &str = "unwell";
const STATE: &str = "state_not_kept";

impl Watch {
    /// Takes in how the guard answered, between when it was asked and when that was known: a question that nobody answers takes
    /// a while, which counts. Both by the clock that never steps; `now_ms` is the time that people know.
    pub(in crate::notify) fn seen(&mut self, seen: &Seen, (asked_ms, known_ms): (u64, u64), now_ms: u64) {
        let is_away = seen.is_away();
        let since = |before: Option<u64>, holds: bool| holds.then(|| before.unwrap_or(asked_ms));
        self.reach.away_ms = since(self.reach.away_ms, is_away);
        // A guard that is away is not known to be well again.
        self.reach.unwell_ms = since(self.reach.unwell_ms, !matches!(seen, Seen::Well));
        let is_due = |since: Option<u64>| since.is_some_and(|since| known_ms.saturating_sub(since) >= PATIENCE_MS);
        let (away_due, unwell_due) = (is_due(self.reach.away_ms), is_due(self.reach.unwell_ms));
        if !is_away {
            self.end(AWAY, now_ms);
        }
        match seen {
            Seen::Well => self.end(UNWELL, now_ms),
            Seen::Away(why) if away_due => self.begin(self.away(why).at(now_ms)),
            Seen::Taken { who, url } if away_due => self.begin_taken(self.taken(who, url), now_ms),
            Seen::Unwell(problems) if unwell_due => self.begin(self.unwell(problems).at(now_ms)),
            _ => {}
        }
    }

    /// Tells that another guard has the address, also where silence was told before: since then it lasts.
    fn begin_taken(&mut self, taken: Notice, now_ms: u64) {
        let since_ms = match self.open.get(AWAY) {
            Some(told) if told.happened == taken.happened => return,
            Some(told) => told.at_ms,
            None => now_ms,
        };
        self.begin_again(taken.at(since_ms));
    }

    /// Whether the notifier's own state can be written; why not.
    pub(in crate::notify) fn state_kept(&mut self, why: Option<&str>, now_ms: u64) {
        let Some(why) = why else { return self.end(STATE, now_ms) };
        let notice = Notice::once("notifier", STATE, Severity::Warning, "The notifier cannot keep its place");
        let todo = "Look at the disk that the notifier's state is on.";
        let did = "It goes on from memory. After a restart of the notifier you may hear again what you heard already.";
        self.begin(notice.words(shown(why), did, todo).at(now_ms));
    }

    /// What was told and how far the guard's events were read is not known any more.
    pub(in crate::notify) fn state_unread(&mut self, why: &str, now_ms: u64) {
        let notice = Notice::once("notifier", "state_unread", Severity::Warning, "The notifier lost its place");
        let happened = format!("{}.", shown(why));
        let did = "It goes on with what comes from now on, and tells what stands. What happened while it was away may not have been told.";
        let todo = "Look at the guard's page or its journal for what happened since you last heard of it.";
        self.tell(notice.words(happened, did, todo).at(now_ms));
    }

    fn away(&self, why: &str) -> Notice {
        let todo = format!(
            "See whether it runs ({}), and start it: {}",
            self.guard.command("health"),
            self.guard.service("start")
        );
        self.silent(why, todo)
    }

    /// Another home's guard answers where this one's should: a start at the same address would be refused.
    fn taken(&self, who: &str, url: &str) -> Notice {
        let todo = format!(
            "See whether it runs ({}). Where it does not, give it an address of its own (`{}`) and start it: {}. Where the one that \
             answers is meant, name its URL in notify.toml: guard = \"{url}\"",
            self.guard.command("health"),
            self.guard.command("config set listen 127.0.0.1:PORT"),
            self.guard.service("start")
        );
        self.silent(&format!("what answers at {url} is {who}"), todo)
    }

    fn silent(&self, why: &str, todo: String) -> Notice {
        let happened = format!("The guard has not answered for half a minute: {}.", shown(why));
        let did = match self.guard.sends() {
            true => "Whether it still guards is not known. Stops that rest at the venue stay there.",
            false => "Paper mode: nothing of this guard's is at the venue.",
        };
        Notice::once("health", AWAY, Severity::Critical, "Guard does not answer").words(happened, did, todo)
    }

    fn unwell(&self, problems: &[String]) -> Notice {
        let happened = format!("The guard has not been well for half a minute: {}.", shown(&problems.join("; ")));
        let todo = format!(
            "Look at its page or its log ({}); {} says whether it lasts.",
            self.guard.log(),
            self.guard.command("health")
        );
        let did = "It goes on as far as it can: exits and stops go out, entries are refused where it is not sure.";
        Notice::once("health", UNWELL, Severity::Critical, "Guard is not well").words(happened, did, todo)
    }
}
