//! The answer of a writing tool: one of six outcomes, in one shape. Only `accepted` is no error. Pure.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::args::ArgumentError;
use super::guard_client::GuardCallError;

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// The venue took it (on paper: would have).
    Accepted,
    /// The guard refused it.
    Vetoed,
    /// The venue refused it.
    VenueRejected,
    /// The arguments cannot stand; nothing was asked of anyone.
    Invalid,
    /// Nothing was done, for a reason that may pass.
    Unavailable,
    /// It may have been done.
    Unknown,
}

impl Kind {
    pub(super) const ALL: [Self; 6] =
        [Self::Accepted, Self::Vetoed, Self::VenueRejected, Self::Invalid, Self::Unavailable, Self::Unknown];
}

/// Whether the agent may try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Retry {
    /// Not again.
    Never,
    /// With other arguments.
    AfterChange,
    /// The same later.
    Later,
    /// Only once it is known what became of it.
    CheckFirst,
}

impl Retry {
    pub(super) const ALL: [Self; 4] = [Self::Never, Self::AfterChange, Self::Later, Self::CheckFirst];
}

/// The rule that stopped a call, with its limit and the value found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) limit: Option<String>,
    pub(super) observed: Option<String>,
}

/// An order as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct OrderInfo {
    pub(super) id: Option<u64>,
    pub(super) client_id: Option<String>,
    pub(super) status: Option<String>,
    pub(super) filled: Option<String>,
    pub(super) avg_price: Option<String>,
}

/// The whole answer of a writing tool, with its fields in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Outcome {
    #[serde(rename = "outcome")]
    pub(super) kind: Kind,
    /// One or two sentences: what happened, and what to do next.
    pub(super) message: String,
    pub(super) retry: Retry,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule: Option<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) order: Option<OrderInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision_id: Option<u64>,
    /// Changes that the guard made before it passed the order on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) changes: Vec<String>,
    /// Set for an entry that was taken: whether a stop of it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unprotected: Option<bool>,
    /// Paper mode: nothing was sent to the venue.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) paper: bool,
    /// The guard's words, as they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) guard_says: Option<String>,
    /// The venue's words, as they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) venue_says: Option<String>,
    /// The reason of a pulled kill switch; the outer `None` where its state is not known.
    #[serde(serialize_with = "kill_switch")]
    pub(super) kill: Option<Option<String>>,
}

impl Outcome {
    pub(super) fn new(kind: Kind, retry: Retry, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry,
            rule: None,
            order: None,
            decision_id: None,
            changes: Vec::new(),
            kill: None,
            unprotected: None,
            paper: false,
            guard_says: None,
            venue_says: None,
        }
    }

    /// Arguments that cannot stand.
    pub(super) fn invalid(rule: Rule, message: impl Into<String>) -> Self {
        Self { rule: Some(rule), ..Self::new(Kind::Invalid, Retry::AfterChange, message) }
    }

    /// A guard that could not be asked, before anything was sent.
    pub(super) fn unreachable(error: &GuardCallError) -> Self {
        let message = format!(
            "Nothing was done: {error}. Try again later; if it stays so, a person must look whether the guard runs."
        );
        Self::new(Kind::Unavailable, Retry::Later, message)
    }

    /// The same with one more thing to know.
    pub(super) fn with(mut self, caution: Option<String>) -> Self {
        if let Some(caution) = caution {
            self.message.push(' ');
            self.message.push_str(&caution);
        }
        self
    }

    pub(super) fn is_error(&self) -> bool {
        self.kind != Kind::Accepted
    }

    /// The outcome as the output schema says.
    pub(super) fn to_json(&self) -> Value {
        // Serialising texts, numbers and truth values cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Whether the kill switch is pulled, and why.
fn kill_switch<S: Serializer>(kill: &Option<Option<String>>, serializer: S) -> Result<S::Ok, S::Error> {
    json!({"pulled": kill.as_ref().map(Option::is_some), "reason": kill.as_ref().and_then(Option::as_ref)})
        .serialize(serializer)
}

impl From<ArgumentError> for Outcome {
    fn from(error: ArgumentError) -> Self {
        let message = format!("{error}. Nothing was sent; correct it and call again.");
        let ArgumentError { name, expected, found } = error;
        let rule = Rule { id: format!("argument_{name}"), limit: Some(expected), observed: Some(found) };
        Self::invalid(rule, message)
    }
}

impl Rule {
    /// A rule with a limit and what was found.
    pub(super) fn of(id: &str, limit: &impl ToString, observed: &impl ToString) -> Self {
        Self { id: id.to_owned(), limit: Some(limit.to_string()), observed: Some(observed.to_string()) }
    }
}
