//! The next message of one target: pure. It sees the notices in their order, its own place among them and the time.
//!
//! Its place moves only when the target said yes. What is critical goes by a place of its own, so that quiet hours hold
//! back everything else and nothing more; out of them both go in one order.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::config::Target;
use super::hours::{Clock, Hours, span_ms};
use super::notice::{Notice, Severity, Turn};
use super::words::{count, time};

/// Topics whose last message is remembered.
const MAX_TOLD: usize = 256;
/// How long what is not critical is not told again, where the target does not say.
const COOLDOWN_MS: u64 = 300_000;
/// How often what lasts is told again, where the target does not say.
const REPEAT_MS: [(&str, u64); 7] = [
    ("kill", 3_600_000),
    ("halted_for_day", 3_600_000),
    ("stopped", 3_600_000),
    ("uncovered", 300_000),
    ("not_flat", 300_000),
    ("unreachable", 600_000),
    ("unwell", 1_800_000),
];

/// A target's wishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wishes {
    least: Severity,
    kinds: Vec<String>,
    codes: Vec<String>,
    without: Vec<String>,
    quiet: Option<Hours>,
    cooldown: BTreeMap<String, u64>,
    repeat: BTreeMap<String, u64>,
}

impl Wishes {
    pub(super) fn of(target: &Target) -> Self {
        let spans = |table: &BTreeMap<String, String>| {
            table.iter().filter_map(|(code, text)| Some((code.clone(), span_ms(text)?))).collect()
        };
        Self {
            least: target.least,
            kinds: target.kinds.clone(),
            codes: target.codes.clone(),
            without: target.without.clone(),
            quiet: target.quiet.as_deref().and_then(Hours::parse),
            cooldown: spans(&target.cooldown),
            repeat: spans(&target.repeat),
        }
    }

    /// Whether the target wants to hear of it. Refused requests are many: only who names their kind hears of them.
    pub(super) fn want(&self, notice: &Notice) -> bool {
        let kind = if self.kinds.is_empty() { notice.kind != "decision" } else { self.kinds.contains(&notice.kind) };
        let code = self.codes.is_empty() || self.codes.contains(&notice.code);
        notice.severity >= self.least && kind && code && !self.without.contains(&notice.code)
    }

    /// Whether what is not critical waits now.
    pub(super) fn is_quiet(&self, clock: Clock, now_ms: u64) -> bool {
        self.quiet.is_some_and(|hours| hours.holds(clock, now_ms))
    }

    fn cooldown_ms(&self, notice: &Notice) -> u64 {
        let said = self.cooldown.get(&notice.code).or_else(|| self.cooldown.get("default"));
        match said {
            Some(span) => *span,
            None if is_urgent(notice) || notice.kind == "summary" => 0,
            None => COOLDOWN_MS,
        }
    }

    fn repeat_ms(&self, code: &str) -> Option<u64> {
        let said = self.repeat.get(code).copied();
        let span = said.or_else(|| REPEAT_MS.iter().find(|(known, _)| *known == code).map(|(_, span)| *span));
        span.filter(|span| *span > 0)
    }
}

fn is_urgent(notice: &Notice) -> bool {
    notice.severity == Severity::Critical
}

/// What of a message moves on once the target said yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pick {
    /// The notice of this number.
    Filed(u64),
    /// What was held back of a topic.
    Held(String),
    /// A topic that lasts.
    Repeat(String),
    /// That so many were left out.
    Lost(u64),
}

/// A message to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) notice: Notice,
    pub(super) pick: Pick,
}

/// When a topic was told last, and what came since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    at_ms: u64,
    #[serde(default)]
    held: usize,
    #[serde(default)]
    last: Option<Notice>,
}

/// A target's place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Desk {
    /// The last critical notice that it took.
    urgent: u64,
    /// The last other one.
    calm: u64,
    /// Notices left out because it took none for too long.
    lost: u64,
    told: BTreeMap<String, Told>,
}

/// All that a desk looks at beside its own place.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) wishes: &'a Wishes,
    pub(super) filed: &'a VecDeque<Notice>,
    pub(super) open: &'a BTreeMap<String, Notice>,
    pub(super) clock: Clock,
    pub(super) now_ms: u64,
}

impl Desk {
    /// A desk that begins behind this notice.
    pub(super) fn after(id: u64) -> Self {
        Self { urgent: id, calm: id, ..Self::default() }
    }

    /// Whether the target has had this notice, or waits for another one before it.
    pub(super) fn has_passed(&self, notice: &Notice) -> bool {
        notice.id <= if is_urgent(notice) { self.urgent } else { self.calm }
    }

    /// Whether the target is to be told this notice now.
    pub(super) fn waits_for(&self, notice: &Notice, wishes: &Wishes, is_quiet: bool) -> bool {
        !self.has_passed(notice) && wishes.want(notice) && (is_urgent(notice) || !is_quiet)
    }

    /// A notice is gone before the target took it.
    pub(super) fn lose(&mut self) {
        self.lost = self.lost.saturating_add(1);
    }

