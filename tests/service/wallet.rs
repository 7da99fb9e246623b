//! The API wallet at a start: what the venue says of it decides, and a venue that says nothing keeps no guard away.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::stand::{Mode, Stand, WALLET, WALLET_KEY, run_with, until};
use crate::watched::{WIDE, covered, hold, hold_covered, stops, until_flat};

/// What a refused start said; it must be exit status 2 and one line.
fn refused(stand: &Stand) -> String {
    let output = run_with(&stand.home(), &stand.run_args(), "");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    said
}

/// Takes the keys that begin so out of the config: the wallet's address, its owner's.
fn forget(stand: &Stand, key: &str) {
    let config = stand.home().join("guard.toml");
    let text = fs::read_to_string(&config).unwrap();
    let kept: String = text.lines().filter(|line| !line.starts_with(key)).map(|line| format!("{line}\n")).collect();
    assert_ne!(text, kept);
    fs::write(config, kept).unwrap();
}

#[test]
fn a_start_asks_the_venue_about_the_key() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    stand.venue.setting("agent_registered", false).unwrap();
    let said = refused(&stand);
    assert!(said.contains(WALLET) && said.contains("no API wallet") && said.contains("approve it"), "{said}");
    stand.venue.setting("agent_registered", true).unwrap();
    stand.start();
}

#[test]
fn a_venue_that_says_nothing_keeps_no_known_key_away() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    let fault = |times: u64| json!({"op": "fault", "on": "userRole", "kind": "http_502", "times": times});
    stand.venue.control(&fault(1)).unwrap();
    stand.start();
    let said = stand.log();
    assert!(said.contains("warning: the venue could not be asked about the API wallet"), "{said}");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));

    // A key that neither the venue nor the config knows starts nothing.
    forget(&stand, "api_wallet");
    stand.venue.control(&fault(1)).unwrap();
    let said = refused(&stand);
    assert!(said.contains("nobody says that") && said.contains("key check"), "{said}");
    stand.start();
}

#[test]
fn a_key_found_wrong_later_ends_the_service() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    stand.venue.control(&json!({"op": "fault", "on": "userRole", "kind": "http_502", "times": 2})).unwrap();
    stand.venue.setting("agent_registered", false).unwrap();
    stand.launch();
    assert_eq!(until("the service to end", || stand.has_ended()).code(), Some(1));
    let said = stand.log();
    assert!(said.contains(&format!("{WALLET} is no API wallet")), "{said}");
    assert!(refused(&stand).contains("no API wallet"), "and so it stays");
}

/// The question whose wallet it is costs more than a small share has left beside the steady reads.
#[test]
fn a_silent_venue_at_the_first_start_costs_a_small_share_no_more_than_its_silence() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    // As one that was set up before the config said whose the wallet is.
    forget(&stand, "api_wallet_owner");
    stand.venue.control(&json!({"op": "fault", "on": "userRole", "kind": "http_502", "times": 1})).unwrap();
    let args = [&stand.run_args()[..], &["--ip-share", "1/8"]].concat();
    stand.launch_as(stand.run_command(&args));
    assert!(stand.log().contains("the venue could not be asked about the API wallet"), "{}", stand.log());
    // Nothing is sent before it is known whom for.
    until("what is sent to reach the venue", || {
        let reply = stand.send(&json!({"type": "noop"}));
        (reply["guard"]["verdict"] != "veto").then_some(())
    });
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
}

/// The wallet's owner was told at the set-up, and is no more to be had.
#[test]
fn a_first_start_that_cannot_ask_whose_the_wallet_is_covers_and_closes() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    hold(&stand, "ETH", "0.4");
    stand.venue.fault("userRole", "http_422", 1_000_000).unwrap();
    stand.launch();
    until("the stop", || stops(&stand, "ETH").into_iter().next());
    // A client's exit reaches the venue, and so does the close of a kill.
    let exit = stand.send(&json!({"type": "order", "grouping": "na", "orders": [
        {"a": 4, "b": false, "p": "2400", "s": "0.1", "r": true, "t": {"limit": {"tif": "Ioc"}}}]}));
    assert_ne!(exit["guard"]["verdict"], "veto", "{exit}");
    until("the exit", || (stand.venue.truth()["positions"][0]["szi"] == "0.3").then_some(()));
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    assert_eq!(done.status.code(), Some(0));
    until_flat(&stand);
}

