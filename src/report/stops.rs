//! The guard's own stops: how many the venue took, and which fills are theirs.
//!
//! A stop counts as placed when the venue took the action that holds it, or by what was found out of it later. In paper
//! mode nothing is sent, and those count that would have been.

use std::collections::{BTreeSet, VecDeque};

use super::line::{event_in, is_own};
use super::orders::placed_by;
use crate::base::address::Cloid;
use crate::record::money::Fill;
use crate::venue::json::Node;

/// Actions with stops that wait for their outcome; each ends within seconds, or with the next start.
const MOST_OPEN: usize = 1024;
/// Stops whose ids are known. One that is older and forgotten counts as a close when it fires.
const MOST_KNOWN: usize = 65_536;

/// The guard's stops.
#[derive(Debug, Default)]
pub(super) struct Stops {
    /// Actions without an outcome: the event, the place in it, and the stops in it.
    open: VecDeque<(u64, usize, u64)>,
    known: BTreeSet<Cloid>,
    in_order: VecDeque<Cloid>,
}

impl Stops {
    /// Takes in what an event sends, or would in paper mode; how many stops count as placed at once.
    pub(super) fn named<'a>(&mut self, seq: u64, actions: impl Iterator<Item = &'a Node>, is_sent: bool) -> u64 {
        let mut placed = 0_u64;
        for (index, action) in actions.enumerate() {
            let ids: Vec<Cloid> = placed_by(action)
                .into_iter()
                .filter(|order| order.is_stop)
                .filter_map(|order| order.cloid.filter(is_own))
                .collect();
            let count = u64::try_from(ids.len()).unwrap_or(u64::MAX);
            ids.into_iter().for_each(|id| self.know(id));
            if is_sent && count > 0 {
                self.open.push_back((seq, index, count));
                if self.open.len() > MOST_OPEN {
                    self.open.pop_front();
                }
            } else {
                placed = placed.saturating_add(count);
            }
        }
        placed
    }

    fn know(&mut self, id: Cloid) {
        if self.known.insert(id) {
            self.in_order.push_back(id);
        }
        if self.in_order.len() > MOST_KNOWN
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// Whether an outcome is waited for.
    pub(super) fn is_waiting(&self) -> bool {
        !self.open.is_empty()
    }

    /// An action ended: how many stops were placed by it. What had no answer waits on.
    pub(super) fn ended(&mut self, seq: u64, index: usize, happened: Option<bool>) -> u64 {
        let Some(happened) = happened else { return 0 };
        let Some(at) = self.open.iter().position(|open| (open.0, open.1) == (seq, index)) else { return 0 };
        self.open.remove(at).filter(|_| happened).map_or(0, |(_, _, count)| count)
    }

    /// Whether a fill is that of one of the guard's stops. Its closes never rest: an order of its own from before
    /// `first_seq`, the first event that was read, rested, and so it is a stop.
    pub(super) fn is_stop(&self, fill: &Fill, first_seq: u64) -> bool {
        let Some(cloid) = fill.cloid.filter(is_own) else { return false };
        self.known.contains(&cloid) || fill.intent.unwrap_or_else(|| event_in(&cloid)) < first_seq
    }
}
