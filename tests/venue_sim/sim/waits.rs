//! Waiting that a stop cuts short, and waiting to be overtaken.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Set once, when the venue stops.
#[derive(Default)]
pub(crate) struct Stop {
    set: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    pub(crate) fn set(&self) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits `ms`, or until the stop.
    pub(crate) fn wait_ms(&self, ms: u64) {
        let set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(set, Duration::from_millis(ms), |set| !*set);
        drop(waited);
    }
}

/// Counts requests that have gone through, so that a held one can see itself overtaken. Counted and read under the
/// venue's lock, so that the count says exactly which requests went before.
#[derive(Default)]
pub(crate) struct Turn {
    count: Mutex<u64>,
    changed: Condvar,
}

impl Turn {
    /// How many have gone through.
    pub(crate) fn count(&self) -> u64 {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more has; how many that makes.
    pub(crate) fn pass(&self) -> u64 {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_add(1);
        self.changed.notify_all();
        *count
    }

    /// Waits until more than `before` have gone through, for at most `ms`.
    pub(crate) fn wait_overtaken(&self, before: u64, ms: u64) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(count, Duration::from_millis(ms), |count| *count <= before);
        drop(waited);
    }
}
