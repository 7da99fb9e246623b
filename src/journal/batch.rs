//! Batches of records on their way to disk, and the checks that a batch can be written at all. No file may enter here.

use super::chain::{LineFault, MAX_LINE, fits};
use super::error::JournalError;
use super::segment::{HEADER, Position};
use crate::record::event::Keys;

/// The largest batch (bytes of text).
pub const MAX_BATCH: usize = 16 * 1024 * 1024;

/// An event on its way to disk.
#[derive(Clone, Debug)]
pub struct Line {
    /// The event: one JSON object on one line, without a chain member.
    pub text: String,
    /// The keys that look-ups find it by: those of its kind.
    pub keys: Keys,
}

/// A risk record on its way to disk.
#[derive(Clone, Debug)]
pub struct RiskLine {
    /// The record: one JSON object on one line, without a chain member.
    pub text: String,
    /// Whether it is a `checkpoint`: then `events_file`, `events_offset` and `events_chain` are added to it, the place after
    /// the events of its batch, and the next start reads the events from there.
    pub checkpoint: bool,
}

/// Records that belong together, and a value that is handed back when they are on disk.
#[derive(Debug)]
pub struct Batch<T> {
    /// When (epoch milliseconds, UTC); says which day's file the events go to.
    pub at_ms: u64,
    /// Events, in order.
    pub events: Vec<Line>,
    /// Risk records, in order; on disk after the events.
    pub risk: Vec<RiskLine>,
    /// Given back on release.
    pub after: T,
}

/// The bytes of text in a batch.
pub(super) fn size(events: &[Line], risk: &[RiskLine]) -> usize {
    events.iter().map(|line| line.text.len()).chain(risk.iter().map(|line| line.text.len())).sum()
}

/// Refuses what cannot be written at all.
pub(super) fn check(events: &[Line], risk: &[RiskLine]) -> Result<(), JournalError> {
    let size = size(events, risk);
    if size > MAX_BATCH {
        return Err(JournalError::TooLarge { limit: MAX_BATCH, size });
    }
    let texts = events.iter().map(|line| line.text.as_str()).chain(risk.iter().map(|line| line.text.as_str()));
    for text in texts {
        // A checkpoint's place takes less than 256 bytes.
        if !fits(text) || text.len() + 256 > MAX_LINE || text.starts_with(HEADER) {
            return Err(JournalError::Line(LineFault::NotABody));
        }
    }
    Ok(())
}

/// A checkpoint's text with the place of the events that it stands for.
pub(super) fn with_position(text: &str, position: Option<&Position>) -> String {
    match (position, text.strip_suffix('}')) {
        (Some(position), Some(inner)) => format!(
            "{inner},\"events_file\":\"{}\",\"events_offset\":{},\"events_chain\":\"{}\"}}",
            position.segment.name(),
            position.offset,
            position.chain
        ),
        _ => text.to_owned(),
    }
}
