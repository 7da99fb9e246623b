//! Faults a test asks for: which request they hit, how often, and what happens to it.

use super::engine::Engine;
use serde_json::{Value, json};
use std::sync::Arc;

/// What happens to a request that a fault hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The connection is closed; nothing was done.
    DropBefore,
    /// The request is done, then the connection closed without an answer.
    ApplyThenDrop,
    /// Answered 502; nothing was done.
    Http502,
    /// Answered 429 with the body `null`; nothing was done.
    Http429,
    /// Answered so by the edge in front of the venue, with its own page; nothing was done.
    Http(u16),
    /// The request is done and answered 200 with a body that is not JSON.
    Garbage,
    /// The request is done `ms` later, and answered then.
    Delay,
    /// The request is done; the connection stays open for `ms` (for good when absent) and carries no answer.
    Stall,
    /// A read is answered from the state as it was when the fault was set.
    Stale,
    /// A read is answered as for a user of whom the venue has nothing.
    Stranger,
    /// A read is answered with every list in it empty.
    Empty,
    /// A read of the account tells `text` times its equity.
    Scaled,
    /// A read of the account is answered as of `ms` later.
    Early,
    /// A read of the markets is answered with the first two of them in each other's place.
    Swapped,
    /// The next request of the same kind overtakes this one, which waits for it up to `ms` (a second when absent). A
    /// read's answer is made before the wait, so that it arrives old; an action is done after the wait.
    Reorder,
    /// Refused with `text`. On an action type that answers with statuses each of them is the error; on `exchange`
    /// the request as a whole is refused; a read is answered 500. The nonce is used up, nothing else is done.
    Error,
    /// As `error` on an action type, with one status for the whole batch.
    OneError,
}

const KINDS: [(&str, Kind); 19] = [
    ("drop_before", Kind::DropBefore),
    ("apply_then_drop", Kind::ApplyThenDrop),
    ("http_502", Kind::Http502),
    ("http_429", Kind::Http429),
    ("http_403", Kind::Http(403)),
    ("http_404", Kind::Http(404)),
    ("http_422", Kind::Http(422)),
    ("garbage", Kind::Garbage),
    ("delay", Kind::Delay),
    ("stall", Kind::Stall),
    ("stale", Kind::Stale),
    ("stranger", Kind::Stranger),
    ("empty", Kind::Empty),
    ("scaled", Kind::Scaled),
    ("early", Kind::Early),
    ("swapped", Kind::Swapped),
    ("reorder", Kind::Reorder),
    ("error", Kind::Error),
    ("one_error", Kind::OneError),
];

impl Kind {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    pub(crate) fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    pub(crate) fn names() -> String {
        KINDS.map(|(name, _)| name).join(", ")
    }
}

/// A fault that has been set.
#[derive(Clone)]
pub(crate) struct Fault {
    /// `exchange`, `info`, an action type or an info type.
    pub(crate) on: String,
    pub(crate) kind: Kind,
    /// Requests it still hits.
    pub(crate) times: u64,
    pub(crate) ms: Option<u64>,
    pub(crate) text: Option<String>,
    /// The picture that stale answers are made from.
    pub(crate) picture: Option<Arc<Engine>>,
}

impl Fault {
    pub(crate) fn show(&self) -> Value {
        json!({"on": self.on, "kind": self.kind.name(), "times": self.times, "ms": self.ms, "text": self.text})
    }
}

/// The faults that are set, in the order they were.
#[derive(Default)]
pub(crate) struct Faults {
    set: Vec<Fault>,
}

impl Faults {
    pub(crate) fn set(&mut self, fault: Fault) {
        self.set.push(fault);
    }

    pub(crate) fn clear(&mut self) {
        self.set.clear();
    }

    /// The first fault that hits a request to `path` (`exchange` or `info`) of type `kind`.
    pub(crate) fn hit(&mut self, path: &str, kind: &str) -> Option<Fault> {
        let index = self.set.iter().position(|fault| fault.on == path || fault.on == kind)?;
        let fault = self.set.get_mut(index)?;
        fault.times = fault.times.saturating_sub(1);
        let hit = fault.clone();
        if fault.times == 0 {
            self.set.remove(index);
        }
        Some(hit)
    }

    pub(crate) fn show(&self) -> Value {
        self.set.iter().map(Fault::show).collect()
    }
}
