//! One step of the core: the state, what the step wants done, and the time. Every flow works on this.

use crate::guard::effects::{Effects, Keys, Record};
use crate::guard::event;
use crate::guard::state::guard::Guard;
use serde::Serialize;

/// What a flow works on.
pub(crate) struct Step<'g> {
    pub(crate) guard: &'g mut Guard,
    pub(crate) effects: Effects,
    /// The time of the step, UTC ms.
    pub(crate) now_ms: u64,
}

impl<'g> Step<'g> {
    pub(crate) fn new(guard: &'g mut Guard, now_ms: u64) -> Self {
        Self { guard, effects: Effects::default(), now_ms }
    }

    /// Numbers an event and puts it among the records. Returns its number.
    pub(crate) fn record(&mut self, kind: &'static str, body: &impl Serialize, keys: Keys) -> u64 {
        let guard = &mut *self.guard;
        guard.seq = guard.seq.saturating_add(1);
        let text = event::line(guard.seq, self.now_ms, kind, body);
        guard.last_event = Some(text.clone());
        self.effects.records.push(Record { text, kind, keys: Keys { seq: guard.seq, ..keys }, decided: None });
        guard.seq
    }
}
