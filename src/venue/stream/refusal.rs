//! Refusals of the venue's socket: a text each, most of which quote what is refused. No page lists them (observed).

use serde_json::Value;

use super::topic::Subscription;
use crate::base::text::short;

/// Why the venue did not do what a frame asked for. The subscription is the one quoted, where it is one of the guard's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is subscribed to already; no first frame follows.
    AlreadySubscribed(Option<Subscription>),
    /// It is not subscribed to.
    AlreadyUnsubscribed(Option<Subscription>),
    /// The venue does not have such a feed.
    NotServed(Option<Subscription>),
    /// Too many accounts are watched from this address. Nothing is quoted.
    TooManyUsers,
    /// Anything else: the start of its text.
    Other(String),
}

impl Refusal {
    /// Reads the text of an error frame.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let quoted = |rest: &str| serde_json::from_str::<Value>(rest).ok();
        let subscription = |rest: &str| quoted(rest).as_ref().and_then(Subscription::read);
        if let Some(rest) = text.strip_prefix("Already subscribed: ") {
            Refusal::AlreadySubscribed(subscription(rest))
        } else if let Some(rest) = text.strip_prefix("Already unsubscribed: ") {
            Refusal::AlreadyUnsubscribed(subscription(rest))
        } else if let Some(rest) = text.strip_prefix("Invalid subscription ") {
            Refusal::NotServed(subscription(rest))
        } else if let Some(frame) = text.strip_prefix("Error parsing JSON into valid websocket request: ") {
            let frame = quoted(frame);
            let subscription = frame.as_ref().and_then(|frame| frame.get("subscription"));
            Refusal::NotServed(subscription.and_then(Subscription::read))
        } else if text.starts_with("Cannot track more than ") && text.ends_with(" total users.") {
            Refusal::TooManyUsers
        } else {
            Refusal::Other(short(text))
        }
    }
}
