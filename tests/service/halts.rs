//! The daily loss stop and the drawdown halt: what fires them, what they do, and what ends them.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::signing::{ETH, closing, limit, place};
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{first, hold, hold_covered, sends_are_named, trades, until_flat};

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
    trades(&stand, Some("the daily loss stop fired"));
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
    trades(&stand, Some("the drawdown halt fired"));
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
    let resumed = run_with(&stand.home(), &resume, "");
    assert_eq!(resumed.status.code(), Some(0));
    // What the day has lost is within its own limit.
    let said = String::from_utf8_lossy(&resumed.stdout).into_owned();
    assert!(said.contains("is cleared") && !said.contains("UTC day"), "{said}");
    stand.forget_spent_weight();
    stand.start();
    let risk = stand.status()["risk"].clone();
    assert_eq!((&risk["state"], &risk["drawdown"]), (&json!("active"), &json!("0")), "{risk}");
    trades(&stand, None);
    let record = journal(&stand).into_iter().find(|record| record["kind"] == "resume").unwrap();
    assert_eq!(record["note"], "looked at it");
    let reply = stand.send(&place(&limit(ETH, true, "2350", "0.1")));
    assert_ne!(reply["guard"]["verdict"], "veto", "{reply}");
    hold_covered(&stand, "BTC", "0.01");
}

#[test]
fn a_loss_below_the_limit_only_warns() {
    for (daily_loss, drawdown, code) in [("8", "50", "daily_loss_near"), ("50", "8", "drawdown_near")] {
        let stand = Stand::up(Mode::Testnet, &rules(daily_loss, drawdown));
        let is_told = || alerts(&stand).contains(&json!(code));
        lose(&stand);
        until("a warning", || is_told().then_some(()));
        assert_eq!(state(&stand), "active");
        assert_eq!(stand.get("/healthz").status, 200, "a warning is no ill health");
        // What BTC wins takes the loss under the part of its limit that is told of.
        stand.venue.price("BTC", "95000").unwrap();
        until("the warning to go", || (!is_told()).then_some(()));
        assert!(stand.events_of("flatten").is_empty());
        assert_eq!(alerts(&stand), Vec::<Value>::new(), "nor is anything else near");
    }
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

fn alerts(stand: &Stand) -> Vec<Value> {
    stand.status()["alerts"].as_array().unwrap().iter().map(|alert| alert["code"].clone()).collect()
}

/// The service lives on where the equity cannot be read any more, opens nothing, and a loss still ends flat.
#[test]
fn a_mode_that_cannot_be_valued_ends_no_watch() {
    let mut stand = Stand::up(Mode::Testnet, &rules("5", "50"));
    stand.without_feed();
    hold_covered(&stand, "BTC", "0.01");
    hold_covered(&stand, "ETH", "4");
    stand.venue.setting("abstraction", json!("portfolioMargin")).unwrap();
    until("the alert", || alerts(&stand).contains(&json!("account_mode")).then_some(()));
    assert_eq!(stand.get("/healthz").status, 503);
    assert_eq!((state(&stand), stand.events_of("flatten").len()), ("active".to_owned(), 0), "no halt for a mode");
    let reply = stand.send(&place(&limit(ETH, true, "2500", "0.1")));
    assert_eq!(reply["guard"]["code"], "account_mode", "{reply}");
    stand.venue.price("ETH", "2360").unwrap();
    until_flat(&stand);
    halted(&stand, "halted_for_day");
    assert!(stand.has_ended().is_none(), "{}", stand.log());
    // A start refuses such an account for good. One that has no weight to ask for the mode goes on as this life does.
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.forget_spent_weight();
    let run = stand.run_command(&stand.run_args());
    let code = match stand.try_launch_as(run) {
        Err(status) => status.code(),
        Ok(()) => until("the refusal", || stand.has_ended()).code(),
    };
    assert_eq!(code, Some(2), "{}", stand.log());
}

#[test]
fn a_change_of_mode_fires_nothing() {
    let stand = Stand::up(Mode::Testnet, &rules("5", "50"));
    hold_covered(&stand, "ETH", "2");
    for (mode, name) in [("unifiedAccount", "unified"), ("default", "standard")] {
        let before = stand.events_of("error").len();
        stand.venue.setting("abstraction", json!(mode)).unwrap();
        until(name, || (stand.events_of("error").len() > before).then_some(()));
        until("the equity", || (stand.status()["equity"] == "10000").then_some(()));
        let risk = stand.status()["risk"].clone();
        assert_eq!((&risk["state"], &risk["drawdown"], &risk["day_pnl"]), (&json!("active"), &json!("0"), &json!("0")));
    }
    assert!(stand.events_of("flatten").is_empty());
    assert!(crate::watched::held(&stand, "ETH").is_some());
}

/// What is lost on positions no ledger can explain, so none is waited for: two reads of the account are enough, where a
/// ledger that is waited for takes ten of them.
#[test]
fn a_ledger_that_cannot_be_read_delays_no_halt_of_a_position() {
    const FEW: u64 = 6;
    let stand = Stand::up(Mode::Testnet, &rules("5", "50"));
    stand.without_feed();
    hold_covered(&stand, "ETH", "12");
    let ledger = "userNonFundingLedgerUpdates";
    let reads = |truth: &Value, of: &str| truth["reads"][of].as_u64().unwrap_or_default();
    until("the second read of the ledger", || (reads(&stand.venue.truth(), ledger) >= 2).then_some(()));
    let fault = json!({"op": "fault", "on": ledger, "kind": "http_502", "times": 1000});
    stand.venue.control(&fault).unwrap();
    let before = reads(&stand.venue.truth(), "clearinghouseState");
    // 5.4%, and short of the stop: nothing is lost in cash, and nothing but the halt closes it.
    stand.venue.price("ETH", "2455").unwrap();
    let truth = until("the close", || {
        let truth = stand.venue.truth();
        let is_close = |request: &&Value| {
            let order = &request["action"]["orders"][0];
            order["r"] == true && order["t"]["limit"]["tif"] == "Ioc"
        };
        let is_sent = truth["requests"].as_array()?.iter().find(is_close).is_some();
        is_sent.then_some(truth)
    });
    let waited = reads(&truth, "clearinghouseState") - before;
    assert!(waited <= FEW, "{waited} reads of the account between the fall and the first close");
    assert!(truth["faults"].as_array().unwrap().iter().any(|fault| fault["on"] == ledger), "it could be read");
    until_flat(&stand);
}

/// One answer with a time ahead hides nothing that comes after it.
#[test]
fn an_account_answer_with_a_time_ahead_blinds_nobody() {
    let stand = Stand::up(Mode::Testnet, &rules("50", "50"));
    stand.without_feed();
    let reads = || stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap_or_default();
    stand.venue.setting("account_time_ahead_ms", json!(3_600_000)).unwrap();
    let before = reads();
    until("one such answer", || (reads() > before).then_some(()));
    stand.venue.setting("account_time_ahead_ms", json!(0)).unwrap();
    hold_covered(&stand, "ETH", "1");
}
