//! Actions that were given up in doubt: kept, and asked about now and then, until somebody can say what became of them.

use crate::guard::state::in_doubt::InDoubtAction;
use std::collections::BTreeMap;

/// So many are kept to be asked about; more are only counted, until a restart.
const MOST: usize = 16;

/// Between two questions, for all of them together: there is no hurry, and each costs weight.
const ASK_EVERY_MS: u64 = 30_000;

/// What could not be settled in this life.
#[derive(Debug, Default)]
pub(crate) struct Unsettled {
    actions: BTreeMap<(u64, usize), InDoubtAction>,
    /// Those that found no place.
    uncounted: usize,
    next_ms: u64,
}

impl Unsettled {
    /// How many actions are not settled.
    pub(crate) fn len(&self) -> usize {
        self.actions.len().saturating_add(self.uncounted)
    }

    /// Keeps an action that was given up.
    pub(crate) fn keep(&mut self, key: (u64, usize), mut doubt: InDoubtAction, now_ms: u64) {
        if self.actions.len() >= MOST {
            self.uncounted = self.uncounted.saturating_add(1);
            return;
        }
        // What was asked until now stands in the journal already.
        doubt.evidence.clear();
        doubt.holds_done = false;
        doubt.next_ms = now_ms;
        self.actions.insert(key, doubt);
        self.next_ms = self.next_ms.max(now_ms.saturating_add(ASK_EVERY_MS));
    }

    /// The action to ask about now: the one that was asked about longest ago.
    pub(crate) fn due(&mut self, now_ms: u64) -> Option<((u64, usize), &mut InDoubtAction)> {
        if now_ms < self.next_ms {
            return None;
        }
        let (key, doubt) = self.actions.iter_mut().min_by_key(|(_, doubt)| doubt.next_ms)?;
        self.next_ms = now_ms.saturating_add(ASK_EVERY_MS);
        doubt.next_ms = now_ms;
        Some((*key, doubt))
    }

    pub(crate) fn get_mut(&mut self, key: (u64, usize)) -> Option<&mut InDoubtAction> {
        self.actions.get_mut(&key)
    }

    /// Whether this action is kept.
    pub(crate) fn is_kept(&self, key: (u64, usize)) -> bool {
        self.actions.contains_key(&key)
    }

    /// Lets go of an action that is settled after all.
    pub(crate) fn take(&mut self, key: (u64, usize)) -> Option<InDoubtAction> {
        self.actions.remove(&key)
    }
}
