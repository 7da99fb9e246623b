//! A notice: one thing that a person may want to know of, in words, with what it is filed under.

use serde::{Deserialize, Serialize};

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Somebody should look at it.
    Warning,
    /// Money may be at risk, or nobody watches it: quiet hours do not hold it back.
    Critical,
}

impl Severity {
    /// The name, as in the config and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// Whether a notice tells of something that lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Turn {
    /// It happened.
    Once,
    /// It began, and an end of it will be told of.
    Begins,
    /// It is over.
    Over,
}

impl Turn {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Begins => "begins",
            Self::Over => "over",
        }
    }
}

/// One thing to tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Notice {
    /// Its number, in the order in which things were noticed; 0 until it is filed.
    #[serde(default)]
    pub(super) id: u64,
    /// When it was, UTC ms.
    pub(super) at_ms: u64,
    /// The kind of event that it comes from, or `status`, `health`, `summary`, `notifier`.
    pub(super) kind: String,
    /// Its code, such as `kill`.
    pub(super) code: String,
    /// The market or other thing that it is about; empty for the account.
    #[serde(default)]
    pub(super) about: String,
    /// How much it matters.
    pub(super) severity: Severity,
    /// Whether it lasts.
    pub(super) turn: Turn,
    /// Whether it is over because something worse took its place.
    #[serde(default)]
    pub(super) is_worse: bool,
    /// In a few words.
    pub(super) title: String,
    /// What happened.
    pub(super) happened: String,
    /// What the guard did or does.
    #[serde(default)]
    pub(super) did: String,
    /// What a person has to do, with the command.
    #[serde(default)]
    pub(super) todo: String,
}

impl Notice {
    /// A notice of something that happened at one moment.
    pub(super) fn once(kind: &str, code: &str, severity: Severity, title: impl Into<String>) -> Self {
        Self {
            id: 0,
            at_ms: 0,
            kind: kind.to_owned(),
            code: code.to_owned(),
            about: String::new(),
            severity,
            turn: Turn::Once,
            is_worse: false,
            title: title.into(),
            happened: String::new(),
            did: String::new(),
            todo: String::new(),
        }
    }

    /// The same with what happened, what the guard did and what a person has to do.
    pub(super) fn words(
        mut self,
        happened: impl Into<String>,
        did: impl Into<String>,
        todo: impl Into<String>,
    ) -> Self {
        (self.happened, self.did, self.todo) = (happened.into(), did.into(), todo.into());
        self
    }

    /// The same at a time.
    pub(super) fn at(mut self, at_ms: u64) -> Self {
        self.at_ms = at_ms;
        self
    }

    /// The same about a market or another thing.
    pub(super) fn about(mut self, about: impl Into<String>) -> Self {
        self.about = about.into();
        self
    }

    /// The same as the beginning of something that lasts.
    pub(super) fn begins(mut self) -> Self {
        self.turn = Turn::Begins;
        self
    }

    /// Whether it is good news: what was so is over, and nothing worse came, or the account is flat. It goes where what it is the end
    /// of went.
    pub(super) fn is_good(&self) -> bool {
        self.turn == Turn::Over && !self.is_worse || self.code == "flat"
    }

    /// Whether it goes in quiet hours too.
    pub(super) fn is_urgent(&self) -> bool {
        self.severity == Severity::Critical
    }

    /// How much it matters, in a word.
    pub(super) fn weight(&self) -> &'static str {
        if self.is_good() { "good" } else { self.severity.name() }
    }

    /// The name of what it is about: notices of one topic are the same thing again.
    pub(super) fn topic(&self) -> String {
        if self.about.is_empty() { self.code.clone() } else { format!("{}/{}", self.code, self.about) }
    }
}
