//! Before the action is looked at: body, signature, network, nonce, expiry, account, and the order of these checks.

use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Deed, Mode, RequestBody, Via};
use crate::rules::Rules;
use crate::venue::json::parse;
use crate::venue::signing::Source;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

fn body(action: &Value, nonce: u64) -> Value {
    json!({"action": action, "nonce": nonce, "signature": {"r": "0x1", "s": "0x1", "v": 27}})
}

fn noop() -> Value {
    json!({"type": "noop"})
}

#[test]
fn a_body_that_is_no_request_is_malformed() {
    let mut desk = Desk::paper();
    for http_status in [413, 415, 422] {
        let effects = desk.post_as(RequestBody::Malformed {
            received: None,
            unparsed: "{nonsense".into(),
            text: "not JSON".into(),
            http_status,
        });
        assert!(matches!(&effects.after_disk[..], [Deed::Answer(answer)] if answer.http_status == http_status));
        let decided = Decided::of(effects);
        decided.vetoed("malformed").says(&["not JSON"]);
        assert_eq!(decided.event["action"], "unknown");
        assert_eq!(decided.event["request"], json!({"unparsed": "{nonsense"}));
        let reply = decided.reply();
        let response = "svc-guard veto (malformed): not JSON";
        assert_eq!((&reply["code"], &reply["msg"]), (&json!("malformed"), &json!(response)));
        assert_eq!((&reply["data"], &reply["status"]), (&Value::Null, &json!("err")));
        assert_eq!(reply["response"], response);
        assert_eq!(reply["guard"]["verdict"], "veto");
        assert!(reply.get("error").is_none());
    }
}

#[test]
fn a_malformed_action_is_told_as_received() {
    let received = parse(br#"{"type":"order","orders":[],"grouping":"na","extra":1}"#).unwrap();
    let decided = Decided::of(Desk::paper().post_as(RequestBody::Malformed {
        received: Some(received.clone()),
        unparsed: String::new(),
        text: "action: unknown key `extra`".into(),
        http_status: 422,
    }));
    assert_eq!((&decided.event["action"], &decided.event["request"]), (&json!("order"), &json_of(&received)));
}

#[test]
fn an_unsigned_request_names_nobody() {
    let received = parse(br#"{"type":"noop"}"#).unwrap();
    let decided = Decided::of(Desk::paper().post_as(RequestBody::Unsigned { received, text: "names none".into() }));
    decided.vetoed("bad_signature");
    for key in ["client", "signed_as", "nonce"] {
        assert_eq!(decided.event[key], Value::Null);
    }
    assert_eq!(decided.event["action"], "noop");
    assert_eq!(decided.reply()["response"], "svc-guard veto (bad_signature): names none");
}

#[test]
fn either_network_is_taken_unless_one_is_required() {
    let mut desk = Desk::live();
    for (nonce, source) in [(NOW + 1, Source::Mainnet), (NOW + 2, Source::Testnet)] {
        let decided = Decided::of(desk.post_signed(body(&noop(), nonce), source));
        assert_eq!(decided.allowed().event["signed_as"], source.name());
    }
    let mut desk = Desk::of(crate::guard::Config { require_network: true, ..config(Mode::Testnet, Rules::default()) });
    Decided::of(desk.post_signed(body(&noop(), NOW + 1), Source::Testnet)).allowed();
    let decided = Decided::of(desk.post_signed(body(&noop(), NOW + 2), Source::Mainnet));
    decided.vetoed("wrong_network").says(&["mainnet", "testnet"]);
}

#[test]
fn a_nonce_serves_once_also_when_the_request_is_vetoed() {
    let mut desk = Desk::live();
    let vetoed = json!({"type": "withdraw3"});
    Decided::of(desk.post_body(body(&vetoed, NOW + 1))).vetoed("action_not_allowed");
    let again = Decided::of(desk.post_body(body(&noop(), NOW + 1)));
    again.vetoed("nonce_reused").says(&[&(NOW + 1).to_string()]);
    Decided::of(desk.post_body(body(&noop(), NOW + 2))).allowed();
}

#[test]
fn nonces_reach_two_days_back_and_one_ahead() {
    for (nonce, fits) in
        [(NOW - 2 * DAY_MS, true), (NOW - 2 * DAY_MS - 1, false), (NOW + DAY_MS, true), (NOW + DAY_MS + 1, false)]
    {
        let decided = Decided::of(Desk::live().post_body(body(&noop(), nonce)));
        assert_eq!(decided.code(), if fits { "allowed" } else { "nonce_out_of_window" });
    }
}

#[test]
fn a_request_expires_after_its_last_millisecond() {
    for (expires_ms, code) in [(NOW, "allowed"), (NOW - 1, "expired")] {
        let request = with(body(&noop(), NOW), "/expiresAfter", json!(expires_ms));
        let decided = Decided::of(Desk::live().post_body(request));
        assert_eq!(decided.code(), code, "{}", decided.text());
    }
}

#[test]
fn only_the_guarded_account_may_be_named() {
    for (vault, code) in [(ACCOUNT, "allowed"), (CLIENT, "wrong_account")] {
        let request = with(body(&noop(), NOW), "/vaultAddress", json!(vault));
        let decided = Decided::of(Desk::live().post_body(request));
        assert_eq!(decided.code(), code);
        assert!(code == "allowed" || decided.text().contains(&ACCOUNT.to_string()));
    }
}

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
    assert_eq!(code(request(&bad, NOW + 3, NOW, ACCOUNT), Source::Testnet), "killed");
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

#[test]
fn a_restart_keeps_the_nonces_that_were_used() {
    let mut before = Desk::live();
    let used = Decided::of(before.post_body(body(&noop(), NOW + 5)));
    let own = used.event["nonces"][0].as_u64().unwrap();
    let mut after = Desk::live();
    after.guard.restore(&used.event);
    Decided::of(after.post_body(body(&noop(), NOW + 5))).vetoed("nonce_reused");
    let next = Decided::of(after.post_body(body(&noop(), NOW + 6)));
    assert!(next.allowed().event["nonces"][0].as_u64().unwrap() > own);
}

#[test]
fn a_restart_does_not_take_refused_nonces_for_used_ones() {
    // A hundred nonces from a broken clock would otherwise stand as the highest for ever, and lock the client out.
    let mut before = Desk::live();
    let mut after = Desk::live();
    for offset in 0..100 {
        let refused = Decided::of(before.post_body(body(&noop(), NOW * 1000 + offset)));
        after.guard.restore(&refused.vetoed("nonce_out_of_window").event);
    }
    Decided::of(after.post_body(body(&noop(), NOW))).allowed();
}

#[test]
fn a_derived_client_order_id_is_malformed() {
    let prefix = |byte: u8| json!(format!("0x737663677264{byte:02x}{}", "0".repeat(18)));
    for (id, code) in [(prefix(0), "malformed"), (prefix(1), "malformed"), (cloid(0x73), "resized")] {
        let decided = Desk::paper().order(with(buy(ETH, "2000", "0.1"), "/c", id.clone()));
        assert_eq!(decided.code(), code);
        let modify = json!({"type": "modify", "oid": 1, "order": with(buy(ETH, "2000", "0.1"), "/c", id)});
        let mut desk = Desk::paper();
        desk.show(vec![open("ETH", "B", "1990", "0.1", 1)]);
        assert_eq!(desk.ask(modify).code(), code);
    }
}
