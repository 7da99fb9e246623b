//! The notifier's threads' common ground.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex};

use super::log::Log;
use super::office::Office;
use super::pulse::Pulse;
use crate::faults::{Faults, Step};

/// What the threads share.
pub(super) struct Shared {
    pub(super) office: Mutex<Office>,
    /// Something was filed, or the end has come.
    pub(super) news: Condvar,
    /// The state differs from what is on disk.
    pub(super) is_dirty: AtomicBool,
    pub(super) is_ending: AtomicBool,
    /// Nobody changes the state any more.
    pub(super) is_closing: AtomicBool,
    /// What no message shows.
    pub(super) secrets: Vec<String>,
    pub(super) pulse: Arc<Pulse>,
    pub(super) log: Log,
    /// Asked at each step, so that a test can end the process there.
    pub(super) faults: Faults,
}

impl Shared {
    /// Passes a step, at which a fault build may end the process; none of them can fail.
    pub(super) fn pass(&self, step: Step) {
        let _passed = self.faults.pass(step);
    }
}
