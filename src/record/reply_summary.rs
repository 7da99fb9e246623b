//! The key `guard` that every answer to a request has beside the venue's own: the decision, in short.

use serde::{Deserialize, Serialize};

use super::text::Text;

/// A decision, to the client that waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// The decision event.
    pub seq: u64,
    /// `allow`, `resize` or `veto`.
    pub verdict: Text,
    /// The reason code.
    pub code: Text,
    /// The reason in words.
    pub text: String,
    /// What the guard changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The limit that a veto is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// What stood against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// Nothing was sent: paper mode.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paper: bool,
}
