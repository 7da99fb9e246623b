//! The envelope of an event, and the kinds of them.
//!
//! An event is read in two passes over its text, the kind first and then the body of that kind straight from the text:
//! a start reads thousands of them, and nothing is held twice on the way.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use super::events::{
    Decision, Done, Flat, Flatten, Intent, Kill, Protect, Recovered, Risk, Sent, Started, Stopped, Trouble, Unknown,
};
use super::money::{Balance, Fill, Funding, Transfer};
use crate::base::address::Cloid;
use crate::venue::json::Node;

/// An event: one line of the journal, and one item of `GET /guard/events`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its number, without a gap.
    pub seq: u64,
    /// When it was, UTC ms.
    pub at_ms: u64,
    /// What it was.
    pub kind: Kind<'a>,
}

macro_rules! kinds {
    ($a:lifetime: $($kind:ident($body:ty) = $name:literal),* $(,)?) => {
        /// Every kind of event.
        pub const KINDS: [&str; [$($name),*].len()] = [$($name),*];

        /// What an event tells.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Kind<$a> {
            $(#[doc = concat!("`", $name, "`.")] $kind($body),)*
            /// A kind or a form that this version does not know.
            Other(Unknown),
        }

        $(impl<$a> From<$body> for Kind<$a> {
            fn from(body: $body) -> Self {
                Kind::$kind(body)
            }
        })*

        impl<$a> Kind<$a> {
            /// The kind as it stands in the event, one of [`KINDS`]; `other` for what is none of them.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Kind::$kind(_) => $name,)*
                    Kind::Other(_) => "other",
                }
            }

            fn read<'de, D: Deserializer<'de>>(name: &str, body: D) -> Result<Self, D::Error> {
                match name {
                    $($name => <$body>::deserialize(body).map(Kind::$kind),)*
                    _ => Unknown::deserialize(body).map(Kind::Other),
                }
            }
        }

        impl Serialize for Event<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let (seq, at_ms, kind) = (self.seq, self.at_ms, self.kind.name());
                match &self.kind {
                    $(Kind::$kind(body) => Line { seq, at_ms, kind, body }.serialize(serializer),)*
                    Kind::Other(body) => Line { seq, at_ms, kind, body }.serialize(serializer),
                }
            }
        }
    };
}

