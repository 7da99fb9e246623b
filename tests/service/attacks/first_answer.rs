//! The first answer that a life has to what the account is worth is wrong, or of another time: nothing is closed for it, and no
//! limit is any further away for the day.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::stand::{Mode, Stand, until};
use crate::watched::{covered, held, hold, hold_covered, is_same, until_flat};

/// Under which the daily loss stop alone fires, at 5%.
const RULES: &str = "loss_per_trade = \"50\"\nopen_risk = \"60\"\nposition = \"400\"\nexposure = \"800\"\n";
const YEAR_MS: u64 = 365 * 86_400_000;

/// The next answer to the account question is wrong.
fn next(stand: &Stand, kind: &str, ms: u64, text: &str) {
    let fault = json!({"op": "fault", "on": "clearinghouseState", "kind": kind, "times": 1, "ms": ms, "text": text});
    stand.venue.control(&fault).unwrap();
}

fn risk(stand: &Stand) -> Value {
    stand.status()["risk"].clone()
}

fn reads(stand: &Stand) -> u64 {
    stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap()
}

/// Twelve ETH stay as they are, with their stop, over some reads of the account, and longer than a halt takes.
fn nothing_is_closed(stand: &Stand) {
    let (before, begun) = (reads(stand), Instant::now());
    until("more reads, and four seconds", || {
        assert!(held(stand, "ETH").is_some_and(|held| is_same(&held, "12")), "closed");
        (reads(stand) >= before + 4 && begun.elapsed() >= Duration::from_secs(4)).then_some(())
    });
    assert!(stand.events_of("flatten").is_empty(), "{:?}", stand.events_of("flatten"));
}

/// The price goes so that 5% of the day's start are lost, short of the stop.
fn a_loss_of_the_day_fires(stand: &Stand) {
    stand.venue.price("ETH", "2457").unwrap();
    until("the halt", || (risk(stand)["state"] == "halted_for_day").then_some(()));
    until_flat(stand);
}

/// The position stays, the marks are those of the 10,000 that the account is worth, and the halt is as near as ever.
fn is_measured_from_the_truth(stand: &Stand, times: &str) {
    covered(stand, "ETH", "12");
    nothing_is_closed(stand);
    let now = risk(stand);
    let marks = (&now["state"], &now["day_start_equity"], &now["peak_equity"]);
    assert_eq!(marks, (&json!("active"), &json!("10000"), &json!("10000")), "{times}: {now}");
    a_loss_of_the_day_fires(stand);
}

/// By much, and by as little as what was traded just before the start, and is in it, might explain.
#[test]
fn a_first_equity_that_is_wrong_fires_nothing_and_switches_no_halt_off() {
    for times in ["10", "0.1", "1.06", "0.94"] {
        let mut stand = Stand::set_up(Mode::Testnet, RULES);
        hold(&stand, "ETH", "12");
        next(&stand, "scaled", 0, times);
        stand.start();
        is_measured_from_the_truth(&stand, times);
    }
}

/// A life that dies before another read contradicted it leaves its marks to the next, which takes them back.
#[test]
fn a_later_life_is_not_measured_by_it_either() {
    for times in ["10", "0.1"] {
        let mut stand = Stand::set_up(Mode::Testnet, RULES);
        hold(&stand, "ETH", "12");
        next(&stand, "scaled", 0, times);
        stand.venue.control(&json!({"op": "fault", "on": "clearinghouseState", "kind": "stall", "times": 8})).unwrap();
        stand.launch();
        until("the first read", || stand.status()["equity"].is_string().then_some(()));
        stand.stop(Signal::SIGKILL);
        stand.venue.control(&json!({"op": "clear"})).unwrap();
        stand.forget_spent_weight();
        stand.start();
        is_measured_from_the_truth(&stand, times);
    }
}

#[test]
fn a_first_answer_of_next_year_sets_no_day() {
    let mut stand = Stand::set_up(Mode::Testnet, RULES);
    next(&stand, "early", YEAR_MS, "");
    stand.start();
    hold_covered(&stand, "ETH", "12");
    nothing_is_closed(&stand);
    let (now, day) = (risk(&stand), svc_guard::base::day::day_of(stand.venue.truth()["now_ms"].as_u64().unwrap()));
    assert_eq!(now["day"], day.to_string(), "{now}");
    a_loss_of_the_day_fires(&stand);
}
