//! The answer of each path. Requests for decisions, kills and health checks are answered on the threads of their connections:
//! bodies are parsed and signers recovered there, in parallel. Other paths are answered on the HTTP workers.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use serde_json::json;

use super::authenticate::Authenticator;
use super::gate::{Slot, Slots};
use super::types::{BadBody, Method, Request, Response};
use crate::base::clock::now_ms;
use crate::base::sync::lock;
use crate::faults::{Faults, Step};
use crate::guard::{Code, RequestBody, Via};
use crate::journal::{Lookup, LookupError};
use crate::monitor;
use crate::record::decision_view::DecisionView;
use crate::record::error_body::{ErrorBody, Health};
use crate::record::event::Event;
use crate::relay;
use crate::service::equity_keeper::{EquityKeeper, NoAnswer};
use crate::service::inbox_places::{InboxPlace, InboxPlaces};
use crate::service::message::{Message, Reply, Responder};
use crate::service::metrics::{CONTENT_TYPE, Metrics};
use crate::service::reporting::recent_events::RecentEvents;
use crate::service::turned_away::TurnedAway;

/// A decision takes at most the venue's time-out; past this the client is asked to look it up.
const DECISION_WAIT: Duration = Duration::from_secs(25);
/// A decision loop that does not answer within this is not healthy.
const HEALTH_WAIT: Duration = Duration::from_secs(1);
const SILENT_LOOP: &str = "the decision loop does not answer within a second";

/// The sources of the answers.
pub(in crate::service) struct Handlers {
    /// Reads requests and recovers signers.
    pub(in crate::service) authenticator: Authenticator,
    /// The decision loop.
    pub(in crate::service) inbox: Sender<Message>,
    /// The last events.
    pub(in crate::service) recent_events: Arc<RecentEvents>,
    /// Decisions on disk.
    pub(in crate::service) lookup: Lookup,
    /// Equity by the minute.
    pub(in crate::service) equity: Arc<EquityKeeper>,
    /// The places there, by client.
    pub(in crate::service) inbox_places: Arc<InboxPlaces>,
    /// Requests that were turned away without a decision of their own.
    pub(in crate::service) turned_away: Arc<TurnedAway>,
    /// The counters.
    pub(in crate::service) metrics: Arc<Metrics>,
    /// What clients subscribe to.
    pub(in crate::service) subscriptions: Arc<Mutex<relay::Counts>>,
    /// The places for connections.
    pub(in crate::service) slots: Arc<Slots>,
    /// Makes requests fail, in builds that can.
    pub(in crate::service) faults: Faults,
}

impl Handlers {
    /// Answers a request that passed the gate; `/info` is answered elsewhere.
    #[must_use]
    pub(in crate::service::server) fn answer(&self, request: &Request, slot: Option<&Slot>) -> Response {
        if let Err(refusal) = self.pass() {
            return refusal;
        }
        match (request.method, request.path.as_str()) {
            (Method::Post, "/exchange") => self.exchange(request, slot),
            (Method::Post, "/guard/kill") => self.kill(&request.body, slot),
            (Method::Get, "/guard/events") => self.events(&request.query),
            (Method::Get, "/guard/decision") => self.decision(&request.query),
            (Method::Get, "/guard/equity") => self.equity(&request.query).unwrap_or_else(|refusal| refusal),
            (Method::Get, "/guard/status") => self.status(),
            (Method::Get, "/healthz") => self.health(),
            (Method::Get, "/metrics") => self.metrics(),
            (Method::Get, path) => monitor::asset(path).map_or_else(not_found, page),
            _ => not_found(),
        }
    }

    /// The step of every request, which builds for tests can make fail.
    ///
    /// # Errors
    /// The refusal to answer with.
    pub(super) fn pass(&self) -> Result<(), Response> {
        self.faults.pass(Step::Request).map_err(|error| Response::error(503, "busy", &error.to_string()))
    }

    fn exchange(&self, request: &Request, slot: Option<&Slot>) -> Response {
        let (reply, answer) = Responder::channel(Instant::now());
        self.request_decision(Via::Http, (&request.body, request.bad_body), slot, reply);
        Self::await_answer(&answer)
    }