kinds! { 'a:
    Started(Started) = "started",
    Decision(Decision<'a>) = "decision",
    Sent(Sent<'a>) = "sent",
    Intent(Intent<'a>) = "intent",
    Done(Done) = "done",
    Recovered(Recovered<'a>) = "recovered",
    Risk(Risk) = "risk",
    Flatten(Flatten<'a>) = "flatten",
    Protect(Protect<'a>) = "protect",
    Kill(Kill<'a>) = "kill",
    Error(Trouble<'a>) = "error",
    Stopped(Stopped<'a>) = "stopped",
    Fill(Fill) = "fill",
    Funding(Funding) = "funding",
    Transfer(Transfer) = "transfer",
    Balance(Balance) = "balance",
    Flat(Flat) = "flat",
}

/// An event as it is written.
#[derive(Serialize)]
struct Line<'a, T> {
    seq: u64,
    at_ms: u64,
    kind: &'a str,
    #[serde(flatten)]
    body: &'a T,
}

/// What every event has.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head<'a> {
    seq: u64,
    at_ms: u64,
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

/// What an event is found by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    /// The client's nonce, of a decision that has one.
    pub nonce: Option<u64>,
    /// The client order ids that a decision names, of the client's orders and of what is sent for it.
    pub cloids: Vec<Cloid>,
    /// The number of the event that this one serves: `decision` of a `sent`, `of` of an `intent`, `intent` of a
    /// `recovered` or `done`.
    pub serves: Option<u64>,
}

/// What an event sends.
#[derive(Debug, Default)]
pub struct Sends {
    /// The actions in their order.
    pub actions: Vec<Node>,
    /// The places of the client's own among them.
    pub forward: Vec<usize>,
    /// The nonce of each.
    pub nonces: Vec<u64>,
}

impl Event<'_> {
    /// The event as one line of JSON.
    #[must_use]
    pub fn to_line(&self) -> String {
        // Bodies hold strings, numbers and string-keyed maps only, for which the writer has no error.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a line; `None` where it is no event. One of a kind or a form that is not known here is
    /// [`Kind::Other`].
    #[must_use]
    pub fn parse(line: &str) -> Option<Event<'static>> {
        // A list would be read as the fields in their order.
        let head: Head<'_> = serde_json::from_str(line).ok().filter(|_| line.starts_with('{'))?;
        let read = |name: &str| Kind::read(name, &mut serde_json::Deserializer::from_str(line)).ok();
        Some(Event { seq: head.seq, at_ms: head.at_ms, kind: read(&head.kind).or_else(|| read("other"))? })
    }

    /// Reads an event that was parsed as JSON before; as [`Event::parse`].
    #[must_use]
    pub fn of(event: &Value) -> Option<Event<'static>> {
        let head = Head::deserialize(event).ok().filter(|_| event.is_object())?;
        let kind = Kind::read(&head.kind, event).or_else(|_| Kind::read("other", event)).ok()?;
        Some(Event { seq: head.seq, at_ms: head.at_ms, kind })
    }
}

impl<'de> Deserialize<'de> for Event<'static> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let event = Value::deserialize(deserializer)?;
        Event::of(&event).ok_or_else(|| de::Error::custom("no event"))
    }
}

impl Kind<'_> {
    /// What the event is found by. This is the only definition: events are indexed by it when they are written, and when
    /// an index is made anew.
    #[must_use]
    pub fn keys(&self) -> Keys {
        let serves = |seq: u64| Keys { serves: Some(seq), ..Keys::default() };
        match self {
            Kind::Decision(decision) => Keys { nonce: decision.nonce, cloids: cloids_in(decision), serves: None },
            Kind::Sent(sent) => serves(sent.decision),
            Kind::Intent(intent) => serves(intent.of),
            Kind::Recovered(recovered) => serves(recovered.intent),
            Kind::Done(done) => serves(done.intent),
            _ => Keys::default(),
        }
    }

    /// The nonces of the actions that the event names.
    #[must_use]
    pub fn nonces(&self) -> &[u64] {
        match self {
            Kind::Decision(body) => &body.nonces,
            Kind::Intent(body) => &body.nonces,
            Kind::Flatten(body) => &body.nonces,
            Kind::Protect(body) => &body.nonces,
            Kind::Other(body) => &body.nonces,
            _ => &[],
        }
    }

    /// The actions that the event sends, if it sends any.
    #[must_use]
    pub fn into_sends(self) -> Option<Sends> {
        let owned = |nodes: Vec<Cow<'_, Node>>| nodes.into_iter().map(Cow::into_owned).collect();
        let sends = match self {
            Kind::Decision(body) => {
                let first = body.forward.as_ref().map(|_| body.pre.len());
                let mut forward: Vec<usize> = first.into_iter().collect();
                forward.extend(body.parts.iter().map(|part| part.index).filter(|index| Some(*index) != first));
                let actions = owned(body.pre.into_iter().chain(body.forward).chain(body.post).collect());
                Sends { actions, forward, nonces: body.nonces }
            }
            Kind::Intent(body) => {
                Sends { actions: vec![body.action.into_owned()], forward: Vec::new(), nonces: body.nonces }
            }
            Kind::Flatten(body) => Sends { actions: owned(body.actions), forward: Vec::new(), nonces: body.nonces },
            Kind::Protect(body) => Sends { actions: owned(body.actions), forward: Vec::new(), nonces: body.nonces },
            Kind::Other(body) => {
                let single = Some(body.action).filter(Value::is_object);
                let mut actions: Vec<Node> = body.actions.into_iter().chain(single).chain(body.pre).collect();
                let forward = body.forward.iter().map(|_| actions.len()).collect();
                actions.extend(body.forward.into_iter().chain(body.post));
                Sends { actions, forward, nonces: body.nonces }
            }
            _ => return None,
        };
        (!sends.nonces.is_empty()).then_some(sends)
    }
}

/// Every text in the shape of a client order id, wherever it stands in what was asked for and in what is sent.
fn cloids_in(decision: &Decision<'_>) -> Vec<Cloid> {
    fn collect(node: &Node, found: &mut Vec<Cloid>) {
        match node {
            Node::String(text) => found.extend(text.parse::<Cloid>().ok()),
            Node::Array(items) => items.iter().for_each(|item| collect(item, found)),
            Node::Object(members) => members.values().for_each(|member| collect(member, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let sent = decision.pre.iter().chain(&decision.forward).chain(&decision.post);
    std::iter::once(&decision.request).chain(sent).for_each(|node| collect(node, &mut found));
    found.sort_unstable();
    found.dedup();
    found
}
