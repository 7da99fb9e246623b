//! Intents that a restart finds unfinished: what was never sent, and what may have been.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::decide::FORWARD_LIFE_MS;
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
    actions: Vec<Node>,
    nonces: Vec<u64>,
    /// After this nothing of it can take effect; none for the guard's own.
    expires_ms: Option<u64>,
    /// The action of `actions` that carries the expiry.
    forward: Option<usize>,
    answered: BTreeSet<usize>,
    doubtful: BTreeSet<usize>,
    /// A noop with a nonce of it went out.
    burnt: bool,
    done: bool,
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
                let in_doubt = event.pointer("/reply/status").is_none();
                if let Some(open) = self.0.get_mut(&intent) {
                    if in_doubt { &mut open.doubtful } else { &mut open.answered }.insert(index);
                }
            }
            Some("recovered") => {
                let (Some(intent), Some(index)) = (number("intent"), index()) else { return };
                if let Some(open) = self.0.get_mut(&intent) {
                    open.doubtful.remove(&index);
                    open.answered.insert(index);
                }
            }
            Some("done") => {
                if let Some(open) = number("intent").and_then(|intent| self.0.get_mut(&intent)) {
                    open.done = true;
                }
            }
            Some(_) => {
                if is_noop(event)
                    && let Some(open) = number("of").and_then(|of| self.0.get_mut(&of))
                {
                    open.burnt = true;
                }
                if let Some(open) = Open::of(event) {
                    self.0.insert(seq, open);
                }
            }
            None => {}
        }
        self.0.retain(|_, open| !(open.done && open.doubtful.is_empty()));
    }

    /// Takes in an intent that a checkpoint carries.
    pub(super) fn restore_checkpointed(&mut self, record: &Value) {
        let list = record.get("open").and_then(Value::as_array).into_iter().flatten();
        for entry in list {
            let Some(seq) = entry.get("seq").and_then(Value::as_u64) else { continue };
            if let Some(mut open) = Open::of(entry) {
                let doubtful = entry.get("doubtful").and_then(Value::as_array).into_iter().flatten();
                open.doubtful = doubtful.filter_map(|index| usize::try_from(index.as_u64()?).ok()).collect();
                open.answered = (0..entry.get("answered").and_then(Value::as_u64).unwrap_or_default())
                    .filter_map(|index| usize::try_from(index).ok())
                    .collect();
                open.burnt = entry.get("burnt").and_then(Value::as_bool).unwrap_or(false);
                open.done = entry.get("done").and_then(Value::as_bool).unwrap_or(false);
                self.0.insert(seq, open);
            }
        }
    }
}

/// Whether an event is an intent that burns a nonce.
fn is_noop(event: &Value) -> bool {
    event.pointer("/action/type").and_then(Value::as_str) == Some("noop")
}

impl Open {
    /// The actions that an event names, if it is one that sends.
    fn of(event: &Value) -> Option<Self> {
        let nonces: Vec<u64> = event.get("nonces")?.as_array()?.iter().filter_map(Value::as_u64).collect();
        let list = |key: &str| event.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let single = |key: &str| event.get(key).filter(|value| !value.is_null()).cloned();
        let before = [list("actions"), single("action").filter(Value::is_object).into_iter().collect(), list("pre")];
        let mut actions = before.concat();
        let forward = single("forward").map(|forward| {
            actions.push(forward);
            actions.len() - 1
        });
        actions.extend(list("post"));
        let actions: Option<Vec<Node>> =
            actions.iter().map(|action| serde_json::from_value(action.clone()).ok()).collect();
        let expires_ms = event.get("at_ms").and_then(Value::as_u64).map(|at_ms| at_ms.saturating_add(FORWARD_LIFE_MS));
        Some(Self { actions: actions?, nonces, expires_ms, forward, ..Self::default() })
    }

    /// The actions that may have been sent without an answer: those sent in vain, and the first of which nothing is
    /// told. Those after it were not sent, for actions go in order.
    fn in_doubt(&self) -> impl Iterator<Item = usize> + '_ {
        let told = |index: &usize| self.answered.contains(index) || self.doubtful.contains(index);
        let first_untold = (0..self.actions.len()).find(|index| !told(index)).filter(|_| !self.done);
        self.doubtful.iter().copied().chain(first_untold)
    }
}

impl Guard {
    /// Takes up what earlier lives left open.
    pub(super) fn reopen(&mut self, effects: &mut Effects, now_ms: u64) {
        for (intent, open) in std::mem::take(&mut self.open_intents).0 {
            let mut is_held = false;
            for index in open.in_doubt() {
                let (Some(node), Some(nonce)) = (open.actions.get(index), open.nonces.get(index)) else { continue };
                let Ok(action) = Action::parse(node) else { continue };
                if action == Action::Noop {
                    // Nothing depends on what became of it.
                    continue;
                }
                let expires_after_ms = open.expires_ms.filter(|_| open.forward == Some(index));
                let terms = Terms { nonce: *nonce, vault: None, expires_after_ms };
                // What a modify replaces carries the same id, and nobody remembers what the open orders showed before.
                let told_by = match &action {
                    Action::Modify { .. } | Action::BatchModify { .. } => ToldBy::Nothing,
                    _ => ToldBy::CloidSince(0, Vec::new()),
                };
                for (place, order) in action.orders().enumerate() {
                    self.pending.reserve((intent, index, place), order, None, told_by.clone());
                }
                let planned = Planned { role: Role::Forward, action, node: node.clone(), terms };
                self.doubt((intent, index), planned, open.burnt, now_ms);
                if !open.done {
                    self.hold_done((intent, index));
                    is_held = true;
                }
            }
            if !open.done && !is_held {
                let keys = Keys { serves: Some(intent), ..Keys::default() };
                self.record(effects, now_ms, "done", &event::Done { intent }, keys);
            }
        }
    }

    /// The open intents for a checkpoint: those being sent, and those in doubt.
    pub(super) fn checkpoint_open(&self) -> Vec<Value> {
        let live = self.intents.iter().map(|(seq, intent)| {
            json!({
                "seq": seq,
                "actions": intent.actions.iter().map(|planned| &planned.node).collect::<Vec<_>>(),
                "nonces": intent.actions.iter().map(|planned| planned.terms.nonce).collect::<Vec<_>>(),
                "answered": intent.at,
            })
        });
        let doubts = self.doubts.iter().map(|((seq, index), doubt)| {
            let (node, terms, burnt) = doubt.parts();
            // Places before it are filled so that its index holds; they are answered or were told of.
            let actions: Vec<&Node> = std::iter::repeat_n(node, index.saturating_add(1)).collect();
            json!({
                "seq": seq,
                "actions": actions,
                "nonces": vec![terms.nonce; index.saturating_add(1)],
                "answered": index,
                "doubtful": [index],
                "burnt": burnt,
                "done": !doubt.holds_done(),
            })
        });
        live.chain(doubts).collect()
    }
}