    /// Has a body decided on, which came in on this place. What is not put before the decision loop is answered at once.
    pub(super) fn request_decision(
        &self,
        via: Via,
        request: (&[u8], Option<BadBody>),
        slot: Option<&Slot>,
        reply: Responder,
    ) {
        let known = slot.and_then(Slot::client);
        // While the signer is recovered the loop wakes up; where others are at it, it is awake.
        if known.is_some() && self.authenticator.is_idle() && self.inbox.is_empty() {
            _ = self.inbox.try_send(Message::Soon);
        }
        let body = match self.authenticator.authenticate(request, known) {
            Ok(body) => body,
            Err(code) => {
                self.metrics.unsigned.add();
                self.turned_away.add(1, code);
                return reply.answer(Reply::unsigned());
            }
        };
        let place = match self.place_of(&body, request.0.len(), slot) {
            Ok(place) => place,
            Err(refusal) => return self.turn_away(reply, refusal),
        };
        let message = Message::Exchange { via, body, place, reply };
        if let Err(refused) = self.inbox.try_send(message) {
            let refusal = untaken(&refused);
            if let Message::Exchange { reply, .. } = refused.into_inner() {
                self.turn_away(reply, refusal);
            }
        }
    }

    /// A place in the inbox for a request that a client signed, which makes the connection's place the client's too.
    fn place_of(&self, body: &RequestBody, bytes: usize, slot: Option<&Slot>) -> Result<Option<InboxPlace>, Reply> {
        let RequestBody::Signed { client, .. } = body else { return Ok(None) };
        slot.map_or(Ok(()), |slot| slot.vouch(*client)).map_err(|most| Reply::over_share(most, "connections"))?;
        self.inbox_places.take(*client, bytes).map(Some).map_err(|(most, of_what)| Reply::over_share(most, of_what))
    }

    fn turn_away(&self, reply: Responder, refusal: Reply) {
        self.metrics.busy.add();
        self.turned_away.add(1, Code::Busy.as_str());
        reply.answer(refusal);
    }

    fn kill(&self, body: &[u8], slot: Option<&Slot>) -> Response {
        let (reason, by) = match self.authenticator.authenticate_kill(body) {
            Ok(kill) => kill,
            Err(refusal) => return refusal,
        };
        // A kill needs no share: this keeps its place where there is one.
        let _has_share = slot.map(|slot| slot.vouch(by));
        let (reply, answer) = Responder::channel(Instant::now());
        if let Err(refused) = self.inbox.try_send(Message::Kill { reason, by, reply }) {
            self.metrics.busy.add();
            return response(untaken(&refused));
        }
        Self::await_answer(&answer)
    }

    fn await_answer(answer: &Receiver<Reply>) -> Response {
        response(answer.recv_timeout(DECISION_WAIT).unwrap_or_else(|_| Reply::unanswered()))
    }

    fn events(&self, query: &str) -> Response {
        match (number(query, "since"), number(query, "limit")) {
            (Ok(since), Ok(limit)) => {
                let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
                Response::json(200, self.recent_events.after(since.unwrap_or(0), limit).into_bytes())
            }
            (Err(refusal), _) | (_, Err(refusal)) => refusal,
        }
    }

    fn equity(&self, query: &str) -> Result<Response, Response> {
        let [since_ms, until_ms, step] = ["since", "until", "step"].map(|name| number(query, name));
        let span = (since_ms?.unwrap_or(0), until_ms?.unwrap_or(u64::MAX));
        let page = self.equity.page(span, step?.unwrap_or(1), now_ms()).map_err(|error| {
            let (status, code) = match error {
                NoAnswer::Busy => (503, "busy"),
                NoAnswer::Step => (400, "bad_request"),
                NoAnswer::File(_) => (500, "equity_error"),
            };
            Response::error(status, code, &error.to_string())
        })?;
        Ok(Response::json(200, json!(page).to_string().into_bytes()))
    }

