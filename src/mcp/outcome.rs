//! The answer of a writing tool: one of six outcomes, in one shape. Only `accepted` is no error. Pure.

use serde_json::{Map, Value, json};

use super::args::ArgumentError;
use super::guard_client::GuardCallError;

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Vetoed => "vetoed",
            Self::VenueRejected => "venue_rejected",
            Self::Invalid => "invalid",
            Self::Unavailable => "unavailable",
            Self::Unknown => "unknown",
        }
    }
}

/// Whether the agent may try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::AfterChange => "after_change",
            Self::Later => "later",
            Self::CheckFirst => "check_first",
        }
    }
}

/// The rule that stopped a call, with its limit and the value found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) limit: Option<String>,
    pub(super) observed: Option<String>,
}

/// An order as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OrderInfo {
    pub(super) id: Option<u64>,
    pub(super) client_id: Option<String>,
    pub(super) status: Option<String>,
    pub(super) filled: Option<String>,
    pub(super) avg_price: Option<String>,
}

/// The whole answer of a writing tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) kind: Kind,
    /// One or two sentences: what happened, and what to do next.
    pub(super) message: String,
    pub(super) retry: Retry,
    pub(super) rule: Option<Rule>,
    pub(super) order: Option<OrderInfo>,
    pub(super) decision_id: Option<u64>,
    /// Changes that the guard made before it passed the order on.
    pub(super) changes: Vec<String>,
    /// The reason of a pulled kill switch; the outer `None` where its state is not known.
    pub(super) kill: Option<Option<String>>,
    /// Set for an entry that was taken: whether a stop of it was refused.
    pub(super) unprotected: Option<bool>,
    /// The guard only pretends.
    pub(super) paper: bool,
    /// The guard's words, as they came.
    pub(super) guard_says: Option<String>,
    /// The venue's words, as they came.
    pub(super) venue_says: Option<String>,
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

    /// An argument that cannot be read.
    pub(super) fn fault(fault: &ArgumentError) -> Self {
        let rule = Rule {
            id: format!("argument_{}", fault.name),
            limit: Some(fault.expected.clone()),
            observed: Some(fault.found.clone()),
        };
        Self::invalid(rule, format!("{fault}. Nothing was sent; correct it and call again."))
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
        let mut object = Map::new();
        let mut put = |key: &str, value: Option<Value>| _ = value.map(|value| object.insert(key.to_owned(), value));
        put("outcome", Some(json!(self.kind.name())));
        put("message", Some(json!(self.message)));
        put("retry", Some(json!(self.retry.name())));
        put("rule", self.rule.as_ref().map(Rule::to_json));
        put("order", self.order.as_ref().map(OrderInfo::to_json));
        put("decision_id", self.decision_id.map(|id| json!(id)));
        put("changes", (!self.changes.is_empty()).then(|| json!(self.changes)));
        put("unprotected", self.unprotected.map(|bare| json!(bare)));
        put("paper", self.paper.then(|| json!(true)));
        put("guard_says", self.guard_says.as_ref().map(|text| json!(text)));
        put("venue_says", self.venue_says.as_ref().map(|text| json!(text)));
        let (pulled, reason) = match &self.kill {
            None => (Value::Null, Value::Null),
            Some(reason) => (json!(reason.is_some()), json!(reason)),
        };
        put("kill", Some(json!({"pulled": pulled, "reason": reason})));
        Value::Object(object)
    }
}

impl From<ArgumentError> for Outcome {
    fn from(error: ArgumentError) -> Self {
        Self::fault(&error)
    }
}

impl Rule {
    /// A rule with a limit and what was found.
    pub(super) fn of(id: &str, limit: &impl ToString, observed: &impl ToString) -> Self {
        Self { id: id.to_owned(), limit: Some(limit.to_string()), observed: Some(observed.to_string()) }
    }

    fn to_json(&self) -> Value {
        json!({"id": self.id, "limit": self.limit, "observed": self.observed})
    }
}

impl OrderInfo {
    fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "client_id": self.client_id,
            "status": self.status,
            "filled": self.filled,
            "avg_price": self.avg_price,
        })
    }
}
