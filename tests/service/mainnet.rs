//! Mainnet from set-up to flatten, against a venue on loopback that takes mainnet's signatures only.

use nix::sys::signal::Signal;
use serde_json::json;
use svc_guard::venue::signing::Source;

use crate::signing::{fresh_nonce, limit, place, signed_with};
use crate::stand::{ACCOUNT, Mode, Stand, WALLET, until};

/// The asset id of ETH on the venue's main network.
const ETH: u32 = 1;

fn send(stand: &Stand, action: &serde_json::Value) -> serde_json::Value {
    let body = signed_with(&stand.client, action, fresh_nonce(), Source::Mainnet);
    stand.post("/exchange", &body).json()
}

#[test]
fn mainnet_trades_from_set_up_to_flatten() {
    let mut stand = Stand::up(Mode::Mainnet, "");
    let status = stand.status();
    assert_eq!((&status["mode"], &status["account_network"]), (&json!("mainnet"), &json!("mainnet")));
    assert_eq!(status["api_wallet"], WALLET);
    let started = stand.events_of("started").pop().unwrap();
    assert_eq!((&started["mode"], &started["account"]), (&json!("mainnet"), &json!(ACCOUNT)));

    // An entry beyond the collar is pulled in, gets its stop, and the venue takes the signature for its main network.
    let reply = send(&stand, &place(&limit(ETH, true, "2600", "0.1")));
    assert_eq!((&reply["status"], &reply["guard"]["verdict"]), (&json!("ok"), &json!("resize")), "{reply}");
    let decision = stand.event(&reply["guard"]["seq"]);
    assert_eq!(decision["signed_as"], "mainnet");
    let forwarded = stand.venue_saw().into_iter().find(|request| request["type"] == "order").unwrap();
    assert_eq!(forwarded["signer"], WALLET);
    until("the position", || stand.status()["positions"].as_array().filter(|found| !found.is_empty()).cloned());

    // A restart needs the person's word again, and takes up where it was.
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.start();
    until("the position", || stand.status()["positions"].as_array().filter(|found| !found.is_empty()).cloned());

    // The switch closes everything at the venue.
    let pulled = crate::stand::run_with(&stand.home(), &["kill", "--reason", "end"], "");
    assert_eq!(pulled.status.code(), Some(0));
    until("an account that is flat", || {
        let truth = stand.venue.truth();
        truth["positions"].as_array().is_none_or(Vec::is_empty).then_some(())
    });
    assert_eq!(stand.events_of("kill").len(), 1);
}
