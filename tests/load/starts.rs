//! A start behind a million events: the time until the account is told, the memory then, and a decision looked up by nonce.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc_guard::journal::{Line, Options, RiskLine, open};
use svc_guard::record::event::Keys;

use crate::guard::get;
use crate::phases::{ACCOUNT, Pair, Paper, now_ms, resident_kib};
use crate::samples::{Nanos, Samples};
use crate::watch::spread;

const EVENTS: u64 = 1_000_000;
/// Events between two checkpoints.
const BATCH: u64 = 5_000;
/// Events since the last one, as a crash may leave them.
const TAIL: u64 = 4_998;
const TRIALS: u64 = 5;
const LOOK_UPS: u64 = 200;

/// Measures and prints.
pub(crate) fn print(program: &Path, folder: &Path) -> Result<(), String> {
    let mut pair = Pair::start(program, folder, true, 1)?;
    pair.venue.setting("weight_limit", Value::Null)?;
    Paper::prepare(&pair, 0)?;
    let events = get(&format!("{}/guard/events", pair.guard.url))?;
    pair.guard.terminate()?;
    let journal = pair.guard.file(&format!("journals/testnet-{ACCOUNT}"));
    let nonces = now_ms()? - 2 * EVENTS;
    fill(&journal, &events, nonces, (EVENTS / BATCH, BATCH))?;
    let (mut started, mut found, mut resident) = (Samples::default(), Samples::default(), 0);
    for trial in 0..TRIALS {
        // Each start is the first of its minute.
        let _ = std::fs::remove_file(pair.guard.file("run/weight"));
        pair.guard.terminate()?;
        fill(&journal, &events, nonces + EVENTS + trial * TAIL, (1, TAIL))?;
        let begun = Instant::now();
        pair.guard.restart()?;
        started.add(Nanos::of(begun.elapsed()));
        std::thread::sleep(Duration::from_secs(2));
        resident = resident.max(resident_kib(&pair.guard)?);
        for number in 0..LOOK_UPS {
            let nonce = nonces + (number * TRIALS + trial) * (EVENTS / 3) / (LOOK_UPS * TRIALS);
            let begun = Instant::now();
            get(&format!("{}/guard/decision?nonce={nonce}", pair.guard.url))?;
            found.add(Nanos::of(begun.elapsed()));
        }
    }
    println!("start behind {EVENTS} events, until the account is told, {TRIALS} trials, ms: {}", spread(&started));
    println!("resident 2 s later, KiB at most: {resident}");
    println!("decision by nonce, {} of them: p50 {}, p99 {}", found.len(), found.percentile(50), found.percentile(99));
    Ok(())
}

/// Writes so many batches of events as the guard would have, decisions, what was sent for them and their ends, with nonces
/// from this one on. Behind each full batch comes a checkpoint.
fn fill(journal: &Path, events: &Value, nonces: u64, (batches, length): (u64, u64)) -> Result<(), String> {
    let (mut store, opened) = open(journal, &Options::default()).map_err(|error| error.to_string())?;
    let templates = templates(events)?;
    let parsed = opened.risk.iter().rev().filter_map(|text| serde_json::from_str::<Value>(text).ok());
    let is_checkpoint = |record: &Value| record.get("kind").and_then(Value::as_str) == Some("checkpoint");
    let checkpoint = parsed.into_iter().find(is_checkpoint).ok_or("no checkpoint")?;
    let first = opened.last_seq + 1;
    for batch in 0..batches {
        let at_ms = now_ms()?;
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
