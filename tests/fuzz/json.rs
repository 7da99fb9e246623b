//! JSON of any sender: a tree is no larger than its text, prints and reads back as itself, and agrees with the usual
//! reader; a refusal is a line that can be shown.

use super::*;

const WORDS: &[&str] = &[
    "{}",
    "[]",
    "null",
    "true",
    "\"\"",
    "{\"a\":1,\"a\":2}",
    "\\u0000",
    "\\ud83d\\ude00",
    "\\ud83d",
    "[[[[",
    "]]]]",
    "{\"a\":",
    "-",
    "\u{feff}",
    "\\\"",
    "1,",
    "\"a\":",
];

fn depth(node: &Value) -> usize {
    match node {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn is_exact(node: &Value) -> bool {
    match node {
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(members) => members.len() <= MAX_MEMBERS && members.values().all(is_exact),
        Value::Number(number) => number.is_i64() || number.is_u64(),
        _ => true,
    }
}

fn check(input: &[u8]) -> String {
    match parse(input) {
        Ok(node) => {
            assert!(depth(&node) <= MAX_DEPTH && is_exact(&node));
            let text = node.to_string();
            assert!(text.len() <= input.len(), "grew from {} to {} bytes", input.len(), text.len());
            // Values are equal whatever the order of their keys, and the order is signed: texts are compared.
            assert_eq!(parse(text.as_bytes()).map(|again| again.to_string()), Ok(text.clone()));
            assert_eq!(serde_json::from_slice::<Value>(input).unwrap().to_string(), text);
            format!("{} {}", kind(&node), "deeper ".repeat(depth(&node).min(4)))
        }
        Err(error) => {
            assert!(error.len() <= 512, "{} bytes of refusal", error.len());
            assert!(!error.contains('\n'), "{error}");
            error.split('`').next().unwrap_or_default().to_owned()
        }
    }
}

#[test]
fn json() {
    crate::fuzz::run("json", WORDS, check);
}
