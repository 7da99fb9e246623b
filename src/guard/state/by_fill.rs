//! A position that a fill has opened or enlarged, before any read shows it.

use crate::venue::info::Position;

/// A position that a fill has opened or enlarged.
#[derive(Debug, Clone)]
pub(crate) struct ByFill {
    /// As it was read.
    pub(crate) read: Option<Position>,
    /// The venue's time of the newest fill.
    pub(crate) time_ms: u64,
    /// When that was told.
    pub(crate) at_ms: u64,
}
