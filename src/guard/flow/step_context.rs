//! One step of the core: the state, what the step wants done, and the time. Every flow works on this.

use crate::guard::effects::{Effects, Record};
use crate::guard::state::guard::Guard;
use crate::record::event::{Event, Kind};
use crate::record::events::Trouble;

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
    pub(crate) fn record<'e>(&mut self, body: impl Into<Kind<'e>>) -> u64 {
        let guard = &mut *self.guard;
        guard.seq = guard.seq.saturating_add(1);
        let kind = match body.into() {
            Kind::Error(Trouble { text, lacks }) => {
                Kind::Error(Trouble { text: guard.config.typed(&text).into(), lacks })
            }
            kind => kind,
        };
        let event = Event { seq: guard.seq, at_ms: self.now_ms, kind };
        let text = event.to_line();
        guard.last_event = Some(text.clone());
        let (kind, keys) = (event.kind.name(), event.kind.keys());
        self.effects.records.push(Record { text, seq: event.seq, kind, keys, decided: None });
        event.seq
    }
}
