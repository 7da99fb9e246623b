//! Whether the journal can be written, for all threads to see.

use crate::base::clock::steady_ms;
use crate::base::sync::lock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// How the journal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All is written where it belongs, and the reserve is held.
    Good,
    /// All is still written, but on the reserve or in the fallback folder: time to stop opening anything.
    Degraded,
    /// The last batch is not on disk.
    Failing,
}

/// Shared by the writer with whoever asks.
#[derive(Debug, Default)]
pub struct Health {
    condition: AtomicU8,
    error: Mutex<Option<String>>,
    low_space: Mutex<Option<String>>,
    is_full: AtomicBool,
    /// Since when the writer has been at the disk; 0 while it is not.
    at_disk_since_ms: AtomicU64,
}

impl Health {
    /// Whether the disk is full, and what is left of it kept for records that something depends on.
    pub fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Acquire)
    }

    pub(crate) fn set_full(&self, is_full: bool) {
        self.is_full.store(is_full, Ordering::Release);
    }

    /// For how long the writer has been at the disk: a call that hangs is no error, and never comes back to be one.
    pub fn at_disk_for_ms(&self, now_steady_ms: u64) -> u64 {
        match self.at_disk_since_ms.load(Ordering::Acquire) {
            0 => 0,
            since_ms => now_steady_ms.saturating_sub(since_ms),
        }
    }

    /// The writer goes to the disk, or is back from it.
    pub(crate) fn set_at_disk(&self, is_at_disk: bool) {
        self.set_at_disk_since(if is_at_disk { steady_ms() } else { 0 });
    }

    pub(crate) fn set_at_disk_since(&self, steady_ms: u64) {
        self.at_disk_since_ms.store(steady_ms, Ordering::Release);
    }

    /// What to tell the user of a disk that is nearly full.
    pub fn low_space(&self) -> Option<String> {
        lock(&self.low_space).clone()
    }

    pub(crate) fn set_low_space(&self, text: Option<String>) {
        *lock(&self.low_space) = text;
    }

    /// Shows what another one shows.
    pub(crate) fn follow(&self, other: &Health) {
        self.set(other.condition(), other.error());
        self.set_full(other.is_full());
        self.set_low_space(other.low_space());
    }

    /// How the journal stands now.
    pub fn condition(&self) -> Condition {
        match self.condition.load(Ordering::Acquire) {
            0 => Condition::Good,
            1 => Condition::Degraded,
            _ => Condition::Failing,
        }
    }

    /// The last error as a text for the user; `None` while all is good.
    pub fn error(&self) -> Option<String> {
        lock(&self.error).clone()
    }

    pub(crate) fn set(&self, condition: Condition, error: Option<String>) {
        *lock(&self.error) = error;
        let condition = match condition {
            Condition::Good => 0,
            Condition::Degraded => 1,
            Condition::Failing => 2,
        };
        self.condition.store(condition, Ordering::Release);
    }
}
