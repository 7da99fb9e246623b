//! A position that fills have opened, enlarged or made another, before any read shows it.

use crate::venue::info::Position;

/// A position that fills have made.
#[derive(Debug, Clone)]
pub(crate) struct ByFill {
    /// As it was read.
    pub(crate) read: Option<Position>,
    /// The venue's time of the newest fill.
    pub(crate) time_ms: u64,
    /// When that was told, or shown by the feed's account.
    pub(crate) at_ms: u64,
    /// It is no larger one of what was read, but another.
    pub(crate) is_another: bool,
}
