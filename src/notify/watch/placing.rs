//! The guard's own stops on their way: one is placed once the venue has taken it, and not when it is decided on.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

/// Events with stops on their way that are remembered at most. One that was never sent, or of which no answer told, stays
/// until so many newer ones came.
const MAX_WAITING: usize = 64;

/// Stops that the venue has not taken yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Placing(VecDeque<Waiting>);

/// The stops of one event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Waiting {
    /// The event that named them.
    seq: u64,
    /// Their markets.
    coins: String,
    /// The places of those that wait.
    left: BTreeSet<usize>,
}

impl Placing {
    /// So many stops of this event go out.
    pub(super) fn begin(&mut self, seq: u64, coins: &str, stops: usize) {
        if stops == 0 {
            return;
        }
        if self.0.len() >= MAX_WAITING {
            self.0.pop_front();
        }
        self.0.push_back(Waiting { seq, coins: coins.to_owned(), left: (0..stops).collect() });
    }

    /// The venue took one of them. The markets, when it was the last one of its event.
    pub(super) fn taken(&mut self, seq: u64, index: usize) -> Option<String> {
        let at = self.0.iter().position(|waiting| waiting.seq == seq)?;
        let waiting = self.0.get_mut(at)?;
        waiting.left.remove(&index);
        if !waiting.left.is_empty() {
            return None;
        }
        self.0.remove(at).map(|waiting| waiting.coins)
    }

    /// The venue refused one of them: these are not placed as they were to be.
    pub(super) fn refused(&mut self, seq: u64) {
        self.0.retain(|waiting| waiting.seq != seq);
    }
}
