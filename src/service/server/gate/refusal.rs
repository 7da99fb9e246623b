//! Requests that the gate answers itself, with the one shape of all errors.

use crate::service::server::types::Response;

/// The gate's own answer to a request that no handler sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal(pub(super) Response);

impl Refusal {
    pub(super) fn new(status: u16, code: &str, msg: &str) -> Self {
        Self(Response::error(status, code, msg))
    }

    pub(super) fn with_header(self, name: &'static str, value: &str) -> Self {
        Self(self.0.with_header(name, value.to_owned()))
    }

    pub(super) fn busy() -> Self {
        Self::new(503, "busy", "too many connections at once; close some, or try again")
    }

    pub(super) fn shutting_down() -> Self {
        Self::new(503, "stopping", "the guard is stopping; nothing was judged")
    }

    /// A worker may have acted on the request, and no answer came.
    pub(super) fn unanswered(status: u16, why: &str) -> Self {
        let msg = format!("{why}; the request may have been judged: look it up at /guard/decision by its nonce");
        Self::new(status, "no_answer", &msg)
    }
}
