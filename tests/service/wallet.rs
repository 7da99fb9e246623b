//! The API wallet at a start: what the venue says of it decides, and a venue that says nothing keeps no guard away.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::stand::{Mode, Stand, WALLET, run_with, until};

/// What a refused start said; it must be exit status 2 and one line.
fn refused(stand: &Stand) -> String {
    let output = run_with(&stand.home(), &stand.run_args(), "");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    said
}

/// Takes the wallet's address out of the config.
fn forget_the_wallet(stand: &Stand) {
    let config = stand.home().join("guard.toml");
    let text = fs::read_to_string(&config).unwrap();
    let kept: String =
        text.lines().filter(|line| !line.starts_with("api_wallet")).map(|line| format!("{line}\n")).collect();
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
    forget_the_wallet(&stand);
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
