//! Intents that the journal shows unfinished: what was never sent, and what may have been.

use crate::guard::state::in_doubt::says_duplicate;
use crate::guard::state::intent::FORWARD_LIFE_MS;
use crate::venue::json::Node;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// An intent as the journal tells it.
#[derive(Debug, Default)]
pub(crate) struct Open {
    /// Its actions of which nothing final is told, by their place.
    actions: BTreeMap<usize, OpenAction>,
    pub(crate) done: bool,
}

/// One action of it, as a checkpoint carries it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OpenAction {
    pub(crate) index: usize,
    pub(crate) action: Node,
    pub(crate) nonce: u64,
    /// After this it can no longer take effect; none for the guard's own.
    pub(crate) expires_ms: Option<u64>,
    /// It went out, and no answer came.
    pub(crate) doubtful: bool,
    /// By then a noop had shown that its nonce was used up.
    pub(crate) used_ms: Option<u64>,
}

/// The intents of earlier lives that are not settled.
#[derive(Debug, Default)]
pub(crate) struct OpenIntents(pub(crate) BTreeMap<u64, Open>);

impl OpenIntents {
    /// Takes in an event of an earlier life.
    pub(crate) fn restore(&mut self, event: &Value) {
        let number = |key: &str| event.get(key).and_then(Value::as_u64);
        let index = || number("index").and_then(|index| usize::try_from(index).ok());
        let Some(seq) = number("seq") else { return };
        match event.get("kind").and_then(Value::as_str) {
            Some("sent") => {
                let (Some(intent), Some(index)) = (number("decision"), index()) else { return };
                let Some(open) = self.0.get_mut(&intent) else { return };
                if let Some(status) = event.pointer("/reply/status") {
                    let answered = open.actions.remove(&index);
                    let used_ms = number("at_ms").filter(|_| status == "err" && is_duplicate(event));
                    if let (Some(noop), Some(used_ms)) = (answered, used_ms) {
                        self.used(noop.nonce, used_ms);
                    }
                } else if let Some(action) = open.actions.get_mut(&index) {
                    action.doubtful = true;
                }
            }
            Some("recovered") => {
                let (Some(intent), Some(index)) = (number("intent"), index()) else { return };
                if let Some(open) = self.0.get_mut(&intent) {
                    open.actions.remove(&index);
                }
            }
            Some("done") => {
                if let Some(open) = number("intent").and_then(|intent| self.0.get_mut(&intent)) {
                    open.done = true;
                }
            }
            Some(_) => {
                if let Some(open) = Open::of(event) {
                    self.0.insert(seq, open);
                }
            }
            None => {}
        }
        self.0.retain(|_, open| !open.done || open.actions.values().any(|action| action.doubtful));
    }

    /// Takes in that a nonce was used up.
    fn used(&mut self, nonce: u64, at_ms: u64) {
        let actions = self.0.values_mut().flat_map(|open| open.actions.values_mut());
        actions.filter(|action| action.nonce == nonce).for_each(|action| action.used_ms = Some(at_ms));
    }

    /// Takes in the intents that a checkpoint carries.
    pub(crate) fn restore_checkpointed(&mut self, record: &Value) {
        let list = record.get("open").and_then(Value::as_array).into_iter().flatten();
        for entry in list {
            let Some(seq) = entry.get("seq").and_then(Value::as_u64) else { continue };
            let actions = entry.get("actions").cloned().unwrap_or_default();
            let Ok(actions) = serde_json::from_value::<Vec<OpenAction>>(actions) else { continue };
            let done = entry.get("done").and_then(Value::as_bool).unwrap_or(false);
            let actions = actions.into_iter().map(|action| (action.index, action)).collect();
            self.0.insert(seq, Open { actions, done });
        }
    }
}

/// Whether the venue's answer was that the nonce is taken already.
fn is_duplicate(event: &Value) -> bool {
    event.pointer("/reply/response").and_then(Value::as_str).is_some_and(says_duplicate)
}

impl Open {
    /// The actions that an event names, if it is one that sends.
    fn of(event: &Value) -> Option<Self> {
        let nonces: Vec<u64> = event.get("nonces")?.as_array()?.iter().filter_map(Value::as_u64).collect();
        let list = |key: &str| event.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let single = |key: &str| event.get(key).filter(|value| value.is_object()).cloned();
        let mut named: Vec<Value> = list("actions").into_iter().chain(single("action")).chain(list("pre")).collect();
        let forward = single("forward").map(|forward| {
            named.push(forward);
            named.len() - 1
        });
        named.extend(list("post"));
        let at_ms = event.get("at_ms").and_then(Value::as_u64).unwrap_or_default();
        let mut actions = BTreeMap::new();
        for (index, (action, nonce)) in named.into_iter().zip(nonces).enumerate() {
            let action = serde_json::from_value(action).ok()?;
            // The nonce is the venue's time then, or later.
            let expires_ms = (forward == Some(index)).then(|| at_ms.max(nonce).saturating_add(FORWARD_LIFE_MS));
            actions.insert(index, OpenAction { index, action, nonce, expires_ms, doubtful: false, used_ms: None });
        }
        Some(Self { actions, done: false })
    }

    /// The actions that may have been sent without an answer: those sent in vain and, before the intent is done, all of
    /// which nothing is told. An answer may have been on its way to disk while the next action went out already.
    pub(crate) fn in_doubt(self) -> impl Iterator<Item = OpenAction> {
        let done = self.done;
        self.actions.into_values().filter(move |action| action.doubtful || !done)
    }
}
