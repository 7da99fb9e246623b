//! A message as it is told: the words of a notice and which guard it is about, in the forms that targets share.

use serde_json::{Value, json};

use super::notice::{Notice, Severity};
use super::watch::Guard;
use super::words::{redacted, time};

/// A message, ready for every form. Nothing secret stands in it.
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
        texts.into_iter().for_each(|text| *text = redacted(text, secrets));
        Self { notice, guard: guard.clone() }
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
        let when = format!("{} · {}", time(notice.at_ms), self.guard.name());
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
