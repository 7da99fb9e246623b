//! A dead thread ends the program, and the next start knows what happened.

use nix::sys::signal::Signal;
use serde_json::json;
use svc_guard::faults::Step;

use crate::http::bare;
use crate::script::{Fault, on, play};
use crate::signing::{resting, signed};
use crate::stand::{Mode, Stand, until};

/// A thread, by a step that it passes, and what brings it there.
type Thread = (Step, &'static str, fn(&Stand));
const THREADS: [Thread; 8] = [
    (Step::Decide, "thread decide died", trade),
    (Step::Poll, "thread poll-", trade),
    (Step::WeightKept, "thread weight died", trade),
    (Step::KillFileLook, "thread kill-file died", trade),
    (Step::SendTaken, "thread send-", send),
    (Step::Request, "thread gate-conn died", trade),
    (Step::Request, "thread http-", look),
    (Step::RedoWrite, "journal", trade),
];

// Whoever would answer may be the one that died.
fn trade(stand: &Stand) {
    let body = signed(&stand.client, &resting()).to_string();
    let _answered = stand.connect().post("/exchange", &body);
}

/// Until something goes out: a start that has not read enough yet refuses.
fn send(stand: &Stand) {
    let noop = || signed(&stand.client, &json!({"type": "noop"})).to_string();
    until("something sent", || match stand.connect().post("/exchange", &noop()) {
        Ok(answer) if answer.json()["guard"]["verdict"] == "veto" => None,
        _ => Some(()),
    });
}

fn look(stand: &Stand) {
    let _answered = stand.connect().exchange(&bare("GET", "/guard/status"), true);
}

#[test]
fn a_dead_thread_ends_the_program_with_a_failure() {
    let mut stand = Stand::up(Mode::Testnet, "");
    stand.venue.setting("weight_limit", serde_json::Value::Null).unwrap();
    for (step, told, ask) in THREADS {
        let before = stand.log().len();
        play(&stand, &[Fault::Panic.at(step, 1)]);
        ask(&stand);
        let status = until(&format!("the end after {step:?}"), || stand.has_ended());
        let log = stand.log()[before..].to_owned();
        assert_eq!(status.code(), Some(1), "{step:?}: {log}");
        // Whoever finds the decision loop gone may say so before its own death is heard.
        let is_named = log.contains(told) || (step == Step::Decide && log.contains("the decision loop is gone"));
        assert!(is_named, "{step:?}: {log}");
        play(&stand, &[]);
        stand.forget_spent_weight();
        stand.start();
    }
    until("every order to be settled", || crate::truth::open_ends(&stand.events()).is_empty().then_some(()));
    crate::truth::hold(&stand.events(), &stand.venue.truth());
    assert_eq!(stand.send(&json!({"type": "noop"}))["status"], "ok");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
}

/// Threads that only ask, hear or tell: each is named by what it is busy with, and passes the step at its start or its work.
#[test]
fn a_dead_thread_beside_the_work_ends_the_program_too() {
    let mut stand = Stand::up(Mode::Testnet, "");
    stand.venue.setting("weight_limit", serde_json::Value::Null).unwrap();
    let threads = [
        (Step::Ask, "pass_through", "thread info-"),
        (Step::Aside, "log", "thread log died"),
        (Step::Aside, "equity", "thread equity died"),
        (Step::Aside, "history", "thread history died"),
        (Step::Aside, "signals", "thread signals died"),
    ];
    for (step, what, told) in threads {
        let before = stand.log().len();
        play(&stand, &[on(Fault::Panic.at(step, 1), what)]);
        let status = if matches!(what, "equity" | "history" | "signals") {
            // They pass it at a start alone.
            assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
            let ended = stand.try_launch().err();
            ended.unwrap_or_else(|| until(&format!("the end of {what}"), || stand.has_ended()))
        } else {
            ask(&stand);
            trade(&stand);
            until(&format!("the end of {what}"), || stand.has_ended())
        };
        let log = stand.log()[before..].to_owned();
        assert_eq!(status.code(), Some(1), "{what}: {log}");
        assert!(log.contains(told), "{what}: {log}");
        play(&stand, &[]);
        stand.forget_spent_weight();
        stand.start();
    }
    until("every order to be settled", || crate::truth::open_ends(&stand.events()).is_empty().then_some(()));
    crate::truth::hold(&stand.events(), &stand.venue.truth());
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
}

/// A question of a client's, which the thread that takes it may not live to answer.
fn ask(stand: &Stand) {
    let _answered = stand.connect().post("/info", &json!({"type": "l2Book", "coin": "ETH"}).to_string());
}

/// What ends a thread with an error, without a panic, is its death as well.
#[test]
fn a_thread_that_gives_up_ends_the_program_too() {
    let mut stand = Stand::up(Mode::Paper, "");
    for step in [Step::Decide, Step::Poll, Step::KillFileLook, Step::WeightKept] {
        play(&stand, &[Fault::Fail.at(step, 1)]);
        let status = until(&format!("the end after {step:?}"), || stand.has_ended());
        assert_eq!(status.code(), Some(1), "{step:?}: {}", stand.log());
        play(&stand, &[]);
        stand.forget_spent_weight();
        stand.start();
    }
}

/// The texts that a release is searched for in vain.
#[test]
fn this_program_carries_the_switchboard() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_svc-guard")).unwrap();
    for text in ["svc-guard fault script", "faults.json"] {
        assert!(program.windows(text.len()).any(|bytes| bytes == text.as_bytes()), "{text}");
    }
}
