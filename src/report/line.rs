//! The parts of a line that a report reads: its number, time and kind at the head, and the body only where it counts.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::base::address::Cloid;
use crate::base::amount::parse_count;
use crate::base::cloid_prefix::{GUARD, is_derived};
use crate::record::lack::Lack;

/// The head of an event.
#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(super) struct Head<'a> {
    pub(super) seq: u64,
    pub(super) at_ms: u64,
    #[serde(borrow)]
    pub(super) kind: Cow<'a, str>,
}

impl<'a> Head<'a> {
    /// Reads it as it is written, without looking at the rest of the line; other forms of it as any JSON. `None` where
    /// the line is no event.
    pub(super) fn of(line: &'a str) -> Option<Head<'a>> {
        Head::as_written(line).or_else(|| serde_json::from_str(line).ok().filter(|_| line.starts_with('{')))
    }

    fn as_written(line: &'a str) -> Option<Head<'a>> {
        let (seq, rest) = up_to(line.strip_prefix("{\"seq\":")?, b',')?;
        let (at_ms, rest) = up_to(rest.strip_prefix(",\"at_ms\":")?, b',')?;
        let (kind, _) = up_to(rest.strip_prefix(",\"kind\":\"")?, b'"')?;
        let kind = Some(kind).filter(|kind| kind.bytes().all(|byte| byte.is_ascii_lowercase()))?;
        Some(Head { seq: parse_count(seq)?, at_ms: parse_count(at_ms)?, kind: Cow::Borrowed(kind) })
    }
}

/// A text up to a byte, and the rest from that on.
fn up_to(text: &str, byte: u8) -> Option<(&str, &str)> {
    text.split_at_checked(text.bytes().position(|at| at == byte)?)
}

/// What every decision tells.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Verdict<'a> {
    #[serde(borrow)]
    pub(super) verdict: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) code: Cow<'a, str>,
    pub(super) client: Option<String>,
    pub(super) count: Option<u64>,
}

/// What became of an action.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outcome<'a> {
    /// The event that named it, of a `sent`.
    pub(super) decision: u64,
    /// The event that named it, of a `recovered`.
    pub(super) intent: u64,
    pub(super) index: usize,
    pub(super) ok: bool,
    pub(super) reply: Value,
    #[serde(borrow)]
    pub(super) outcome: Cow<'a, str>,
}

impl Outcome<'_> {
    /// Whether the venue answered: its answers have a status, and the guard's own note of a send without one has none.
    pub(super) fn is_answered(&self) -> bool {
        self.reply.get("status").is_some()
    }
}

/// What went wrong.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Trouble<'a> {
    #[serde(borrow)]
    pub(super) text: Cow<'a, str>,
    /// Of when rows may be missing in the book for it.
    pub(super) lacks: Option<Lack>,
}

/// The state of the risk.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RiskState<'a> {
    #[serde(borrow)]
    pub(super) state: Cow<'a, str>,
}

/// How the ids of the guard's own stops and closes begin, as they are written.
const OWN: &str = "0x73766367726401";

/// Whether the text may name an order of the guard's own: only then the actions in a line are read.
pub(super) fn may_name_own(text: &str) -> bool {
    text.contains(OWN)
}

/// Whether this is the id of an order of the guard's own.
pub(super) fn is_own(cloid: &Cloid) -> bool {
    is_derived(cloid) && cloid.0.get(GUARD.len()) == Some(&1)
}

/// The event that the id of an order of the guard's own was made for: its last seven bytes.
pub(super) fn event_in(cloid: &Cloid) -> u64 {
    let bytes = cloid.0.iter().skip(GUARD.len().saturating_add(3));
    bytes.fold(0, |seq, byte| (seq << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hex::to_hex;
    use crate::record::event::Event;

    #[test]
    fn the_head_is_read_as_written_and_as_any_json() {
        for line in [
            r#"{"seq":7,"at_ms":9,"kind":"fill","coin":"ETH","chain":"0"}"#,
            r#"{"kind":"fill","at_ms":9,"seq":7}"#,
            r#"{"seq":7,"at_ms":9,"kind":"\u0066ill"}"#,
        ] {
            let read = Head::of(line).unwrap();
            assert_eq!((read.seq, read.at_ms, read.kind.as_ref()), (7, 9, "fill"));
        }
        for line in ["", "[7,9,\"fill\"]", "{\"seq\":7", "null"] {
            assert_eq!(Head::of(line), None, "{line}");
        }
    }

    #[test]
    fn heads_of_real_events_are_those_that_an_event_has() {
        for line in include_str!("../../tests/data/golden_events.jsonl").lines() {
            let (head, event) = (Head::of(line).unwrap(), Event::parse(line).unwrap());
            assert_eq!((head.seq, head.at_ms, head.kind.as_ref()), (event.seq, event.at_ms, event.kind.name()));
        }
    }

    #[test]
    fn ids_of_own_orders_are_known_by_their_beginning() {
        let cloid: Cloid = "0x73766367726401000200000000000104".parse().unwrap();
        assert!(is_own(&cloid) && may_name_own(&cloid.to_string()));
        assert_eq!((event_in(&cloid), to_hex(&GUARD) + "01"), (0x104, OWN.to_owned()));
        assert!(!is_own(&"0x73766367726400000200000000000104".parse().unwrap()));
    }
}
