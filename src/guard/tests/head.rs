//! A request's head: the order of the checks on it, and the way that it came.

use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Mode, RequestBody, Via};
use crate::rules::Rules;
use crate::venue::signing::Source;

#[test]
fn the_first_check_that_fails_decides() {
    // Each step mends the first thing wrong with a request in which everything is wrong.
    let mut desk = Desk::of(crate::guard::Config { require_network: true, ..config(Mode::Testnet, Rules::default()) });
    desk.step(crate::guard::Input::Kill { reason: "test".into(), by: None, write_file: false, request: None });
    let bad = place(vec![sell(UNLISTED, "1.23456", "0.000001")]);
    let request = |action: &Value, nonce: u64, expires: u64, vault| {
        let request = with(body(action, nonce), "/expiresAfter", json!(expires));
        with(request, "/vaultAddress", json!(vault))
    };
    let mut code = |request: Value, source| Decided::of(desk.post_signed(request, source)).code().to_owned();
    let transfer = json!({"type": "vaultTransfer"});
    assert_eq!(code(request(&transfer, 1, NOW - 1, CLIENT), Source::Mainnet), "wrong_network");
    assert_eq!(code(request(&transfer, 1, NOW - 1, CLIENT), Source::Testnet), "nonce_out_of_window");
    assert_eq!(code(request(&transfer, NOW, NOW - 1, CLIENT), Source::Testnet), "expired");
    assert_eq!(code(request(&transfer, NOW + 1, NOW, CLIENT), Source::Testnet), "wrong_account");
    assert_eq!(code(request(&transfer, NOW + 2, NOW, ACCOUNT), Source::Testnet), "action_not_allowed");
    assert_eq!(code(request(&bad, NOW + 3, NOW + 1_000, ACCOUNT), Source::Testnet), "killed");
}

#[test]
fn a_websocket_request_says_so() {
    let envelope =
        Box::new(crate::venue::envelope::Envelope::parse(body(&noop(), NOW).to_string().as_bytes()).unwrap());
    let body = RequestBody::Signed { envelope, client: CLIENT, signed_as: Source::Testnet };
    let request = crate::guard::Request { id: 1, via: Via::WebSocket, body };
    let decided = Decided::of(Desk::live().step(crate::guard::Input::Request(request)));
    assert_eq!(decided.event["via"], "websocket");
}
