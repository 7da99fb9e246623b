//! The orders that are about to go: those that an event names to be cancelled or replaced, until that has reached the venue.
//! Told by what the guard writes down before it sends anything, never by what it takes to be there.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::guard::state::sent::cancel::targets;
use crate::venue::action::{Action, Target};

/// The orders that go, by the action that takes them: its event and its place there.
#[derive(Debug, Default)]
pub(super) struct Leaving(BTreeMap<(u64, usize), Vec<Target>>);

impl Leaving {
    /// Takes in an event.
    pub(super) fn note(&mut self, text: &str) {
        if !["cancel", "odify", "\"done\""].iter().any(|word| text.contains(word)) {
            return;
        }
        let event: Value = serde_json::from_str(text).unwrap();
        let number = |name: &str| event[name].as_u64().unwrap_or_default();
        if event["kind"] == "done" {
            self.0.retain(|(intent, _), _| *intent != number("intent"));
            return;
        }
        let lists = ["pre", "forward", "post", "actions"].map(|name| event[name].clone());
        let own = if event["kind"] == "intent" { event["action"].clone() } else { Value::Null };
        let actions = lists.into_iter().chain([own]).flat_map(|part| match part {
            Value::Array(all) => all,
            Value::Null => Vec::new(),
            one => vec![one],
        });
        for (index, action) in actions.enumerate() {
            let targets = Action::parse(&action).map(|action| targets(&action)).unwrap_or_default();
            if !targets.is_empty() {
                self.0.insert((number("seq"), index), targets);
            }
        }
    }

    /// It has reached the venue.
    pub(super) fn arrived(&mut self, key: (u64, usize)) {
        self.0.remove(&key);
    }

    /// What goes, but for what this event names itself.
    pub(super) fn but(&self, intent: u64) -> Vec<Target> {
        self.0
            .iter()
            .filter(|((other, _), _)| *other != intent)
            .flat_map(|(_, targets)| targets.iter().copied())
            .collect()
    }
}
