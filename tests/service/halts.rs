//! The daily loss stop and the drawdown halt: what fires them, what they do, and what ends them.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::signing::{ETH, closing, limit, place};
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{first, hold, hold_covered, sends_are_named, until_flat};

fn rules(daily_loss: &str, drawdown: &str) -> String {
    format!(
        "loss_per_trade = \"50\"\nopen_risk = \"60\"\nposition = \"400\"\nexposure = \"800\"\n\
         daily_loss = \"{daily_loss}\"\ndrawdown = \"{drawdown}\"\n"
    )
}

fn state(stand: &Stand) -> String {
    stand.status()["risk"]["state"].as_str().unwrap_or_default().to_owned()
}

/// Loses 560 USDC on ETH at one stroke, with BTC still held.
fn lose(stand: &Stand) {
    hold_covered(stand, "BTC", "0.01");
    hold_covered(stand, "ETH", "4");
    stand.venue.price("ETH", "2360").unwrap();
}

fn halted(stand: &Stand, wanted: &str) {
    until(wanted, || (state(stand) == wanted).then_some(()));
}

fn journal(stand: &Stand) -> Vec<Value> {
    let shown = run_with(&stand.home(), &["journal-show", "--mode", "testnet"], "");
    assert_eq!(shown.status.code(), Some(0));
    let text = String::from_utf8(shown.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn is_refused(stand: &Stand, code: &str) {
    let reply = stand.send(&place(&limit(ETH, true, "2360", "0.1")));
    assert_eq!((&reply["guard"]["verdict"], &reply["guard"]["code"]), (&json!("veto"), &json!(code)), "{reply}");
    // Nothing is left to reduce, once that is read; the halt itself refuses no exit.
    let exit = stand.send(&closing(ETH, "2000", "0.1"));
    assert!(["reduces", "nothing_to_reduce"].contains(&exit["guard"]["code"].as_str().unwrap()), "{exit}");
}

#[test]
fn a_loss_of_the_day_closes_everything_for_the_day() {
    let mut stand = Stand::up(Mode::Testnet, &rules("5", "50"));
    lose(&stand);
    halted(&stand, "halted_for_day");
    until_flat(&stand);
    let events = stand.events();
    let place_of = |kind: &str| events.iter().position(|event| event["kind"] == kind && event["state"] != "active");
    let (risk, flatten) = (place_of("risk").unwrap(), place_of("flatten").unwrap());
    assert!(risk < flatten);
    let details = &events[risk]["details"];
    assert_eq!((&details["cause"], &details["limit"]), (&json!("daily_loss"), &json!("500")), "{details}");
    assert!(events[flatten]["reason"].as_str().unwrap().starts_with("daily loss stop"), "{}", events[flatten]);
    assert!(events[flatten]["actions"].as_array().unwrap().iter().any(|action| action["type"] == "order"), "BTC goes");
    is_refused(&stand, "halted_for_day");
    // What is opened by hand goes.
    hold(&stand, "ETH", "0.2");
    until_flat(&stand);
    // A restart ends nothing, nor does a resume: that is for a drawdown.
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        stand.stop(signal);
        stand.start();
        assert_eq!(state(&stand), "halted_for_day");
        is_refused(&stand, "halted_for_day");
    }
    hold(&stand, "BTC", "-0.01");
    until_flat(&stand);
    let halts: Vec<Value> = journal(&stand).into_iter().filter(|record| record["kind"] == "halt").collect();
    assert_eq!((halts.len(), &halts[0]["state"]), (1, &json!("halted_for_day")));
    sends_are_named(&stand);
}

#[test]
fn a_drawdown_stops_until_a_person_resumes() {
    let mut stand = Stand::up(Mode::Testnet, &rules("50", "5"));
    lose(&stand);
    halted(&stand, "stopped");
    until_flat(&stand);
    assert!(first(&stand, "flatten")["reason"].as_str().unwrap().starts_with("drawdown halt"));
    is_refused(&stand, "stopped");
    let resume = ["journal-resume", "--mode", "testnet", "--note", "looked at it"];
    let refused = run_with(&stand.home(), &resume, "");
    assert_eq!(refused.status.code(), Some(2), "the running service holds the journal");
    assert!(String::from_utf8_lossy(&refused.stderr).contains(&stand.pid().to_string()));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.start();
    assert_eq!(state(&stand), "stopped", "a restart releases nothing");
    hold(&stand, "ETH", "0.2");
    until_flat(&stand);

    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    assert_eq!(run_with(&stand.home(), &resume, "").status.code(), Some(0));
    stand.start();
    let risk = stand.status()["risk"].clone();
    assert_eq!((&risk["state"], &risk["drawdown"]), (&json!("active"), &json!("0")), "{risk}");
    let record = journal(&stand).into_iter().find(|record| record["kind"] == "resume").unwrap();
    assert_eq!(record["note"], "looked at it");
    let reply = stand.send(&place(&limit(ETH, true, "2350", "0.1")));
    assert_ne!(reply["guard"]["verdict"], "veto", "{reply}");
    hold_covered(&stand, "BTC", "0.01");
}

#[test]
fn a_loss_below_the_limit_only_warns() {
    let stand = Stand::up(Mode::Testnet, &rules("8", "50"));
    lose(&stand);
    until("a warning", || {
        let alerts = stand.status()["alerts"].clone();
        alerts.as_array()?.iter().find(|alert| alert["code"] == "daily_loss_near").cloned()
    });
    assert_eq!(state(&stand), "active");
    assert_eq!(stand.get("/healthz").status, 200, "a warning is no ill health");
    assert!(stand.events_of("flatten").is_empty());
}

#[test]
fn on_paper_a_halt_is_told_once() {
    let stand = Stand::up(Mode::Paper, &rules("5", "50"));
    hold(&stand, "ETH", "4");
    until("it to be seen", || (stand.status()["positions"].as_array()?.len() == 1).then_some(()));
    stand.venue.price("ETH", "2360").unwrap();
    halted(&stand, "halted_for_day");
    let told = first(&stand, "flatten");
    assert_eq!(told["sent"], json!(false));
    assert!(stand.venue_saw().is_empty());
}
