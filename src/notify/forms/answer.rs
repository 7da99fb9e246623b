//! The answer of a target to one try.

/// What became of one try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::notify) enum Answer {
    /// The target took it.
    Taken,
    /// It did, and not for all whom it was to reach: who gets none, and why.
    Partly(String),
    /// It did not, and may later: why, and the pause that it asks for.
    Later(String, Option<u64>),
    /// It will not take this message: why.
    Refused(String),
}
