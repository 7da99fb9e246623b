//! A journal as a guard of long standing has it: decisions, what was sent for them and their ends, as many as are wanted.

use std::path::Path;

use serde_json::{Value, json};
use svc_guard::journal::{Line, Options, RiskLine, open};
use svc_guard::record::event::Keys;

/// Events between two checkpoints.
pub(crate) const BATCH: u64 = 5_000;

/// Writes so many batches of events at this time (UTC ms) as the guard would have, decisions, what was sent for them and their
/// ends, made from `events` of a guard, with nonces from this one on. Behind each full batch comes a checkpoint.
///
/// # Errors
///
/// Where a kind of event or a checkpoint is missing to make them from, or the journal cannot be written.
pub(crate) fn fill(
    journal: &Path,
    events: &Value,
    nonces: u64,
    (batches, length): (u64, u64),
    at_ms: u64,
) -> Result<(), String> {
    let (mut store, opened) = open(journal, &Options::default()).map_err(|error| error.to_string())?;
    let templates = templates(events)?;
    let parsed = opened.risk.iter().rev().filter_map(|text| serde_json::from_str::<Value>(text).ok());
    let is_checkpoint = |record: &Value| record.get("kind").and_then(Value::as_str) == Some("checkpoint");
    let checkpoint = parsed.into_iter().find(is_checkpoint).ok_or("no checkpoint")?;
    let first = opened.last_seq + 1;
    for batch in 0..batches {
        let line = |place: u64| line(&templates, first + place - place % 3, place, (nonces + place / 3, at_ms));
        let (from, to) = (batch * length, batch * length + length);
        let members = [("seq", json!(first + to - 1)), ("at_ms", json!(at_ms))];
        let risk = (length == BATCH).then(|| RiskLine { text: with_members(&checkpoint, &members) });
        let events = (from..to).map(line).collect();
        store.append(at_ms, events, risk.into_iter().collect()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// A decision, what was sent for one, and its end, as the guard has written them.
pub(crate) fn templates(events: &Value) -> Result<[Value; 3], String> {
    let of_kind = |kind: &str| {
        let list = events.get("events").and_then(Value::as_array);
        let is_it = |event: &&Value| event.get("kind").and_then(Value::as_str) == Some(kind);
        list.into_iter().flatten().rfind(is_it).cloned().ok_or_else(|| format!("no {kind} among the events"))
    };
    Ok([of_kind("decision")?, of_kind("sent")?, of_kind("done")?])
}

/// The event at this place, of the decision with the number `of`.
pub(crate) fn line(templates: &[Value; 3], of: u64, place: u64, (nonce, at_ms): (u64, u64)) -> Line {
    let [decision, sent, done] = templates;
    let seq = ("seq", json!(of + place % 3));
    let at_ms = ("at_ms", json!(at_ms));
    let serves = Keys { serves: Some(of), ..Keys::default() };
    match place % 3 {
        0 => Line {
            text: with_members(decision, &[seq, at_ms, ("nonce", json!(nonce)), ("nonces", json!([nonce]))]),
            keys: Keys { nonce: Some(nonce), ..Keys::default() },
        },
        1 => Line {
            text: with_members(sent, &[seq, at_ms, ("decision", json!(of)), ("nonce", json!(nonce))]),
            keys: serves,
        },
        _ => Line { text: with_members(done, &[seq, at_ms, ("intent", json!(of))]), keys: serves },
    }
}

/// The text of an object with these members instead of its own, and without the place that the journal adds.
fn with_members(template: &Value, members: &[(&str, Value)]) -> String {
    let mut object = template.as_object().cloned().unwrap_or_default();
    for added in ["events_file", "events_offset", "events_chain", "seen", "chain"] {
        object.shift_remove(added);
    }
    object.extend(members.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    Value::Object(object).to_string()
}
