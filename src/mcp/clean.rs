//! What others wrote, made harmless for an agent: bounded, without control characters and without characters that
//! hide or reorder text. Pure.

use serde_json::{Map, Value};

/// Most characters of a text of the guard's or the venue's.
pub(super) const MAX_TEXT: usize = 400;
/// Most items of a list inside a foreign value, most members of an object.
const MAX_ITEMS: usize = 64;
/// Deepest nesting of a foreign value: an action's deepest order lies seven levels down in an event.
const MAX_DEPTH: usize = 10;

/// `text` on one line, without what does not show, cut to `most` characters.
pub(crate) fn text(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for (count, letter) in text.chars().filter_map(seen).enumerate() {
        if count >= most {
            shown.push('…');
            break;
        }
        shown.push(letter);
    }
    shown
}

/// A letter as it may be shown: white space of any kind as a space, what does not show not at all.
fn seen(letter: char) -> Option<char> {
    let hides = matches!(u32::from(letter),
        0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x2800 | 0x3164 | 0xFFA0
        | 0x1D173..=0x1D17A | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFE00..=0xFE0F | 0xFEFF
        | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF);
    match letter {
        '\n' | '\r' | '\t' => Some(' '),
        _ if letter.is_control() || hides => None,
        _ => Some(letter),
    }
}

/// A foreign value with every text cleaned and every list bounded.
pub(super) fn value(value: &Value) -> Value {
    at_depth(value, 0)
}

fn at_depth(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(inner) => Value::String(text(inner, MAX_TEXT)),
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => Value::String("…".to_owned()),
        Value::Array(items) => items.iter().take(MAX_ITEMS).map(|item| at_depth(item, depth + 1)).collect(),
        Value::Object(members) => {
            let kept = members.iter().take(MAX_ITEMS);
            Value::Object(kept.map(|(key, member)| (text(key, 64), at_depth(member, depth + 1))).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}
