//! Grows JSON as a tree, so that it stays JSON: what is wrong with it then is left to the readers behind the first.

use serde_json::{Value, json};

use super::mutate::{Mutator, NUMBERS};

/// A tree is taken from inputs that are JSON; of the others nothing is grown here.
pub(super) fn grow(mutator: &mut Mutator, pool: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut tree = pick(mutator, pool)?;
    for _ in 0..=mutator.few() {
        let count = count(&tree);
        let chosen = mutator.below(count);
        let other = pick(mutator, pool);
        if let Some(node) = nth(&mut tree, &mut { chosen }) {
            change(mutator, node, other);
        }
    }
    Some(tree.to_string().into_bytes())
}

fn pick(mutator: &mut Mutator, pool: &[Vec<u8>]) -> Option<Value> {
    let chosen = mutator.below(pool.len());
    serde_json::from_slice(&pool[chosen]).ok()
}

fn children(node: &mut Value) -> Box<dyn Iterator<Item = &mut Value> + '_> {
    match node {
        Value::Array(items) => Box::new(items.iter_mut()),
        Value::Object(members) => Box::new(members.values_mut()),
        _ => Box::new(std::iter::empty()),
    }
}

fn count(node: &Value) -> usize {
    1 + match node {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0_usize,
    }
}

/// The node that is met `left` nodes after this one.
fn nth<'a>(node: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if *left == 0 {
        return Some(node);
    }
    *left -= 1;
    children(node).find_map(|child| nth(child, left))
}

fn change(mutator: &mut Mutator, node: &mut Value, other: Option<Value>) {
    match node {
        Value::Object(members) if !members.is_empty() && mutator.below(3) > 0 => {
            let keys: Vec<String> = members.keys().cloned().collect();
            let key = &keys[mutator.below(keys.len())];
            match mutator.below(4) {
                0 => drop(members.shift_remove(key)),
                // To the end: the order of keys is signed by some clients.
                1 => {
                    let value = members.shift_remove(key).unwrap_or_default();
                    members.insert(key.clone(), value);
                }
                2 => drop(members.insert(mutator.word().to_owned(), json!(1))),
                _ => {
                    let strange = other.as_ref().and_then(Value::as_object).into_iter().flatten().next();
                    members.extend(strange.map(|(key, value)| (key.clone(), value.clone())));
                }
            }
        }
        Value::Array(items) if !items.is_empty() && mutator.below(3) > 0 => {
            let chosen = mutator.below(items.len());
            match mutator.below(3) {
                0 => drop(items.remove(chosen)),
                1 => items.push(items[chosen].clone()),
                _ => items.extend(other),
            }
        }
        Value::String(text) if mutator.below(3) > 0 => {
            let mut bytes = std::mem::take(text).into_bytes();
            mutator.change_bytes(&mut bytes);
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        Value::Bool(is) if mutator.below(2) > 0 => *is = !*is,
        _ => *node = leaf(mutator, other),
    }
}

fn leaf(mutator: &mut Mutator, other: Option<Value>) -> Value {
    let number = mutator.pick(NUMBERS);
    match mutator.below(6) {
        0 => Value::Null,
        1 => json!(mutator.word()),
        2 => json!(number),
        3 => other.unwrap_or_default(),
        4 => json!([]),
        _ => serde_json::from_str(number).unwrap_or_default(),
    }
}