    /// The next message, if one is due.
    pub(super) fn next(&mut self, view: View<'_>) -> Option<Draft> {
        // A machine whose clock was set back must not keep what is due from being told.
        self.told.values_mut().for_each(|told| told.at_ms = told.at_ms.min(view.now_ms));
        let is_quiet = view.wishes.is_quiet(view.clock, view.now_ms);
        if self.lost > 0 && !is_quiet {
            return Some(self.left_out(view.now_ms));
        }
        for notice in view.filed {
            let is_calm = !is_urgent(notice);
            if self.has_passed(notice) || (is_calm && is_quiet) {
                continue;
            }
            if view.wishes.want(notice) && !self.is_held_back(notice, view) {
                return Some(Draft { notice: notice.clone(), pick: Pick::Filed(notice.id) });
            }
            self.pass(notice);
        }
        self.held(view, is_quiet).or_else(|| self.repeat(view, is_quiet))
    }

    /// Whether the topic was told just now; then it is counted, and told with the others when its pause ends.
    fn is_held_back(&mut self, notice: &Notice, view: View<'_>) -> bool {
        let pause_ms = view.wishes.cooldown_ms(notice);
        let Some(told) = self.told.get_mut(&key(notice)) else { return false };
        if view.now_ms.saturating_sub(told.at_ms) >= pause_ms {
            return false;
        }
        told.held = told.held.saturating_add(1);
        told.last = Some(notice.clone());
        true
    }

    /// What was held back, now that its pause is over.
    fn held(&self, view: View<'_>, is_quiet: bool) -> Option<Draft> {
        self.told.iter().find_map(|(key, told)| {
            let last = told.last.as_ref().filter(|last| told.held > 0 && (is_urgent(last) || !is_quiet))?;
            if view.now_ms.saturating_sub(told.at_ms) < view.wishes.cooldown_ms(last) {
                return None;
            }
            let title = format!("{} ({} more since {})", last.title, count(told.held, "time"), time(told.at_ms));
            Some(Draft { notice: Notice { title, ..last.clone() }, pick: Pick::Held(key.clone()) })
        })
    }

    /// What lasts and is to be told again.
    fn repeat(&self, view: View<'_>, is_quiet: bool) -> Option<Draft> {
        view.open.values().find_map(|notice| {
            let span_ms = view.wishes.repeat_ms(&notice.code)?;
            if !view.wishes.want(notice) || (is_quiet && !is_urgent(notice)) {
                return None;
            }
            let key = key(notice);
            let last_ms = self.told.get(&key).map_or(notice.at_ms, |told| told.at_ms);
            if view.now_ms.saturating_sub(last_ms) < span_ms {
                return None;
            }
            let title = format!("Still: {} (since {})", notice.title, time(notice.at_ms));
            Some(Draft { notice: Notice { title, at_ms: view.now_ms, ..notice.clone() }, pick: Pick::Repeat(key) })
        })
    }

    fn left_out(&self, now_ms: u64) -> Draft {
        let title = format!("{} left out", count(usize::try_from(self.lost).unwrap_or(usize::MAX), "message"));
        let notice = Notice::once("notifier", "left_out", Severity::Warning, title).words(
            "They were not taken here for too long, or were refused, and there was no room to keep them.",
            "",
            "Look at the guard's page, its journal and the notifier's log.",
        );
        Draft { notice: notice.at(now_ms), pick: Pick::Lost(self.lost) }
    }

    /// The target said yes.
    pub(super) fn done(&mut self, draft: &Draft, now_ms: u64) {
        match &draft.pick {
            Pick::Filed(_) => {
                self.pass(&draft.notice);
                self.told_now(key(&draft.notice), now_ms);
            }
            Pick::Held(key) | Pick::Repeat(key) => self.told_now(key.clone(), now_ms),
            Pick::Lost(told) => self.lost = self.lost.saturating_sub(*told),
        }
    }

    /// The target refuses this one for good.
    pub(super) fn give_up(&mut self, draft: &Draft, now_ms: u64) {
        self.done(draft, now_ms);
        if !matches!(draft.pick, Pick::Lost(_)) {
            self.lose();
        }
    }

    fn pass(&mut self, notice: &Notice) {
        let place = if is_urgent(notice) { &mut self.urgent } else { &mut self.calm };
        *place = (*place).max(notice.id);
    }

    fn told_now(&mut self, key: String, at_ms: u64) {
        if self.told.len() >= MAX_TOLD && !self.told.contains_key(&key) {
            let oldest = self.told.iter().filter(|(_, told)| told.held == 0).min_by_key(|(_, told)| told.at_ms);
            let oldest = oldest.map(|(key, _)| key.clone()).or_else(|| self.told.keys().next().cloned());
            oldest.map(|key| self.told.remove(&key));
        }
        self.told.insert(key, Told { at_ms, held: 0, last: None });
    }
}

/// What pauses are kept by: that something is over is not held back because it was told to begin.
fn key(notice: &Notice) -> String {
    let turn = if notice.turn == Turn::Over { "over" } else { "" };
    format!("{}|{turn}", notice.topic())
}
