//! Since when things are as they are: a close that is not known to have ended, a guard that does not answer.

use serde::{Deserialize, Serialize};

/// Everything is being closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Flattening {
    pub(super) at_ms: u64,
    pub(super) why: String,
    /// Whether the guard said so by an event.
    pub(super) told: bool,
    /// The guard's last event when it was first seen to hold no halt any more: what became of it stands up to there.
    pub(super) over: Option<u64>,
}

/// How the guard answered one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::notify) enum Seen {
    /// It answers and is well.
    Well,
    /// It answers and is not well, for these reasons.
    Unwell(Vec<String>),
    /// It does not answer.
    Away(String),
}

/// Since when it is not well, by the clock that never steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) away_ms: Option<u64>,
    pub(super) unwell_ms: Option<u64>,
}
