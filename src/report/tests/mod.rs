//! The report over journals written by hand and at random.

mod days;
mod deeds;
mod late_rows;
mod many;
mod missing;
mod named;
mod noted;
mod random;
mod uncompared;
mod written;

use serde_json::{Value, json};

use super::{By, Question, Report};
use crate::base::day::Day;

const DAY: u64 = 86_400_000;

/// All days, a row each.
fn whole() -> Question {
    Question { mode: "testnet".to_owned(), account: "0xaa".to_owned(), from: None, to: None, by: By::Day }
}

fn day(number: u32) -> Day {
    Day::from_number(number).unwrap()
}

fn report(question: Question) -> Report {
    Report::new(question)
}

/// An event as a line of the journal.
fn line(seq: u64, event: &Value) -> String {
    let mut event = event.clone();
    let event = event.as_object_mut().unwrap();
    let (at_ms, kind) = (event.remove("at_ms").unwrap(), event.remove("kind").unwrap());
    let mut whole = json!({"seq": seq, "at_ms": at_ms, "kind": kind});
    whole.as_object_mut().unwrap().append(event);
    whole["chain"] = json!("0000000000000000");
    whole.to_string()
}

/// The report about these events, numbered from 1.
fn reported(question: Question, events: &[Value]) -> Value {
    let mut report = report(question);
    for (seq, event) in (1..).zip(events) {
        report.take(&line(seq, event), true);
    }
    Value::Object(report.finish().to_json())
}
