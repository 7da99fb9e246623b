//! Since when things are as they are: what has to be closed, a guard that does not answer.

use serde::{Deserialize, Serialize};

/// Everything has to be closed, from the kill or halt on and until that is over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Flattening {
    /// When it began.
    pub(super) at_ms: u64,
    pub(super) why: String,
    /// Whether the guard said so by an event.
    pub(super) told: bool,
    /// That event, where it is known: what later rounds serve.
    pub(super) of: Option<u64>,
    /// Of which time the account was told to be flat last.
    pub(super) flat_ms: Option<u64>,
    /// Something was held or rested again since then.
    pub(super) is_open_again: bool,
    /// The last refusal of a close that was told, without its numbers: what every round hears is no news.
    pub(super) refused: String,
    /// The guard's last event when it was first seen to hold no halt any more: what became of it stands up to there.
    pub(super) over: Option<u64>,
}

impl Flattening {
    /// Whether the last word of it is that the account is flat.
    pub(super) fn is_flat(&self) -> bool {
        self.flat_ms.is_some() && !self.is_open_again
    }

    /// The events are of another journal from now on.
    pub(super) fn begin_anew(&mut self) {
        (self.of, self.over) = (None, None);
    }
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
    /// Another guard does, where it should.
    Taken {
        /// Which one, for people.
        who: String,
        /// Where.
        url: String,
    },
}

impl Seen {
    /// Whether no answer of the guard's came.
    pub(in crate::notify) fn is_away(&self) -> bool {
        matches!(self, Self::Away(_) | Self::Taken { .. })
    }
}

/// Since when it is not well, by the clock that never steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) away_ms: Option<u64>,
    pub(super) unwell_ms: Option<u64>,
}
