//! A message as it is told: the words of a notice and which guard it is about, in the forms that targets share.

use serde_json::{Value, json};

use super::notice::{Notice, Severity};
use super::watch::Guard;
use super::words::{fitting, redacted};
use crate::base::moment::utc;
use crate::base::text::visible;

/// Most characters of one part of a message, and of the name of a guard or its mode.
const MOST_PART: usize = 2_000;
const MOST_NAME: usize = 60;
/// Bytes of what happened, and of what the guard did, that stay where a message has to be cut.
const LEAST_PART: usize = 80;

/// A message, ready for every form. Nothing secret stands in it, and each part is one line: what a client or the venue wrote
/// cannot pass for a line of the guard's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    notice: Notice,
    guard: Guard,
}

impl Message {
    /// The message of a notice; none of these secrets stands in it.
    pub(super) fn of(notice: &Notice, guard: &Guard, secrets: &[String]) -> Self {
        let mut notice = notice.clone();
        let texts = [&mut notice.title, &mut notice.happened, &mut notice.did, &mut notice.todo, &mut notice.about];
        for text in texts {
            // What does not show goes first: between the letters of a secret it would hide that.
            *text = visible(&redacted(&visible(text, usize::MAX), secrets), MOST_PART);
        }
        let mut guard = guard.clone();
        [&mut guard.account, &mut guard.mode].into_iter().for_each(|text| *text = visible(text, MOST_NAME));
        Self { notice, guard }
    }

    /// Its number; 0 where it has none.
    pub(super) fn id(&self) -> u64 {
        self.notice.id
    }

    pub(super) fn severity(&self) -> Severity {
        self.notice.severity
    }

    /// Whether it is good news.
    pub(super) fn is_good(&self) -> bool {
        self.notice.is_good()
    }

    /// The title with the guard's name, for a list of messages.
    pub(super) fn subject(&self) -> String {
        let mark = match self.notice.severity {
            _ if self.is_good() => "",
            Severity::Critical => "CRITICAL: ",
            Severity::Warning => "Warning: ",
            Severity::Info => "",
        };
        let name = self.guard.name();
        if name.is_empty() { format!("{mark}{}", self.title()) } else { format!("{mark}{} [{name}]", self.title()) }
    }

    /// The title with what it is about.
    pub(super) fn title(&self) -> String {
        match self.notice.about.as_str() {
            about if !about.is_empty() && about.len() <= 12 => format!("{} ({about})", self.notice.title),
            _ => self.notice.title.clone(),
        }
    }

    /// All but the title: what happened, what the guard did, what a person has to do, when and for which guard.
    pub(super) fn lines(&self) -> Vec<String> {
        let named = |name: &str, text: &str| if text.is_empty() { String::new() } else { format!("{name}{text}") };
        let notice = &self.notice;
        let when = format!("{} · {}", utc(notice.at_ms), self.guard.name());
        let lines = [
            notice.happened.clone(),
            named("The guard: ", &notice.did),
            named("You: ", &notice.todo),
            when.trim_end_matches(" · ").to_owned(),
        ];
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }

    /// The lines as one text.
    pub(super) fn body(&self) -> String {
        self.lines().join("\n")
    }

    /// The same, of which `cost` is at most so much. What happened and what the guard did are cut, for a stranger may have
    /// written of it: what a person has to do, and when it was, stay.
    pub(super) fn body_within(&self, most: usize, cost: impl Fn(&str) -> usize) -> String {
        let mut fitted = self.clone();
        loop {
            let body = fitted.body();
            let notice = &mut fitted.notice;
            let longer = if notice.happened.len() < notice.did.len() { &mut notice.did } else { &mut notice.happened };
            if cost(&body) <= most || longer.len() <= LEAST_PART {
                return fitting(&body, most, cost);
            }
            let over = cost(&body).saturating_sub(most);
            // All but a part of the rest, as long as what was cut off shows how much it costs.
            let room = longer.len().saturating_sub(over.div_ceil(2).max(8)).max(LEAST_PART);
            *longer = fitting(longer, room, str::len);
        }
    }

    /// The message for a program.
    pub(super) fn json(&self) -> Value {
        let notice = &self.notice;
        json!({
            "schema": 1,
            "id": notice.id,
            "at_ms": notice.at_ms,
            "kind": notice.kind,
            "code": notice.code,
            "about": notice.about,
            "severity": notice.weight(),
            "turn": notice.turn.name(),
            "account": self.guard.account,
            "mode": self.guard.mode,
            "title": notice.title,
            "happened": notice.happened,
            "did": notice.did,
            "todo": notice.todo,
        })
    }
}
