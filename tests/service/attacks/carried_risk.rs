//! A risk journal that grew for years is carried over into a small file, and nothing that matters is lost with the old one.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use svc_guard::journal::{Options, RiskLine, open};

use crate::stand::{Mode, Stand, run_with, until};

/// Bytes of superseded checkpoints: more than are kept in one file.
const GROWN: usize = 5 * 1024 * 1024;

fn state(stand: &Stand) -> Value {
    let risk = &stand.status()["risk"];
    json!([risk["state"], risk["peak_equity"], risk["day_start_equity"]])
}

/// Appends what the next lives would: checkpoints that say what the last one said.
fn grow(stand: &Stand) {
    let (mut store, opened) = open(&stand.journal(), &Options::default()).unwrap();
    let is_checkpoint = |record: &Value| record["kind"] == "checkpoint";
    let records = opened.risk.iter().rev().map(|text| serde_json::from_str::<Value>(text).unwrap());
    let mut checkpoint = records.into_iter().find(is_checkpoint).unwrap();
    let object = checkpoint.as_object_mut().unwrap();
    for added in ["events_file", "events_offset", "events_chain", "seen", "chain"] {
        object.shift_remove(added);
    }
    let at_ms = object["at_ms"].as_u64().unwrap();
    let text = checkpoint.to_string();
    for _ in 0..=GROWN / (text.len() * 100) {
        store.append(at_ms, Vec::new(), vec![RiskLine { text: text.clone() }; 100]).unwrap();
    }
}

#[test]
fn a_risk_journal_that_grew_is_carried_over_with_all_that_matters() {
    let mut stand = Stand::up(Mode::Paper, "");
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "4", "entry_px": "2500"})).unwrap();
    until("the position", || stand.status()["positions"].as_array().filter(|found| !found.is_empty()).map(|_| ()));
    stand.venue.control(&json!({"op": "price", "coin": "ETH", "px": "2000"})).unwrap();
    until("the halt", || (stand.status()["risk"]["state"] == "stopped").then_some(()));
    let before = state(&stand);
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    grow(&stand);
    let risk = |name: &str| stand.journal().join(name);
    let (old, new) = (risk("risk.jsonl"), risk("risk.1.jsonl"));
    assert!(fs::metadata(&old).unwrap().len() > 4 * 1024 * 1024);
    stand.start();
    assert_eq!(state(&stand), before);
    assert!(fs::metadata(&new).unwrap().len() < 256 * 1024, "carried over, and no more than what matters");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    // The old file may go as the manual says: the new one holds all that a start needs.
    fs::remove_file(&old).unwrap();
    fs::write(old.with_extension("jsonl.away"), "").unwrap();
    stand.start();
    assert_eq!(state(&stand), before);
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    // A cut of the new one is found as of any.
    let text = fs::read_to_string(&new).unwrap();
    let kept: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&new, kept[..kept.len() - 2].concat()).unwrap();
    fs::write(stand.journal().join("tail.redo"), "").unwrap();
    let output = run_with(&stand.home(), &stand.run_args(), "");
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}
