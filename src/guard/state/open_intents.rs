//! Intents that the journal shows unfinished: what was never sent, and what may have been.

use crate::guard::state::in_doubt::says_duplicate;
use crate::guard::state::lifetime::FORWARD_LIFE_MS;
use crate::record::event::{Event, Kind, Sends};
use crate::record::events::Sent;
use crate::record::risk_record::{OpenAction, OpenIntent};
use crate::venue::reply::Reply;
use serde_json::Value;
use std::collections::BTreeMap;

/// An intent as the journal tells it.
#[derive(Debug, Default)]
pub(crate) struct Open {
    /// Its actions of which nothing final is told, by their place.
    actions: BTreeMap<usize, OpenAction>,
    pub(crate) done: bool,
}

/// The intents of earlier lives that are not settled.
#[derive(Debug, Default)]
pub(crate) struct OpenIntents(pub(crate) BTreeMap<u64, Open>);

impl OpenIntents {
    /// Takes in an event of an earlier life.
    pub(crate) fn restore(&mut self, event: Event<'_>) {
        let Event { seq, at_ms, kind } = event;
        match kind {
            Kind::Sent(sent) => self.sent(&sent, at_ms),
            Kind::Recovered(recovered) => {
                if let Some(open) = self.0.get_mut(&recovered.intent) {
                    open.actions.remove(&recovered.index);
                }
            }
            Kind::Done(done) => {
                if let Some(open) = self.0.get_mut(&done.intent) {
                    open.done = true;
                }
            }
            kind => {
                if let Some(open) = kind.into_sends().map(|sends| Open::of(sends, at_ms)) {
                    self.0.insert(seq, open);
                }
            }
        }
        self.0.retain(|_, open| !open.done || open.actions.values().any(|action| action.doubtful));
    }

    /// Takes in that an action went out: it is answered, or in doubt.
    fn sent(&mut self, sent: &Sent<'_>, at_ms: u64) {
        let Some(open) = self.0.get_mut(&sent.decision) else { return };
        if sent.is_answered() {
            let answered = open.actions.remove(&sent.index);
            if let Some(noop) = answered.filter(|_| is_duplicate(&sent.reply)) {
                self.used(noop.nonce, at_ms);
            }
        } else if let Some(action) = open.actions.get_mut(&sent.index) {
            action.doubtful = true;
        }
    }

    /// Takes in that a nonce was used up.
    fn used(&mut self, nonce: u64, at_ms: u64) {
        let actions = self.0.values_mut().flat_map(|open| open.actions.values_mut());
        actions.filter(|action| action.nonce == nonce).for_each(|action| action.used_ms = Some(at_ms));
    }

    /// Takes in the intents that a checkpoint carries.
    pub(crate) fn restore_checkpointed(&mut self, open: Vec<OpenIntent>) {
        for OpenIntent { seq, done, actions } in open {
            let actions = actions.into_iter().map(|action| (action.index, action)).collect();
            self.0.insert(seq, Open { actions, done });
        }
    }
}

/// Whether the venue's answer was that the nonce is taken already.
fn is_duplicate(reply: &Value) -> bool {
    matches!(Reply::read(reply), Some(Reply::Refused(text)) if says_duplicate(&text))
}

impl Open {
    /// The actions that an event sends.
    fn of(sends: Sends, at_ms: u64) -> Self {
        let mut actions = BTreeMap::new();
        for (index, (action, nonce)) in sends.actions.into_iter().zip(sends.nonces).enumerate() {
            // The nonce is the venue's time then, or later.
            let expires_ms = sends.forward.contains(&index).then(|| at_ms.max(nonce).saturating_add(FORWARD_LIFE_MS));
            actions.insert(index, OpenAction { index, action, nonce, expires_ms, doubtful: false, used_ms: None });
        }
        Self { actions, done: false }
    }

    /// The actions that may have been sent without an answer: those sent in vain and, before the intent is done, all of
    /// which nothing is told. An answer may have been on its way to disk while the next action went out already.
    pub(crate) fn in_doubt(self) -> impl Iterator<Item = OpenAction> {
        let done = self.done;
        self.actions.into_values().filter(move |action| action.doubtful || !done)
    }
}
