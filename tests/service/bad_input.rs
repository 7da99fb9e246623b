//! Bodies that are no request: each gets a clear answer and a decision event, and the service is as healthy as before.

use serde_json::{Value, json};

use crate::events::{is_anonymous_veto, is_clients_veto};
use crate::http::{Connection, Response, post};
use crate::signing::{BTC, fresh_nonce, limit, place, resting, signed};
use crate::stand::{Mode, Stand};

fn raw(stand: &Stand, body: &[u8]) -> Response {
    stand.connect().exchange(&post("/exchange", "application/json", body), true).unwrap()
}

fn is_unharmed(stand: &Stand) {
    assert_eq!(stand.get("/healthz").status, 200);
    assert_eq!(stand.send(&json!({"type": "noop"}))["status"], "ok");
    assert!(stand.venue_saw().is_empty());
}

/// A body with one thing changed, and what the answer must say about it.
fn changed(body: &Value, path: &str, to: Value) -> String {
    let mut body = body.clone();
    let (parent, key) = path.rsplit_once('/').unwrap();
    match body.pointer_mut(parent).unwrap() {
        Value::Object(members) => drop(members.insert(key.to_owned(), to)),
        other => *other.get_mut(key.parse::<usize>().unwrap()).unwrap() = to,
    }
    body.to_string()
}

/// A body with one key more.
fn with(body: &Value, path: &str, key: &str) -> String {
    let mut body = body.clone();
    body.pointer_mut(path).unwrap().as_object_mut().unwrap().insert(key.to_owned(), json!(1));
    body.to_string()
}

/// A body in which a text that stands there is another.
fn edited(body: &Value, from: &str, to: &str) -> String {
    let text = body.to_string();
    assert_eq!(text.matches(from).count(), 1, "{from} in {text}");
    text.replacen(from, to, 1)
}

