//! Intents that a restart finds unfinished: what was never sent, and what may have been.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::decide::FORWARD_LIFE_MS;
use super::doubt::{Outcome, Proof, says_duplicate};
use super::effect::{Effects, Keys};
use super::event;
use super::intent::{Planned, Role};
use super::pending::ToldBy;
use super::state::Guard;
use crate::venue::action::Action;
use crate::venue::json::Node;
use crate::venue::signing::Terms;

/// An intent as the journal tells it.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// Its actions of which nothing final is told, by their place.
    actions: BTreeMap<usize, OpenAction>,
    done: bool,
}

/// One action of it, as a checkpoint carries it.
#[derive(Debug, Serialize, Deserialize)]
struct OpenAction {
    index: usize,
    action: Node,
    nonce: u64,
    /// After this it can no longer take effect; none for the guard's own.
    expires_ms: Option<u64>,
    /// It went out, and no answer came.
    doubtful: bool,
    /// By then a noop had shown that its nonce was used up.
    used_ms: Option<u64>,
}

/// The intents of earlier lives that are not settled.
#[derive(Debug, Default)]
pub(super) struct OpenIntents(BTreeMap<u64, Open>);

impl OpenIntents {
    /// Takes in an event of an earlier life.
    pub(super) fn restore(&mut self, event: &Value) {
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
    pub(super) fn restore_checkpointed(&mut self, record: &Value) {
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
    fn in_doubt(self) -> impl Iterator<Item = OpenAction> {
        let done = self.done;
        self.actions.into_values().filter(move |action| action.doubtful || !done)
    }
}

impl Guard {
    /// Takes up what earlier lives left open.
    pub(super) fn reopen(&mut self, effects: &mut Effects, now_ms: u64) {
        for (intent, open) in std::mem::take(&mut self.open_intents).0 {
            let (is_done, mut is_held) = (open.done, false);
            for OpenAction { index, action: node, nonce, expires_ms, used_ms, .. } in open.in_doubt() {
                let Ok(action) = Action::parse(&node) else { continue };
                if action == Action::Noop {
                    self.idle_action(effects, (intent, index), &node, nonce, now_ms);
                    continue;
                }
                let terms = Terms { nonce, vault: None, expires_after_ms: expires_ms };
                // What a modify replaces carries the same id, and nobody remembers what the open orders showed before.
                let told_by = match &action {
                    Action::Modify { .. } | Action::BatchModify { .. } => ToldBy::Nothing,
                    _ => ToldBy::CloidSince(0, Vec::new()),
                };
                for (place, order) in action.orders().enumerate() {
                    self.pending.reserve((intent, index, place), order, None, told_by.clone());
                }
                let planned = Planned { role: Role::Forward, action, node, terms };
                let proof = used_ms.map_or(Proof::Wanted, Proof::Used);
                self.doubt((intent, index), planned, proof, now_ms);
                if !is_done {
                    self.hold_done((intent, index));
                    is_held = true;
                }
            }
            if !is_done && !is_held {
                let keys = Keys { serves: Some(intent), ..Keys::default() };
                self.record(effects, now_ms, "done", &event::Done { intent }, keys);
            }
        }
    }

    /// Tells of a noop without an answer: it does nothing, so its effect holds, and nothing depends on it.
    fn idle_action(
        &mut self,
        effects: &mut Effects,
        (intent, index): (u64, usize),
        node: &Node,
        nonce: u64,
        now_ms: u64,
    ) {
        let evidence = [json!({"request": {"type": "noop", "nonce": nonce}, "reply": null})];
        let body = event::Recovered { intent, index, action: node, outcome: Outcome::Moot.name(), evidence: &evidence };
        let keys = Keys { serves: Some(intent), ..Keys::default() };
        self.record(effects, now_ms, "recovered", &body, keys);
    }

    /// The open intents for a checkpoint: those being sent, and those in doubt.
    pub(super) fn checkpoint_open(&self) -> Vec<Value> {
        let mut open: BTreeMap<u64, (Vec<OpenAction>, bool)> = BTreeMap::new();
        for (seq, intent) in &self.intents {
            let unsent = intent.actions.iter().enumerate().skip(intent.at).map(|(index, planned)| OpenAction {
                index,
                action: planned.node.clone(),
                nonce: planned.terms.nonce,
                expires_ms: planned.terms.expires_after_ms,
                doubtful: false,
                used_ms: None,
            });
            open.insert(*seq, (unsent.collect(), false));
        }
        for ((seq, index), doubt) in &self.doubts {
            let (actions, done) = open.entry(*seq).or_insert((Vec::new(), true));
            *done = *done && !doubt.holds_done;
            actions.push(OpenAction {
                index: *index,
                action: doubt.node.clone(),
                nonce: doubt.terms.nonce,
                expires_ms: doubt.terms.expires_after_ms,
                doubtful: true,
                used_ms: doubt.used_ms(),
            });
        }
        let entry = |(seq, (actions, done))| json!({"seq": seq, "done": done, "actions": actions});
        open.into_iter().map(entry).collect()
    }
}
