//! Batches of records on their way to disk, and the checks that a batch can be written at all. No file may enter here.

use super::chain::{LineFault, MAX_LINE, fits};
use super::error::JournalError;
use super::segment::{HEADER, Position};
use crate::base::address::Address;
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

/// A risk record on its way to disk. `events_file`, `events_offset` and `events_chain` are added to it, the place after the
/// events of its batch: the next start reads the events from the last checkpoint's place, and holds them to the last one's.
#[derive(Clone, Debug)]
pub struct RiskLine {
    /// The record: one JSON object on one line, without a chain member.
    pub text: String,
}

/// What records are worth when the disk is full: the reserve is there for those that something depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    /// What a life says of how things stand, a checkpoint beside it too: no byte of the reserve, but it waits for room, and goes
    /// ahead of what takes some.
    Later,
    /// Refusals, and what is only told: no byte of the reserve.
    Told,
    /// A client's exit: its own part of the first part of the reserve.
    Exit(Option<Address>),
    /// The guard's own: cover, closes, halts, kills, and what became of what was sent. All of the reserve.
    #[default]
    Own,
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
    /// What they are worth; risk records are worth all of the reserve, unless they can be written later.
    pub worth: Worth,
    /// Given back on release.
    pub after: T,
}

/// The records of a batch.
#[derive(Clone, Debug)]
pub(super) struct Records {
    pub(super) events: Vec<Line>,
    pub(super) risk: Vec<RiskLine>,
    pub(super) worth: Worth,
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
        // A place takes less than 256 bytes.
        if !fits(text) || text.len() + 256 > MAX_LINE || text.starts_with(HEADER) {
            return Err(JournalError::Line(LineFault::NotABody));
        }
    }
    Ok(())
}

/// A risk record's text with the place in the event journal that it was written at.
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
