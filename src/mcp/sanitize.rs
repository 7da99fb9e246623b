//! Foreign values made harmless for an agent: bounded, without control characters and without characters that hide or
//! reorder text. Pure.

use serde_json::{Map, Value};

use crate::base::text::visible;

/// Most characters of a text.
const MAX_TEXT: usize = 400;
/// Most items of a list inside a foreign value, most members of an object.
const MAX_ITEMS: usize = 64;
/// Deepest nesting of a foreign value: an action's deepest order lies seven levels down in an event.
const MAX_DEPTH: usize = 10;

/// A foreign text, cleaned and bounded.
pub(super) fn text(text: &str) -> String {
    visible(text, MAX_TEXT)
}

/// A foreign value with every text cleaned and every list bounded.
pub(super) fn value(value: &Value) -> Value {
    at_depth(value, 0)
}

fn at_depth(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(inner) => Value::String(text(inner)),
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => Value::String("…".to_owned()),
        Value::Array(items) => items.iter().take(MAX_ITEMS).map(|item| at_depth(item, depth + 1)).collect(),
        Value::Object(members) => {
            let kept = members.iter().take(MAX_ITEMS);
            Value::Object(
                kept.map(|(key, member)| (visible(key, 64), at_depth(member, depth + 1))).collect::<Map<_, _>>(),
            )
        }
        other => other.clone(),
    }
}
