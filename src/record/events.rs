//! The bodies of the events, one type a kind: the fields in the order in which they are written.
//!
//! Texts and actions are borrowed where an event is written and owned where it was read. A field that an earlier version
//! did not write has its default.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lack::Lack;
use super::risk_record::HaltDetails;
use super::text::Text;
use crate::base::address::Address;
use crate::venue::json::Node;

/// The service started: its settings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Started {
    /// The version of this schema.
    pub schema: u32,
    /// The program's version.
    pub version: Text,
    /// `paper`, `testnet` or `mainnet`.
    pub mode: Text,
    /// The account that is guarded.
    pub account: String,
    /// The rules as a code.
    pub rules: String,
    /// Who may ask.
    pub clients: Vec<Address>,
}

/// A request was decided.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Decision<'a> {
    /// The transport.
    pub via: Text,
    /// Who asked.
    pub client: Option<Address>,
    /// The network that the request was signed for.
    pub signed_as: Option<Text>,
    /// The client's nonce.
    pub nonce: Option<u64>,
    /// The type of the action.
    pub action: Cow<'a, str>,
    /// `allow`, `resize` or `veto`.
    pub verdict: Text,
    /// The reason code.
    pub code: Text,
    /// The reason in words.
    pub text: Cow<'a, str>,
    /// What the guard changed.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub changes: Cow<'a, [String]>,
    /// The limit that a veto is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Cow<'a, str>>,
    /// What stood against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Cow<'a, str>>,
    /// The markets that it is about; the first ones where they are many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub coins: Vec<String>,
    /// How many requests it tells of, where that is not one: refused without an event of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The action as received.
    pub request: Cow<'a, Node>,
    /// What is sent first.
    pub pre: Vec<Cow<'a, Node>>,
    /// What is sent of the request itself.
    pub forward: Option<Cow<'a, Node>>,
    /// What is sent after it.
    pub post: Vec<Cow<'a, Node>>,
    /// The nonces of all that is sent, in its order; none in paper mode.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nonces: Vec<u64>,
    /// The actions that hold the request's orders, where it goes out as more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<RequestPart>,
}

/// An action that holds a part of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestPart {
    /// Its place among all that is sent, from 0.
    pub index: usize,
    /// The orders of the request that it holds, its first ones, by their place there.
    pub places: Vec<usize>,
}

/// An action went to the venue, and an answer came or none did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sent<'a> {
    /// The event that named the action.
    pub decision: u64,
    /// The action's place in it.
    pub index: usize,
    /// The nonce that it went out with.
    pub nonce: u64,
    /// Whether the venue refused nothing of it.
    pub ok: bool,
    /// The venue's answer, or the guard's own note that none came.
    pub reply: Cow<'a, Value>,
}

impl Sent<'_> {
    /// Whether `reply` is the venue's answer: those have a `status`, and the guard's note of a send without one has none.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.reply.get("status").is_some()
    }
}

/// One more action for the sake of an earlier event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Intent<'a> {
    /// The event that it serves.
    pub of: u64,
    /// The action.
    pub action: Cow<'a, Node>,
    /// Its nonce; none in paper mode.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nonces: Vec<u64>,
}

/// Every action of an event has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Done {
    /// The event that named them.
    pub intent: u64,
}

/// What became of an action without an answer was found out, or given up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Recovered<'a> {
    /// The event that named the action.
    pub intent: u64,
    /// The action's place in it.
    pub index: usize,
    /// The action.
    pub action: Cow<'a, Node>,
    /// `happened`, `did_not_happen`, `moot` or `unknown`.
    pub outcome: Text,
    /// Questions and answers that show it.
    pub evidence: Cow<'a, [Value]>,
}

/// The risk state, or what stands beside it, changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Risk {
    /// `active`, `halted_for_day` or `stopped`.
    pub state: Text,
    /// The figures of a halt.
    pub details: Option<HaltDetails>,
    /// The account's equity, USDC.
    #[serde(with = "super::amounts::or_null")]
    pub equity: Option<rust_decimal::Decimal>,
    /// How many positions are held.
    pub open_positions: usize,
    /// Where the account is not as the guard left it.
    pub discrepancies: Vec<String>,
    /// Why decisions cannot be written.
    pub journal_error: Option<String>,
}

/// What could not be done for a market, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Problem {
    /// The market.
    pub coin: String,
    /// Why.
    pub text: String,
}

/// Everything is closed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Flatten<'a> {
    /// Why.
    pub reason: Cow<'a, str>,
    /// The actions.
    pub actions: Vec<Cow<'a, Node>>,
    /// What cannot be closed.
    pub problems: Vec<Problem>,
    /// Whether they are sent: not in paper mode.
    pub sent: bool,
    /// Their nonces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nonces: Vec<u64>,
}

/// What had to be closed is closed: reads that began after the last close show nothing left.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Flat {
    /// The flatten event that it answers.
    pub flatten: u64,
    /// How many positions are held: 0.
    pub positions: usize,
    /// How many orders rest: 0.
    pub orders: usize,
    /// When the older of the two reads that show it began, UTC ms.
    pub checked_ms: u64,
    /// The account's equity, USDC.
    #[serde(with = "super::amounts::or_null")]
    pub equity: Option<rust_decimal::Decimal>,
}

/// Bare positions get the guard's own stops.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Protect<'a> {
    /// The markets.
    pub coins: Vec<Cow<'a, str>>,
    /// The actions.
    pub actions: Vec<Cow<'a, Node>>,
    /// What cannot be covered.
    pub problems: Vec<Problem>,
    /// Whether they are sent: not in paper mode.
    pub sent: bool,
    /// Their nonces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nonces: Vec<u64>,
}

/// The kill switch was pulled.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kill<'a> {
    /// Why, and by whom.
    pub reason: Cow<'a, str>,
    /// Whether the kill file was there when the service started; absent in what earlier versions wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_start: Option<bool>,
}

/// Something failed that a person should know of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Trouble<'a> {
    /// What.
    pub text: Cow<'a, str>,
    /// Where rows may be missing in the book for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<Lack>,
}

impl<'a> Trouble<'a> {
    /// One that leaves the book whole.
    pub fn new(text: impl Into<Cow<'a, str>>) -> Self {
        Trouble { text: text.into(), lacks: None }
    }
}

/// The service ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Stopped<'a> {
    /// Why.
    pub reason: Cow<'a, str>,
}

/// An event of a kind, or of a form, that this version does not know: what it had sent is known all the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Unknown {
    /// An action, where it is one.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub action: Value,
    /// Several actions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Node>,
    /// What is sent before a request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pre: Vec<Node>,
    /// A request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward: Option<Node>,
    /// What is sent after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post: Vec<Node>,
    /// The nonces of all that is sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nonces: Vec<u64>,
}
