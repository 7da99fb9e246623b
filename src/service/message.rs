//! Messages of the other threads to the decision loop, and the way back to a waiting client.

use std::fmt;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::base::address::Address;
use crate::guard::{Input, RequestBody, Via};
use crate::record::error_body::{ErrorBody, Health};
use crate::service::inbox_places::InboxPlace;
use crate::service::metrics::Now;

/// A message to the decision loop.
#[derive(Debug)]
pub(super) enum Message {
    /// A request is about to come: its signer is being recovered.
    Soon,
    /// An input of the core.
    Input(Input),
    /// Something of the guard's own socket that clients may hear once the core has taken in what came before.
    Passed(OwnSocket),
    /// A request for a decision.
    Exchange {
        /// Transport.
        via: Via,
        /// The request as it was read.
        body: RequestBody,
        /// Its client's place in the inbox, free once it is taken out.
        place: Option<InboxPlace>,
        /// Where its answer goes.
        reply: Responder,
    },
    /// A client pulls the kill switch.
    Kill {
        /// Why.
        reason: String,
        /// The client.
        by: Address,
        /// Where its answer goes.
        reply: Responder,
    },
    /// Somebody asks for the status.
    Status(Sender<String>),
    /// Somebody asks for what keeps the service from being healthy, and from opening anything.
    Health(Sender<Health<'static>>),
    /// Somebody asks for the figures of the moment.
    Now(Sender<Box<Now>>),
}

/// What clients hear of the guard's own socket.
#[derive(Debug)]
pub(super) enum OwnSocket {
    /// What it tells can be believed from here on.
    Live,
    /// A frame of the account, or an acknowledgement, as it came.
    Frame(Box<str>),
    /// It is no more.
    Lost,
}

/// Where one answer goes. Never waits: whoever answers may be the journal's thread. Dropped, it says that none came.
pub(super) struct Responder {
    received: Instant,
    take: Option<Box<dyn FnOnce(Reply) + Send>>,
}

impl Responder {
    /// Hands the answer to a request received then to `take`, which must not wait.
    pub(super) fn new(received: Instant, take: impl FnOnce(Reply) + Send + 'static) -> Self {
        Self { received, take: Some(Box::new(take)) }
    }

    /// A responder for a thread that waits on the other end.
    pub(super) fn channel(received: Instant) -> (Self, Receiver<Reply>) {
        let (answer, answered) = bounded(1);
        // A client that went away is not waited for.
        (Self::new(received, move |reply| drop(answer.try_send(reply))), answered)
    }

    /// When the request was received.
    pub(super) fn received(&self) -> Instant {
        self.received
    }

    /// Answers.
    pub(super) fn answer(mut self, reply: Reply) {
        if let Some(take) = self.take.take() {
            take(reply);
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.take.take().into_iter().for_each(|take| take(Reply::unanswered()));
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Responder")
    }
}

/// An answer for a waiting client.
#[derive(Debug)]
pub(super) struct Reply {
    /// HTTP status.
    pub(super) http_status: u16,
    /// JSON.
    pub(super) body: String,
}

impl Reply {
    /// A refusal that is no decision, in the shape of an exchange's answer and of all errors at once.
    pub(super) fn refusal(http_status: u16, code: &str, text: &str) -> Self {
        let text = format!("svc-guard: {text}");
        Self { http_status, body: ErrorBody::to_request(code, &text).to_json() }
    }

    /// For a request without a client of which too many wait already.
    pub(super) fn unsigned() -> Self {
        let text = "too many requests whose signature does not check out; sign with a client key of this guard";
        Self::refusal(429, "rate_limited", text)
    }

    /// For a request that was not decided on because too much waits already.
    pub(super) fn busy() -> Self {
        let text = "too many requests wait to be judged or written; nothing was judged, send it again soon";
        Self::refusal(503, "busy", text)
    }

    /// For a request of a client that has its share of something already.
    pub(super) fn over_share(most: usize, of_what: &str) -> Self {
        let text = format!(
            "this client has its share of {most} {of_what} already; nothing was judged, wait for an answer or close some"
        );
        Self::refusal(503, "busy", &text)
    }

    /// For a request that nobody will judge any more.
    pub(super) fn stopping() -> Self {
        Self::refusal(503, "stopping", "the guard is stopping; nothing was judged, send it again when it is back")
    }

    /// For a request whose decision did not come in time.
    pub(super) fn unanswered() -> Self {
        let text = "no decision came in time; look it up at /guard/decision by its nonce before sending it again";
        Self::refusal(504, "no_answer", text)
    }
}