    fn decision(&self, query: &str) -> Response {
        if times(query, "nonce").saturating_add(times(query, "cloid")) > 1 {
            return Response::error(400, "bad_request", "ask with one of ?nonce=N and ?cloid=0x…, once");
        }
        let (found, nonce) = match (parameter(query, "nonce"), parameter(query, "cloid")) {
            (Some(nonce), None) => match nonce.parse::<u64>() {
                Ok(nonce) => (self.lookup.by_nonce(nonce), Some(nonce)),
                Err(_) => {
                    return Response::error(400, "bad_request", "`nonce` must be an integer that is not negative");
                }
            },
            (None, Some(cloid)) => (self.lookup.by_cloid(cloid), None),
            _ => return Response::error(400, "bad_request", "ask with one of ?nonce=N and ?cloid=0x…"),
        };
        match found {
            Ok(decisions) if decisions.is_empty() => {
                Response::error(404, "not_found", "no decision on it is in the journal")
            }
            Ok(decisions) => {
                let first = || decisions.first().and_then(|found| Event::of(&found.decision)?.kind.keys().nonce);
                let nonce = nonce.or_else(first);
                Response::json(200, json!(DecisionView { nonce, decisions }).to_string().into_bytes())
            }
            Err(error @ LookupError::NotACloid) => Response::error(400, "bad_request", &error.to_string()),
            Err(error @ LookupError::Rebuilding) => Response::error(503, "busy", &error.to_string()),
            Err(error) => Response::error(500, "journal_error", &error.to_string()),
        }
    }

    /// Asks the decision loop; none where it does not answer within [`HEALTH_WAIT`].
    fn ask_loop<T>(&self, question: impl FnOnce(Sender<T>) -> Message) -> Option<T> {
        let (reply, answer) = bounded(1);
        self.inbox.try_send(question(reply)).ok()?;
        answer.recv_timeout(HEALTH_WAIT).ok()
    }

    fn status(&self) -> Response {
        match self.ask_loop(Message::Status) {
            Some(status) => Response::json(200, status.into_bytes()),
            None => Response::error(503, "busy", SILENT_LOOP),
        }
    }

    /// Where the decision loop does not answer its part is left out: the rest still shows that.
    fn metrics(&self) -> Response {
        let now = self.ask_loop(Message::Now);
        let counts = *lock(&self.subscriptions);
        let body = self.metrics.page(now.as_deref(), &counts, self.slots.taken(), self.slots.most());
        Response { content_type: CONTENT_TYPE.to_owned(), ..Response::json(200, body) }
    }

    fn health(&self) -> Response {
        let silent = || Health { problems: vec![SILENT_LOOP.to_owned()], ..Health::default() };
        let health = self.ask_loop(Message::Health).unwrap_or_else(silent);
        if health.ok {
            return Response::json(200, json!(health).to_string().into_bytes());
        }
        let text = health.problems.join("; ");
        let health = Health { error: Some(ErrorBody::new("unhealthy", &text)), ..health };
        Response::json(503, json!(health).to_string().into_bytes())
    }
}

/// For a request that the decision loop does not take: it has too many, or has ended.
fn untaken(refused: &TrySendError<Message>) -> Reply {
    if refused.is_disconnected() { Reply::stopping() } else { Reply::busy() }
}

fn response(reply: Reply) -> Response {
    Response::json(reply.http_status, reply.body.into_bytes())
}

fn not_found() -> Response {
    Response::error(404, "not_found", "there is nothing at this path")
}

/// A file of the monitor page, under the page's own headers.
fn page(asset: &monitor::Asset) -> Response {
    Response {
        status: 200,
        content_type: asset.content_type.to_owned(),
        headers: monitor::HEADERS.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
        body: asset.body.into(),
    }
}

/// The whole number that a parameter gives; none where it is not asked with.
fn number(query: &str, name: &str) -> Result<Option<u64>, Response> {
    let refused = |what: &str| Response::error(400, "bad_request", &format!("`{name}` {what}"));
    match parameter(query, name) {
        _ if times(query, name) > 1 => Err(refused("stands more than once")),
        None => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| refused("must be an integer that is not negative")),
    }
}

/// How often a parameter stands in a query.
pub(super) fn times(query: &str, name: &str) -> usize {
    query.split('&').filter(|pair| pair.split_once('=').is_some_and(|(key, _)| key == name)).count()
}

/// The value of a query's parameter; none of those here needs decoding.
pub(super) fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_has_ended_is_not_busy() {
        let (inbox, messages) = bounded(1);
        let ask = || {
            let refused = inbox.try_send(Message::Soon).err()?;
            Some(untaken(&refused).body)
        };
        assert!(ask().is_none() && ask().is_some_and(|body| body.contains("\"busy\"")));
        drop(messages);
        assert!(ask().is_some_and(|body| body.contains("\"stopping\"")));
    }
}
