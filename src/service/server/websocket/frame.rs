//! The frames of the venue's WebSocket protocol, as text.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/post-requests>

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::base::text::cut;
use crate::venue::json;

/// Characters that are quoted of a frame.
const QUOTED: usize = 4_096;

/// A client's frame, by its kind.
#[derive(Debug)]
pub(super) enum Frame<'a> {
    /// An action: its number and its body as sent.
    Action(u64, &'a str),
    /// An info question: its number and its body as sent.
    Info(u64, &'a str),
    /// An exchange body without a frame around it.
    Bare,
    /// Are you there?
    Ping,
    /// A subscription as sent.
    Subscribe(&'a str),
    /// The end of a subscription, which is as sent.
    Unsubscribe(&'a str),
    /// None of these.
    Unknown,
}

#[derive(Deserialize)]
struct Text<'a> {
    method: Option<&'a str>,
    // Read for a post alone: clients number other frames too, each in a form of its own.
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    request: Option<&'a RawValue>,
    #[serde(borrow)]
    subscription: Option<&'a RawValue>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    payload: &'a RawValue,
}

impl<'a> Text<'a> {
    fn post(&self) -> Option<Frame<'a>> {
        let id = serde_json::from_str(self.id?.get()).ok()?;
        let request: Request<'a> = serde_json::from_str(self.request?.get()).ok()?;
        match request.kind {
            "action" => Some(Frame::Action(id, request.payload.get())),
            "info" => Some(Frame::Info(id, request.payload.get())),
            _ => None,
        }
    }
}

impl<'a> Frame<'a> {
    /// Reads a frame.
    pub(super) fn read(text: &'a str) -> Self {
        let Ok(read) = serde_json::from_str::<Text<'a>>(text) else { return Frame::Unknown };
        match read.method {
            Some("post") => read.post().unwrap_or(Frame::Unknown),
            Some("ping") => Frame::Ping,
            Some("subscribe") => read.subscription.map_or(Frame::Unknown, |what| Frame::Subscribe(what.get())),
            Some("unsubscribe") => read.subscription.map_or(Frame::Unknown, |what| Frame::Unsubscribe(what.get())),
            None if read.action.is_some() => Frame::Bare,
            _ => Frame::Unknown,
        }
    }
}

/// The answer to an action: `reply` is JSON.
pub(super) fn action_answer(id: u64, reply: &str) -> String {
    format!(r#"{{"channel":"post","data":{{"id":{id},"response":{{"type":"action","payload":{reply}}}}}}}"#)
}

/// The answer to a question of this kind: `answer` is JSON.
pub(super) fn info_answer(id: u64, kind: &str, answer: &str) -> String {
    let kind = json!(kind);
    format!(
        r#"{{"channel":"post","data":{{"id":{id},"response":{{"type":"info","payload":{{"type":{kind},"data":{answer}}}}}}}}}"#
    )
}

/// A post that could not be taken or answered, as the venue says it: a status and a text.
pub(super) fn post_error(id: u64, http_status: u16, text: &str) -> String {
    let payload = format!("{http_status} {text}");
    json!({"channel": "post", "data": {"id": id, "response": {"type": "error", "payload": payload}}}).to_string()
}

/// The `type` of a question, for its answer.
pub(super) fn kind_of(question: &str) -> String {
    let question = json::question(question.as_bytes()).ok();
    let kind = question.as_ref().and_then(|question| question.get("type")?.as_str());
    kind.unwrap_or("unknown").to_owned()
}

pub(super) fn pong() -> String {
    r#"{"channel":"pong"}"#.to_owned()
}

/// The venue's refusal of what it does not have or cannot read. Clients find what they asked for by the quotation.
pub(super) fn not_served(text: &str) -> String {
    let text = format!("Error parsing JSON into valid websocket request: {}", cut(text, QUOTED));
    json!({"channel": "error", "data": text}).to_string()
}

#[cfg(test)]
#[path = "../../../../tests/fuzz/ws_frame.rs"]
mod fuzz;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_told_apart_and_keep_their_bytes() {
        let body = r#"{"action": {"type":"noop"}, "nonce": 1}"#;
        let post = |kind: &str| format!(r#"{{"method":"post","id":7,"request":{{"type":"{kind}","payload":{body}}}}}"#);
        assert!(matches!(Frame::read(&post("action")), Frame::Action(7, got) if got == body));
        assert!(matches!(Frame::read(&post("info")), Frame::Info(7, got) if got == body));
        assert!(matches!(Frame::read(body), Frame::Bare));
        assert!(matches!(Frame::read(r#"{"method":"ping"}"#), Frame::Ping));
        let subscribe = r#"{"method":"subscribe","subscription":{"type":"allMids"}}"#;
        assert!(matches!(Frame::read(subscribe), Frame::Subscribe(r#"{"type":"allMids"}"#)));
        // ccxt numbers the end of a book's subscription by a text.
        let unsubscribe =
            r#"{"id":"1","method":"unsubscribe","request":7,"subscription":{"type":"l2Book","coin":"BTC"}}"#;
        assert!(matches!(Frame::read(unsubscribe), Frame::Unsubscribe(r#"{"type":"l2Book","coin":"BTC"}"#)));
        let numbered = post("info").replace(":7", r#":"7""#);
        for text in
            ["", "[]", "7", "{}", r#"{"method":"post"}"#, r#"{"method":"post","id":-1}"#, &numbered, &post("other")]
        {
            assert!(matches!(Frame::read(text), Frame::Unknown), "{text}");
        }
    }
}
