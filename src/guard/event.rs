//! The shapes of events.

use serde::Serialize;
use serde_json::Value;

use super::own::Problem;
use crate::base::address::Address;
use crate::venue::json::Node;

/// Every kind of event.
pub const KINDS: [&str; 12] = [
    "started",
    "decision",
    "sent",
    "intent",
    "done",
    "recovered",
    "risk",
    "flatten",
    "protect",
    "kill",
    "error",
    "stopped",
];

#[derive(Serialize)]
struct Line<'a, T> {
    seq: u64,
    at_ms: u64,
    kind: &'a str,
    #[serde(flatten)]
    body: &'a T,
}

/// An event as one line of JSON.
pub(super) fn line(seq: u64, at_ms: u64, kind: &str, body: &impl Serialize) -> String {
    // Event bodies hold strings, numbers and string-keyed maps only, for which the writer has no error.
    serde_json::to_string(&Line { seq, at_ms, kind, body }).unwrap_or_default()
}

#[derive(Serialize)]
pub(super) struct Started<'a> {
    pub(super) schema: u32,
    pub(super) version: &'static str,
    pub(super) mode: &'static str,
    pub(super) account: Address,
    pub(super) rules: String,
    pub(super) clients: Vec<&'a Address>,
}

#[derive(Serialize)]
pub(super) struct Decision<'a> {
    pub(super) via: &'static str,
    pub(super) client: Option<Address>,
    pub(super) signed_as: Option<&'static str>,
    pub(super) nonce: Option<u64>,
    pub(super) action: &'a str,
    pub(super) verdict: &'static str,
    pub(super) code: &'static str,
    pub(super) text: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) changes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) limit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) actual: Option<&'a str>,
    pub(super) request: &'a Node,
    pub(super) pre: Vec<&'a Node>,
    pub(super) forward: Option<&'a Node>,
    pub(super) post: Vec<&'a Node>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) nonces: Vec<u64>,
}

#[derive(Serialize)]
pub(super) struct Sent<'a> {
    pub(super) decision: u64,
    pub(super) index: usize,
    pub(super) nonce: u64,
    pub(super) ok: bool,
    pub(super) reply: &'a Value,
}

#[derive(Serialize)]
pub(super) struct Intent<'a> {
    pub(super) of: u64,
    pub(super) action: &'a Node,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) nonces: Vec<u64>,
}

#[derive(Serialize)]
pub(super) struct Recovered<'a> {
    pub(super) intent: u64,
    pub(super) index: usize,
    pub(super) action: &'a Node,
    pub(super) outcome: &'static str,
    pub(super) evidence: &'a [Value],
}

#[derive(Serialize)]
pub(super) struct Done {
    pub(super) intent: u64,
}

#[derive(Serialize)]
pub(super) struct Risk<'a> {
    pub(super) state: &'a str,
    pub(super) details: Option<Value>,
    pub(super) equity: Option<String>,
    pub(super) open_positions: usize,
    pub(super) discrepancies: Vec<String>,
    pub(super) journal_error: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct Protect<'a> {
    pub(super) coins: Vec<&'a str>,
    pub(super) actions: Vec<&'a Node>,
    pub(super) problems: Vec<Problem>,
    pub(super) sent: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) nonces: Vec<u64>,
}

#[derive(Serialize)]
pub(super) struct Flatten<'a> {
    pub(super) reason: &'a str,
    pub(super) actions: Vec<&'a Node>,
    pub(super) problems: Vec<Problem>,
    pub(super) sent: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) nonces: Vec<u64>,
}

#[derive(Serialize)]
pub(super) struct Reason<'a> {
    pub(super) reason: &'a str,
}

#[derive(Serialize)]
pub(super) struct Trouble<'a> {
    pub(super) text: &'a str,
}
