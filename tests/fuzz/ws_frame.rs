//! A frame of the venue's WebSocket protocol: its parts are bytes of the frame, and every answer to it is one JSON object
//! that stays in proportion.

use serde_json::Value;

use super::*;

const WORDS: &[&str] = &[
    "\"method\":\"post\"",
    "\"method\":\"ping\"",
    "\"method\":\"subscribe\"",
    "\"method\":\"unsubscribe\"",
    "\"id\":1",
    "\"id\":-1",
    "\"request\":{\"type\":\"action\",\"payload\":{}}",
    "\"request\":{\"type\":\"info\",\"payload\":{}}",
    "\"subscription\":{}",
    "\"action\":{}",
    "null",
    "{",
    "}",
    ",",
    "\\u0022",
    "\u{202e}",
];

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Whether `part` is JSON, however deep, and lies within `whole`.
fn is_within(part: &str, whole: &str) -> bool {
    let is_json = serde_json::from_str::<&RawValue>(part).is_ok();
    is_json && whole.as_bytes().as_ptr_range().contains(&part.as_ptr()) && part.len() <= whole.len()
}

/// An answer is one object, at most three times as long as the frame beside what it always says.
fn is_answer(answer: &str, channel: &str, frame: &str) -> bool {
    value(answer)["channel"] == channel && answer.len() <= 3 * frame.len() + 600
}

fn post(id: u64, kind: &str, payload: &str) -> String {
    format!(r#"{{"method":"post","id":{id},"request":{{"type":"{kind}","payload":{payload}}}}}"#)
}

fn check(input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input);
    let text = text.as_ref();
    match Frame::read(text) {
        Frame::Action(id, payload) => {
            assert!(is_within(payload, text));
            assert!(
                matches!(Frame::read(&post(id, "action", payload)), Frame::Action(same, body) if same == id && body == payload)
            );
            let answer = action_answer(id, "{}");
            assert_eq!(value(&answer)["data"]["id"], id);
            assert!(is_answer(&answer, "post", text));
            "action".to_owned()
        }
        Frame::Info(id, payload) => {
            assert!(is_within(payload, text));
            assert!(
                matches!(Frame::read(&post(id, "info", payload)), Frame::Info(same, body) if same == id && body == payload)
            );
            assert_eq!(value(&info_answer(id, "a \"kind\"", "{}"))["data"]["id"], id);
            assert!(is_answer(&post_error(id, 400, payload), "post", text));
            "info".to_owned()
        }
        Frame::Bare => {
            assert!(text.trim_start().starts_with('{'));
            "bare".to_owned()
        }
        Frame::Ping => "ping".to_owned(),
        Frame::Subscribe(what) => {
            assert!(is_within(what, text) && is_answer(&not_served(text), "error", text));
            format!("subscribe {}", &what[..1])
        }
        Frame::Unsubscribe(what) => {
            assert!(is_within(what, text) && is_answer(&not_served(text), "error", text));
            format!("unsubscribe {}", &what[..1])
        }
        Frame::Unknown => {
            assert!(is_answer(&not_served(text), "error", text), "an answer as long as the frame");
            serde_json::from_str::<Text>(text)
                .map_or_else(|error| format!("{:?}", error.classify()), |_| "unknown".to_owned())
        }
    }
}

#[test]
fn ws_frame() {
    crate::fuzz::run("ws_frame", WORDS, check);
}
