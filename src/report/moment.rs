//! Moments as a report writes them.

use crate::base::day::day_of;

/// A moment as text, UTC.
pub(super) fn utc(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{}T{hours:02}:{minutes:02}:{:02}.{:03}Z", day_of(ms), seconds % 60, ms % 1000)
}
