//! How the two journals vouch for each other. Each risk record names the place of the event journal that it was written at,
//! and the first event after a risk record says what the risk journal held by then: a last member of its line,
//! `"seen":"<file> <byte> <chain>"`, which is the journal's own as `chain` is, and is taken off where events are read. A journal
//! that was cut or put in another's place then ends before what the other one saw of it.

use std::borrow::Cow;

use serde::Deserialize;

use super::segment::{Position, Segment};

const KEY: &str = ",\"seen\":\"";

/// An event's text with what the risk journal holds.
pub(super) fn with_seen(text: &str, risk: &Position) -> String {
    let inner = text.strip_suffix('}').unwrap_or(text);
    format!("{inner}{KEY}{} {} {}\"}}", risk.segment.name(), risk.offset, risk.chain)
}

/// An event's text as it was published, and what its line says of the risk journal.
pub(super) fn take_seen(text: &str) -> (Cow<'_, str>, Option<Position>) {
    let taken = text.strip_suffix("\"}").and_then(|inner| {
        // No text inside an event can hold this unescaped.
        let (event, seen) = inner.rsplit_once(KEY)?;
        let mut parts = seen.split(' ');
        let segment = Segment::parse(parts.next()?)?;
        let (offset, chain) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some((format!("{event}}}"), Position { segment, offset, chain }))
    });
    match taken {
        Some((event, seen)) => (Cow::Owned(event), Some(seen)),
        None => (Cow::Borrowed(text), None),
    }
}

/// The place of the event journal that a risk record names.
pub(super) fn place_of(record: &str) -> Option<Position> {
    #[derive(Deserialize)]
    struct Place {
        events_file: String,
        events_offset: u64,
        events_chain: String,
    }
    let at = record.rfind(",\"events_file\":")?;
    let place: Place = serde_json::from_str(&format!("{{{}", record.get(at + 1..)?)).ok()?;
    let (segment, chain) = (Segment::parse(&place.events_file)?, place.events_chain.parse().ok()?);
    Some(Position { segment, offset: place.events_offset, chain })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::chain::Chain;

    #[test]
    fn what_was_put_on_is_taken_off() {
        let segment = Segment { day: None, n: 3 };
        let risk = Position { segment, offset: 1234, chain: Chain::START };
        let event = r#"{"seq":1,"text":"\",\"seen\":\"risk.jsonl 1 0000000000000000"}"#;
        let line = with_seen(event, &risk);
        assert!(line.ends_with(r#","seen":"risk.3.jsonl 1234 0000000000000000"}"#), "{line}");
        assert_eq!(take_seen(&line), (Cow::Owned(event.to_owned()), Some(risk)));
        assert_eq!(take_seen(event), (Cow::Borrowed(event), None));
        let inside = r#"{"seq":1,"action":{"a":1,"seen":"risk.jsonl 1 0000000000000000"}}"#;
        assert_eq!(take_seen(inside), (Cow::Borrowed(inside), None));
    }
}
