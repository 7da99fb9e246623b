//! The next message of one target, and all that is looked at for it.

use std::collections::{BTreeMap, VecDeque};

use super::hours::Clock;
use super::notice::Notice;
use super::wishes::Wishes;

/// What of a message moves on once the target said yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pick {
    /// The notice of this number.
    Filed(u64),
    /// What was held back of a topic.
    Held(String),
    /// A topic that lasts.
    Repeat(String),
    /// What was refused before, by its number, and whether it is the title alone.
    Again(u64, bool),
    /// That so many were left out.
    Lost(u64),
}

/// How a target takes what it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// At once.
    Brisk,
    /// Slowly, or the last not at all: what is critical has no turn to wait for.
    Slow,
    /// It asked for a pause, which only what is critical does not wait out.
    Paused,
}

/// A message to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) notice: Notice,
    pub(super) pick: Pick,
}

/// All that a desk looks at beside its own place.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) wishes: &'a Wishes,
    pub(super) filed: &'a VecDeque<Notice>,
    pub(super) open: &'a BTreeMap<String, Notice>,
    pub(super) clock: Clock,
    pub(super) now_ms: u64,
    pub(super) pace: Pace,
}

impl View<'_> {
    /// Whether only what is critical goes.
    pub(super) fn is_quiet(&self) -> bool {
        self.pace == Pace::Paused || self.wishes.is_quiet(self.clock, self.now_ms)
    }
}
