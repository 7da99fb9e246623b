//! The part of a refused request that is kept: in its event, and, where no client signed it, while it waits to be refused.

use std::borrow::Cow;

use serde_json::json;

use crate::base::text::short;
use crate::venue::json::Node;

/// The length of what an event keeps of a refused request, as JSON.
pub(crate) const KEPT_BYTES: usize = 4_096;

/// The same of one of many: a client that is refused without a pause fills no disk.
pub(crate) const KEPT_OF_MANY_BYTES: usize = 512;

/// Room for the members beside the request's first bytes.
const MEMBERS_BYTES: usize = 256;

/// A refused request as its event keeps it: whole, or its type, its length and its first bytes.
pub(crate) fn kept<'a>(request: &'a Node, action: &str, most: usize) -> Cow<'a, Node> {
    let text = request.to_string();
    if text.len() <= most {
        return Cow::Borrowed(request);
    }
    let mut left = most.saturating_sub(MEMBERS_BYTES);
    let fits = |letter: &char| {
        // In a string of JSON, as which it is kept; a tree's own text has no control character.
        let cost = letter.len_utf8() + usize::from(matches!(letter, '"' | '\\'));
        left.checked_sub(cost).inspect(|rest| left = *rest).is_some()
    };
    let start: String = text.chars().take_while(fits).collect();
    Cow::Owned(json!({"type": action, "bytes": text.len(), "unparsed": start}))
}

/// The same, as its event is going to keep it.
pub(crate) fn kept_short(request: &Node) -> Node {
    kept(request, &type_of(Some(request)), KEPT_BYTES).into_owned()
}

/// What an action calls itself.
pub(crate) fn type_of(received: Option<&Node>) -> String {
    let name = received.and_then(|node| node.get("type")).and_then(Node::as_str);
    name.map_or_else(|| "unknown".to_owned(), short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_request_is_kept_whole_up_to_4_kib() {
        kept_up_to(KEPT_BYTES);
    }

    #[test]
    fn one_of_many_is_kept_whole_up_to_512_bytes() {
        kept_up_to(KEPT_OF_MANY_BYTES);
    }

    #[test]
    fn what_waits_is_kept_as_its_event_keeps_it() {
        for request in [json!({"type": "x", "a": 1}), json!({"a": "y".repeat(9_000)}), json!(["z".repeat(9_000)])] {
            let waits = kept_short(&request);
            let of = |request: &Node| kept(request, &type_of(Some(request)), KEPT_BYTES).into_owned().to_string();
            assert_eq!(of(&waits), of(&request));
            assert!(waits.to_string().len() <= KEPT_BYTES);
        }
    }

    fn kept_up_to(most: usize) {
        let of = |length: usize, filler: &str| json!({"type": "x", "note": filler.repeat(length)});
        let members = of(0, "").to_string().len();
        let whole = of(most - members, "y");
        assert_eq!(*kept(&whole, "x", most), whole);
        for filler in ["y", "\"", "\\", "\u{1}", "é"] {
            let request = of(most - members + 1, filler);
            let kept = kept(&request, "x", most).into_owned();
            assert!(kept.to_string().len() <= most, "{filler:?}: {}", kept.to_string().len());
            assert!(kept["unparsed"].as_str().unwrap().len() > (most - MEMBERS_BYTES) / 3);
            assert_eq!((&kept["type"], &kept["bytes"]), (&json!("x"), &json!(request.to_string().len())));
        }
    }
}
