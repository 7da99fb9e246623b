//! The answer of a tool call, in the protocol's form. Pure.

use serde_json::{Value, json};

use super::outcome::Outcome;

/// A tool's answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// The data asked for.
    Data(Value),
    /// The outcome of a writing call, or the reason for no data.
    Outcome(Box<Outcome>),
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(Box::new(outcome))
    }
}

impl Answer {
    /// The result of `tools/call`: the same JSON for clients that read text and for those that read structure.
    pub(super) fn to_result(&self) -> Value {
        let (content, is_error) = match self {
            Self::Data(data) => (data.clone(), false),
            Self::Outcome(outcome) => (outcome.to_json(), outcome.is_error()),
        };
        json!({
            "content": [{"type": "text", "text": content.to_string()}],
            "structuredContent": content,
            "isError": is_error,
        })
    }
}
