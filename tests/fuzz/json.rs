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

fn depth(node: &Node) -> usize {
    match node {
        Node::Arr(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Node::Obj(members) => 1 + members.iter().map(|(_, value)| depth(value)).max().unwrap_or(0),
        _ => 0,
    }
}

fn check(input: &[u8]) -> String {
    match Node::parse(input) {
        Ok(node) => {
            assert!(depth(&node) <= MAX_DEPTH);
            let text = node.to_json();
            assert!(text.len() <= input.len(), "grew from {} to {} bytes", input.len(), text.len());
            assert_eq!(Node::parse(text.as_bytes()).as_ref(), Ok(&node));
            let usual: serde_json::Value = serde_json::from_slice(input).unwrap();
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), usual);
            format!("{} {}", node.kind(), "deeper ".repeat(depth(&node).min(4)))
        }
        Err(error) => {
            assert!(error.len() <= 512, "{} bytes of refusal", error.len());
            assert!(!error.chars().any(|letter| letter == '\n'), "{error}");
            error.split('`').next().unwrap_or_default().to_owned()
        }
    }
}

#[test]
fn json() {
    crate::fuzz::run("json", WORDS, check);
}
