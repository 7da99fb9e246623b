//! Days of the journal that its owner compressed or moved away as the manual says are no damage, and come back with their
//! files. Days that are simply gone are damage, which is told of; the guard works on in either case.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use svc_guard::journal::{Line, Options, open};
use svc_guard::record::event::Keys;

use crate::stand::{Mode, Stand, until};

const DAY_MS: u64 = 86_400_000;

/// A home whose journal holds a decision a day, of these nonces, of the last days before today; of the last of them so many.
fn with_days(days: u64, last: u64) -> (Stand, Vec<u64>) {
    let donor = Stand::up(Mode::Paper, "");
    donor.send(&json!({"type": "noop"}));
    let decision = donor.events_of("decision").pop().unwrap();
    let mut stand = Stand::set_up(Mode::Paper, "");
    let (mut store, opened) = open(&stand.journal(), &Options::default()).unwrap();
    let now_ms = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let mut seq = opened.last_seq;
    let mut line = |at_ms: u64, nonce: u64| {
        let mut event = decision.as_object().unwrap().clone();
        event.shift_remove("chain");
        seq += 1;
        event.extend([("seq", seq), ("at_ms", at_ms), ("nonce", nonce)].map(|(key, n)| (key.to_owned(), json!(n))));
        Line { text: Value::Object(event).to_string(), keys: Keys { nonce: Some(nonce), ..Keys::default() } }
    };
    let nonces = (0..days).map(|number| {
        let at_ms = now_ms - (days - number) * DAY_MS;
        let many = if number + 1 == days { last } else { 1 };
        let lines = (0..many).map(|more| line(at_ms, at_ms + more)).collect();
        store.append(at_ms, lines, Vec::new()).unwrap();
        at_ms
    });
    let nonces = nonces.collect();
    drop(store);
    // The first life reads them all, and its end leaves a checkpoint behind them.
    stand.start();
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    (stand, nonces)
}

fn is_damaged(stand: &Stand) -> bool {
    stand.status()["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "journal_damaged")
}

fn finds(stand: &Stand, nonce: u64) -> bool {
    let found = stand.get(&format!("/guard/decision?nonce={nonce}"));
    found.status == 200 && found.json().to_string().contains(&nonce.to_string())
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}.{ending}", file.display()))
}

#[test]
fn days_moved_away_as_the_manual_says_are_no_damage() {
    // With few events and with many since then: a start reads the last thousand.
    for last in [1, 1_100] {
        let (mut stand, nonces) = with_days(4, last);
        let files = stand.events_files();
        let archive = stand.home().parent().unwrap().join("archive");
        fs::create_dir(&archive).unwrap();
        let (packed, trace) = (with_ending(&files[0], "gz"), with_ending(&files[1], "away"));
        let (first, second) = (fs::read(&files[0]).unwrap(), fs::read(&files[1]).unwrap());
        // What is inside of it is the owner's affair.
        fs::write(&packed, "packed").unwrap();
        fs::remove_file(&files[0]).unwrap();
        fs::rename(&files[1], archive.join("moved")).unwrap();
        fs::write(&trace, "").unwrap();
        stand.start();
        until("a day that is there", || finds(&stand, nonces[2]).then_some(()));
        assert!(!finds(&stand, nonces[0]) && !finds(&stand, nonces[1]));
        assert!(!is_damaged(&stand) && stand.events_of("error").is_empty(), "{:?}", stand.events_of("error"));
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0));

        fs::write(&files[0], first).unwrap();
        fs::write(&files[1], second).unwrap();
        stand.start();
        for nonce in &nonces {
            until("its decision", || finds(&stand, *nonce).then_some(()));
        }
        assert!(!is_damaged(&stand));
    }
}

#[test]
fn days_that_are_gone_without_a_trace_are_told_of() {
    let (mut stand, nonces) = with_days(4, 1_100);
    let files = stand.events_files();
    fs::remove_file(&files[0]).unwrap();
    stand.launch();
    until("the damage to be told of", || is_damaged(&stand).then_some(()));
    assert_eq!(stand.get("/healthz").status, 503);
    // The status is ahead of the disk.
    until("the event", || (!stand.events_of("error").is_empty()).then_some(()));
    assert_eq!(stand.send(&json!({"type": "noop"}))["guard"]["verdict"], "allow");
    until("a day that is there", || finds(&stand, nonces[3]).then_some(()));
}

#[test]
fn an_older_day_that_was_changed_is_told_of() {
    // A start reads the last thousand events, and refuses to go on where these are damaged.
    let (mut stand, nonces) = with_days(3, 1_100);
    let file = &stand.events_files()[1];
    let text = fs::read_to_string(file).unwrap();
    fs::write(file, text.replace("\"kind\":\"decision\"", "\"kind\":\"decisioN\"")).unwrap();
    stand.launch();
    until("the damage to be told of", || is_damaged(&stand).then_some(()));
    assert_eq!(stand.get("/healthz").status, 503);
    let name = file.file_name().unwrap().to_str().unwrap();
    let names = |event: &Value| event["text"].as_str().unwrap().contains(name);
    until("the event", || stand.events_of("error").iter().any(names).then_some(()));
    assert_eq!(stand.send(&json!({"type": "noop"}))["guard"]["verdict"], "allow");
    until("a day that is whole", || finds(&stand, nonces[2]).then_some(()));
}
