//! Requests that were turned away without a decision of their own, until the core tells of them together.

use std::sync::Mutex;

use crate::base::sync::lock;
use crate::guard::Input;

/// How many there were since they were last told of, and the last one's code.
#[derive(Debug, Default)]
pub(super) struct TurnedAway(Mutex<(u64, &'static str)>);

impl TurnedAway {
    /// Takes note of some.
    pub(super) fn add(&self, count: u64, code: &'static str) {
        let mut noted = lock(&self.0);
        *noted = (noted.0.saturating_add(count), code);
    }

    /// What the core is to hear, if there were any.
    pub(super) fn take(&self) -> Option<Input> {
        let (count, code) = std::mem::take(&mut *lock(&self.0));
        (count > 0).then_some(Input::Untold { count, code })
    }
}
