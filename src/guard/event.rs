//! The shapes of events.

use serde::Serialize;
use serde_json::Value;

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

/// What could not be done for a market, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Problem {
    pub(crate) coin: String,
    pub(crate) text: String,
}

#[derive(Serialize)]
struct Line<'a, T> {
    seq: u64,
    at_ms: u64,
    kind: &'a str,
    #[serde(flatten)]
    body: &'a T,
}

/// An event as one line of JSON.
pub(crate) fn line(seq: u64, at_ms: u64, kind: &str, body: &impl Serialize) -> String {
    // Event bodies hold strings, numbers and string-keyed maps only, for which the writer has no error.
    serde_json::to_string(&Line { seq, at_ms, kind, body }).unwrap_or_default()
}

#[derive(Serialize)]
pub(crate) struct Started<'a> {
    pub(crate) schema: u32,
    pub(crate) version: &'static str,
    pub(crate) mode: &'static str,
    pub(crate) account: Address,
    pub(crate) rules: String,
    pub(crate) clients: Vec<&'a Address>,
}

#[derive(Serialize)]
pub(crate) struct Decision<'a> {
    pub(crate) via: &'static str,
    pub(crate) client: Option<Address>,
    pub(crate) signed_as: Option<&'static str>,
    pub(crate) nonce: Option<u64>,
    pub(crate) action: &'a str,
    pub(crate) verdict: &'static str,
    pub(crate) code: &'static str,
    pub(crate) text: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) changes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) actual: Option<&'a str>,
    pub(crate) request: &'a Node,
    pub(crate) pre: Vec<&'a Node>,
    pub(crate) forward: Option<&'a Node>,
    pub(crate) post: Vec<&'a Node>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) nonces: Vec<u64>,
}

#[derive(Serialize)]
pub(crate) struct Sent<'a> {
    pub(crate) decision: u64,
    pub(crate) index: usize,
    pub(crate) nonce: u64,
    pub(crate) ok: bool,
    pub(crate) reply: &'a Value,
}

#[derive(Serialize)]
pub(crate) struct Intent<'a> {
    pub(crate) of: u64,
    pub(crate) action: &'a Node,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) nonces: Vec<u64>,
}

#[derive(Serialize)]
pub(crate) struct Recovered<'a> {
    pub(crate) intent: u64,
    pub(crate) index: usize,
    pub(crate) action: &'a Node,
    pub(crate) outcome: &'static str,
    pub(crate) evidence: &'a [Value],
}

#[derive(Serialize)]
pub(crate) struct Done {
    pub(crate) intent: u64,
}

#[derive(Serialize)]
pub(crate) struct Risk<'a> {
    pub(crate) state: &'a str,
    pub(crate) details: Option<Value>,
    pub(crate) equity: Option<String>,
    pub(crate) open_positions: usize,
    pub(crate) discrepancies: Vec<String>,
    pub(crate) journal_error: Option<&'a str>,
}

#[derive(Serialize)]
pub(crate) struct Protect<'a> {
    pub(crate) coins: Vec<&'a str>,
    pub(crate) actions: Vec<&'a Node>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) sent: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) nonces: Vec<u64>,
}

#[derive(Serialize)]
pub(crate) struct Flatten<'a> {
    pub(crate) reason: &'a str,
    pub(crate) actions: Vec<&'a Node>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) sent: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) nonces: Vec<u64>,
}

#[derive(Serialize)]
pub(crate) struct Reason<'a> {
    pub(crate) reason: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Trouble<'a> {
    pub(crate) text: &'a str,
}
