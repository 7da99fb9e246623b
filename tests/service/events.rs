//! The form of a refusal: to the client, and in its decision event.

use serde_json::{Value, json};

use crate::http::Response;
use crate::stand::Stand;

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// An error body of the guard on any path: a code, a text, and nothing that an SDK would misread.
pub(crate) fn is_error(response: &Response, status: u16, code: &str) {
    assert_eq!(response.status, status, "{response:?}");
    assert_eq!(response.header("content-type"), Some("application/json"));
    let body = response.json();
    assert_eq!(keys(&body), ["code", "data", "msg"]);
    assert_eq!((&body["code"], &body["data"]), (&json!(code), &Value::Null));
    assert!(body["msg"].as_str().is_some_and(|text| text.len() > 10), "{body}");
}

/// A veto in the body of `POST /exchange`, and the decision event of the same words. Returns the event.
pub(crate) fn is_veto(stand: &Stand, response: &Response, status: u16, code: &str) -> Value {
    assert_eq!(response.status, status, "{response:?}");
    let body = response.json();
    let wanted: &[&str] = if status == 200 {
        &["guard", "response", "status"]
    } else {
        &["code", "data", "guard", "msg", "response", "status"]
    };
    assert_eq!(keys(&body), wanted);
    assert_eq!(body["status"], "err");
    let guard = &body["guard"];
    assert_eq!((&guard["verdict"], &guard["code"]), (&json!("veto"), &json!(code)), "{body}");
    let text = format!("svc-guard veto ({code}): {}", guard["text"].as_str().unwrap());
    assert_eq!(body["response"], json!(text));
    if status != 200 {
        assert_eq!((&body["code"], &body["msg"], &body["data"]), (&json!(code), &json!(text), &Value::Null));
    }

    let event = stand.event(&guard["seq"]);
    let told = (&event["kind"], &event["via"], &event["verdict"], &event["code"], &event["text"]);
    assert_eq!(told, (&json!("decision"), &json!("http"), &json!("veto"), &json!(code), &guard["text"]));
    assert_eq!((&event["pre"], &event["forward"], &event["post"]), (&json!([]), &Value::Null, &json!([])));
    assert!(event["request"].is_object() && event["action"].is_string(), "{event}");
    assert!(event.get("changes").is_none() && event.get("nonces").is_none(), "{event}");
    event
}

/// A veto of a request whose signature did not check out: the event names nobody.
pub(crate) fn is_anonymous_veto(stand: &Stand, response: &Response, status: u16, code: &str) -> Value {
    let event = is_veto(stand, response, status, code);
    assert_eq!((&event["client"], &event["signed_as"], &event["nonce"]), (&Value::Null, &Value::Null, &Value::Null));
    event
}

/// A veto of a request that the stand's client signed.
pub(crate) fn is_clients_veto(stand: &Stand, response: &Response, code: &str) -> Value {
    let event = is_veto(stand, response, 200, code);
    assert_eq!(event["client"], json!(stand.client.address()));
    assert!(event["nonce"].is_u64() && event["signed_as"].is_string(), "{event}");
    event
}