#[test]
fn a_wallet_that_the_venue_no_longer_knows_is_told_of_until_it_is_known_again() {
    let mut stand = Stand::up(Mode::Testnet, "");
    let alert = |stand: &Stand| {
        let alerts = stand.status()["alerts"].clone();
        alerts.as_array().unwrap().iter().find(|alert| alert["code"] == "signer_unknown").cloned()
    };
    stand.venue.setting("agent_registered", false).unwrap();
    hold(&stand, "ETH", "0.4");
    let told = until("the alert", || alert(&stand));
    let text = told["text"].as_str().unwrap();
    assert!(text.contains(WALLET) && text.contains("does not exist") && text.contains("approve"), "{text}");
    let ill = stand.get("/healthz");
    assert_eq!(ill.status, 503);
    assert!(ill.json()["problems"].to_string().contains(WALLET), "{}", ill.json());
    until("the event", || stand.events_of("error").into_iter().find(|event| event["text"] == told["text"]));

    stand.venue.setting("agent_registered", true).unwrap();
    covered(&stand, "ETH", "0.4");
    until("the alert to end", || alert(&stand).is_none().then_some(()));
    until("a healthy service", || (stand.get("/healthz").status == 200).then_some(()));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
}

#[test]
fn whose_a_vault_is_could_not_be_checked_and_that_is_said() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    stand.venue.setting("is_vault", true).unwrap();
    let checked = run_with(&stand.home(), &["key", "check", "--key-stdin"], WALLET_KEY);
    let said = String::from_utf8(checked.stderr).unwrap();
    assert_eq!(checked.status.code(), Some(0), "{said}");
    assert!(said.contains("warning: ") && said.contains("is a vault") && said.contains("signer_unknown"), "{said}");
    stand.start();
    assert!(stand.log().contains("is a vault") && stand.log().contains("could not be checked"), "{}", stand.log());
    // This one's leader has approved it.
    hold_covered(&stand, "ETH", "0.4");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
}

/// A week before the approval ends it is told, until a life finds a new one.
#[test]
fn an_approval_that_ends_soon_is_told_of() {
    const DAY_MS: u64 = 86_400_000;
    let mut stand = Stand::set_up(Mode::Testnet, "");
    let mut ends_in = |days: u64| {
        let now_ms = stand.venue.truth()["now_ms"].as_u64().unwrap();
        stand.venue.setting("agent_valid_until_ms", now_ms + days * DAY_MS).unwrap();
        stand.start();
        until("the approval to be read", || (!stand.status()["api_wallet_valid_until"].is_null()).then_some(()));
        let is_told = || {
            let alerts = stand.status()["alerts"].clone();
            let found = alerts.as_array().unwrap().iter().find(|alert| alert["code"] == "api_wallet_expiring").cloned();
            assert_eq!(stand.get("/healthz").status, 200, "it is no ill health");
            found
        };
        let told = if days < 7 { Some(until("the alert", is_told)) } else { is_told() };
        let line = "svc-guard: warning: alert api_wallet_expiring: the API wallet's approval ends in 7";
        if days < 7 {
            until("its line in the log", || stand.log().contains(line).then_some(()));
        }
        assert_eq!(stand.log().matches(line).count(), usize::from(days < 7), "once in a life: {}", stand.log());
        fs::remove_file(stand.log_file()).unwrap();
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
        told
    };
    let text = ends_in(3).unwrap()["text"].as_str().unwrap().to_owned();
    assert!(text.contains("ends in 71 hours") || text.contains("ends in 72 hours"), "{text}");
    assert_eq!(ends_in(30), None);
}
