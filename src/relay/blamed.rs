//! Subscriptions that are known to end the venue's sockets: refused for a while.

use std::collections::BTreeMap;

use super::subscription::{Subscription, respelled};

/// So long it is asked for no more: it may be well by then.
const BLAMED_MS: u64 = 5 * 60 * 1000;

/// Those that are known to end sockets, and until when they are refused: each cost two sockets, and there are few of these a minute.
#[derive(Debug, Default)]
pub(super) struct Blamed(BTreeMap<String, u64>);

impl Blamed {
    /// Refuses it from now on.
    pub(super) fn put(&mut self, subscription: &Subscription, now_ms: u64) {
        self.0.retain(|_, until_ms| *until_ms > now_ms);
        self.0.insert(subscription.normal(), now_ms.saturating_add(BLAMED_MS));
    }

    /// Why nobody can have it now, with its account's address as the client wrote it.
    pub(super) fn refusal(&self, subscription: &Subscription, text: Option<&str>, now_ms: u64) -> Option<String> {
        let normal = subscription.normal();
        self.0.get(&normal).filter(|until_ms| **until_ms > now_ms)?;
        Some(why(&respelled(&normal, subscription.user, text)))
    }
}

/// The refusal of what is said like that.
pub(super) fn why(said: &str) -> String {
    format!("Invalid subscription {said}: the venue ends the socket over it")
}