#[test]
fn what_is_no_request_is_malformed() {
    let stand = Stand::up(Mode::Paper, "");
    let good = signed(&stand.client, &place(&limit(BTC, true, "59800", "0.01")));
    let order = "/action/orders/0";
    let cases: Vec<(&str, String, &str)> = vec![
        ("empty", String::new(), "EOF"),
        ("no JSON", "{\"action\":".to_owned(), "EOF"),
        ("not UTF-8 text", "\u{0}".to_owned(), "expected value"),
        ("a list", "[]".to_owned(), "request"),
        ("a string", "\"order\"".to_owned(), "request"),
        ("null", "null".to_owned(), "request"),
        ("two bodies", format!("{good}{good}"), "trailing"),
        ("nothing in it", "{}".to_owned(), "action"),
        ("deep nesting", format!("{}{}", "[".repeat(20_000), "]".repeat(20_000)), "32"),
        ("deep in the action", changed(&good, "/action/grouping", nested(40)), "32"),
        ("a key twice", edited(&good, "\"grouping\":", "\"grouping\":\"na\",\"grouping\":"), "grouping"),
        ("a key twice at the top", edited(&good, "\"nonce\":", "\"nonce\":1,\"nonce\":"), "nonce"),
        ("an unknown key at the top", with(&good, "", "extra"), "extra"),
        ("an unknown key in the action", with(&good, "/action", "extra"), "extra"),
        ("an unknown key in the order", with(&good, order, "x"), "x"),
        ("an unknown key in the signature", with(&good, "/signature", "y"), "y"),
        ("no type", edited(&good, "\"type\":\"order\",", ""), "type"),
        ("a type that is no text", changed(&good, "/action/type", json!(7)), "type"),
        ("orders that are no list", changed(&good, "/action/orders", json!({})), "orders"),
        ("an order that is no object", changed(&good, order, json!(1)), "orders[0]"),
        ("an asset as text", changed(&good, "/action/orders/0/a", json!("3")), "a"),
        ("a negative asset", changed(&good, "/action/orders/0/a", json!(-1)), "a"),
        ("a huge asset", changed(&good, "/action/orders/0/a", json!(1_u64 << 40)), "a"),
        ("a price as a number", changed(&good, "/action/orders/0/p", json!(59800)), "p"),
        ("an exponent", changed(&good, "/action/orders/0/p", json!("6e4")), "p"),
        ("a negative size", changed(&good, "/action/orders/0/s", json!("-1")), "s"),
        ("no number", changed(&good, "/action/orders/0/s", json!("NaN")), "s"),
        ("too many digits", changed(&good, "/action/orders/0/s", json!("9".repeat(60))), "s"),
        ("a ninth decimal", changed(&good, "/action/orders/0/s", json!("0.010000001")), "s"),
        ("a side as a number", changed(&good, "/action/orders/0/b", json!(1)), "b"),
        ("an unknown time in force", changed(&good, "/action/orders/0/t/limit/tif", json!("Day")), "tif"),
        ("an unknown grouping", changed(&good, "/action/grouping", json!("all")), "grouping"),
        ("a nonce as a fraction", edited(&good, "\"nonce\":", "\"nonce\":0.5,\"was\":"), "integer"),
        ("a nonce as text", changed(&good, "/nonce", json!("1")), "nonce"),
        ("a negative nonce", changed(&good, "/nonce", json!(-1)), "nonce"),
        ("a nonce over 64 bits", edited(&good, "\"nonce\":", "\"nonce\":99999999999999999999,\"was\":"), "integer"),
        ("an exponent for a number", edited(&good, "\"nonce\":", "\"nonce\":1e3,\"was\":"), "integer"),
        ("a vault that is none", changed(&good, "/vaultAddress", json!("0x12")), "vaultAddress"),
        ("an expiry as text", changed(&good, "/expiresAfter", json!("soon")), "expiresAfter"),
        ("no signature", changed(&good, "/signature", Value::Null), "signature"),
        ("an r that is no hex", changed(&good, "/signature/r", json!("0xzz")), "signature.r"),
        ("an empty r", changed(&good, "/signature/r", json!("0x")), "signature.r"),
        (
            "an r that is too long",
            changed(&good, "/signature/r", json!(format!("0x{}", "1".repeat(65)))),
            "signature.r",
        ),
        ("a v as text", changed(&good, "/signature/v", json!("27")), "signature.v"),
    ];
    for (name, body, named) in &cases {
        let response = raw(&stand, body.as_bytes());
        let event = is_anonymous_veto(&stand, &response, 422, "malformed");
        let text = event["text"].as_str().unwrap();
        assert!(text.contains(named), "{name}: {named} is not in {text:?}");
        // What cannot be read at all is kept in part, what can be read as it was received.
        let action = serde_json::from_str::<Value>(body).ok().and_then(|body| body.get("action").cloned());
        if event["request"].get("unparsed").is_some() {
            let start: String = body.chars().take(512).collect();
            assert_eq!(
                (&event["request"], &event["action"]),
                (&json!({"unparsed": start}), &json!("unknown")),
                "{name}"
            );
        } else {
            assert_eq!(Some(&event["request"]), action.as_ref(), "{name}");
        }
    }
    let decided = stand.events_of("decision").len();
    assert_eq!(decided, cases.len(), "a decision each");
    is_unharmed(&stand);
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(0), |inner, _| json!([inner]))
}

#[test]
fn what_no_key_can_have_signed_names_nobody() {
    let stand = Stand::up(Mode::Paper, "");
    for (name, path, to) in [
        ("v of 2", "/signature/v", json!(2)),
        ("v of 26", "/signature/v", json!(26)),
        ("v of 29", "/signature/v", json!(29)),
        ("v over a byte", "/signature/v", json!(283)),
        ("r of zero", "/signature/r", json!("0x0")),
        ("s of zero", "/signature/s", json!("0x0")),
        ("r over the curve's order", "/signature/r", json!(format!("0x{}", "f".repeat(64)))),
        ("another r", "/signature/r", json!("0x1")),
        ("another nonce", "/nonce", json!(fresh_nonce())),
        ("another price", "/action/orders/0/p", json!("59801")),
    ] {
        let body = changed(&signed(&stand.client, &resting()), path, to);
        let event = is_anonymous_veto(&stand, &raw(&stand, body.as_bytes()), 200, "bad_signature");
        assert_eq!(event["action"], "order", "{name}");
    }
    let mut other_half = signed(&stand.client, &resting());
    let signature = &mut other_half["signature"];
    signature["s"] = json!(negated(signature["s"].as_str().unwrap()));
    signature["v"] = json!(27 + 28 - signature["v"].as_u64().unwrap());
    is_anonymous_veto(&stand, &stand.post("/exchange", &other_half), 200, "bad_signature");
    is_unharmed(&stand);
}

