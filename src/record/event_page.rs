//! The answer of `GET /guard/events`: the last events, oldest first.

use serde::{Deserialize, Serialize};

/// Some of the events that the guard keeps in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventPage<E> {
    /// The version of the schema.
    pub schema: u32,
    /// The oldest event kept.
    pub oldest: Option<u64>,
    /// The newest event kept.
    pub last: Option<u64>,
    /// Those asked for.
    pub events: Vec<E>,
}