/// The order of the curve less `s`: with the other `v` it fits the same signer, and no signing program makes it.
fn negated(s: &str) -> String {
    let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    let digit = |text: &str, place: usize| i32::from_str_radix(&text[place..=place], 16).unwrap();
    let s = format!("{:0>64}", s.trim_start_matches("0x"));
    let mut borrow = 0;
    let mut digits = Vec::new();
    for place in (0..64).rev() {
        let left = digit(order, place) - digit(&s, place) - borrow;
        borrow = i32::from(left < 0);
        digits.push(char::from_digit(u32::try_from(left.rem_euclid(16)).unwrap(), 16).unwrap());
    }
    format!("0x{}", digits.iter().rev().collect::<String>())
}

/// Some clients print `r` and `s` as numbers, without their leading zeros.
#[test]
fn short_signatures_are_whole_ones() {
    let stand = Stand::up(Mode::Paper, "");
    let mut lengths = std::collections::BTreeSet::new();
    while lengths.len() < 2 {
        let mut body = signed(&stand.client, &json!({"type": "noop"}));
        for part in ["/signature/r", "/signature/s"] {
            let digits = body.pointer(part).unwrap().as_str().unwrap().trim_start_matches("0x").trim_start_matches('0');
            let short = format!("0x{digits}");
            if short.len() < 66 {
                lengths.insert(part);
            }
            *body.pointer_mut(part).unwrap() = json!(short);
        }
        assert_eq!(stand.post("/exchange", &body).json()["status"], "ok", "{body}");
    }
}

#[test]
fn other_bodies_have_their_own_status() {
    let stand = Stand::up(Mode::Paper, "");
    let body = signed(&stand.client, &resting()).to_string();
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
        let response = stand.connect().exchange(&post("/exchange", content_type, body.as_bytes()), true).unwrap();
        let event = is_anonymous_veto(&stand, &response, 415, "malformed");
        assert!(event["text"].as_str().unwrap().contains("Content-Type: application/json"), "{event}");
    }
    let too_large = format!("{body}{}", " ".repeat(262_145 - body.len()));
    let response = raw(&stand, too_large.as_bytes());
    let event = is_anonymous_veto(&stand, &response, 413, "malformed");
    assert!(event["text"].as_str().unwrap().contains("262144"), "{event}");
    assert!(event.to_string().len() < 2_000, "the event keeps the start of it only");

    // One byte less is a request.
    let fits = format!("{body}{}", " ".repeat(262_144 - body.len()));
    assert_eq!(raw(&stand, fits.as_bytes()).json()["status"], "ok");
    let no_length = "POST /exchange HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n";
    let response = Connection::open(stand.address()).exchange(no_length.as_bytes(), true).unwrap();
    is_anonymous_veto(&stand, &response, 411, "malformed");
    is_unharmed(&stand);
}

#[test]
fn what_a_client_signed_but_may_not_ask_names_the_client() {
    let stand = Stand::up(Mode::Paper, "");
    let key = &stand.client;
    let again = signed(key, &json!({"type": "noop"}));
    stand.post("/exchange", &again);
    is_clients_veto(&stand, &stand.post("/exchange", &again), "nonce_reused");
    let old = crate::signing::signed_with(key, &json!({"type": "noop"}), 1, svc_guard::venue::signing::Source::Testnet);
    is_clients_veto(&stand, &stand.post("/exchange", &old), "nonce_out_of_window");
    for action in [
        json!({"type": "vaultTransfer", "vaultAddress": "0x2222222222222222222222222222222222222222", "isDeposit": true, "usd": 5}),
        json!({"type": "scheduleCancel"}),
        json!({"type": "somethingNew", "size": "1"}),
    ] {
        let event = is_clients_veto(&stand, &stand.post("/exchange", &signed(key, &action)), "action_not_allowed");
        assert_eq!((&event["action"], &event["request"]), (&action["type"], &action));
    }
    is_unharmed(&stand);
}
