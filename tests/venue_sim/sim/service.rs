//! The answer of every path, and the faults on the way there.

use super::control;
use super::exchange::{self, Refuses, Told, Unread};
use super::faults::{Fault, Kind};
use super::feed;
use super::http::{self, Handler, Outcome, Reply, Request};
use super::info::{self, Answer};
use super::venue::{Seen, Venue};
use super::waits::{Stop, Turn};
use super::weights::{exchange_weight, info_weight};
use super::ws;
use serde_json::Value;
use std::net::TcpStream;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use svc_guard::venue::signing::Source;

const SYNTAX_TEXT: &str = "Failed to parse the request body as JSON";
const SHAPE_TEXT: &str = "Failed to deserialize the JSON body into the target type";
const CONTENT_TYPE_TEXT: &str = "Expected request with `Content-Type: application/json`";
const BAD_GATEWAY: &str = "<html><head><title>502 Bad Gateway</title></head></html>";
const GARBAGE: &str = "<html>nothing here is JSON</html>";
/// How long a reordered request waits to be overtaken.
const REORDER_MS: u64 = 1_000;
/// After being overtaken, for the other's answer to be on its way.
const OVERTAKEN_MS: u64 = 10;
/// For good, as far as any client is concerned.
const STALL_MS: u64 = 86_400_000;

/// The state in somebody's hands. Whatever they did to it is told to whoever listens before anybody else gets it.
pub(crate) struct Held<'a>(MutexGuard<'a, Venue>);

impl Deref for Held<'_> {
    type Target = Venue;

    fn deref(&self) -> &Venue {
        &self.0
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Venue {
        &mut self.0
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        feed::publish(&mut self.0);
    }
}

/// The venue as its connections share it.
pub(crate) struct Service {
    venue: Mutex<Venue>,
    network: Source,
    stop: Stop,
    exchanges: Turn,
    reads: Turn,
}

impl Service {
    pub(crate) fn new(venue: Venue) -> Self {
        let network = venue.network;
        Self {
            venue: Mutex::new(venue),
            network,
            stop: Stop::default(),
            exchanges: Turn::default(),
            reads: Turn::default(),
        }
    }

    /// The state, brought up to now.
    pub(crate) fn venue(&self) -> Held<'_> {
        let mut venue = self.venue.lock().unwrap_or_else(PoisonError::into_inner);
        venue.tick();
        Held(venue)
    }

    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// An exchange request from a body, whatever it came by.
    pub(crate) fn exchange(&self, body: &[u8], via: &'static str) -> Outcome {
        let request = match exchange::read(body, self.network) {
            Ok(request) => request,
            Err(unread) => return Outcome::Reply(self.unread(body, unread, via)),
        };
        let mut seen = Seen::of(&request, via);
        let action = &request.envelope.action;
        let (fault, before) = {
            let mut venue = self.venue();
            (venue.faults.hit("exchange", action.type_name()), self.exchanges.count())
        };
        seen.fault = fault.as_ref().map(|fault| fault.kind.name());
        if let Some(refused) = fault.as_ref().and_then(|fault| refused_before(fault.kind)) {
            self.remember(seen);
            return refused;
        }
        self.wait_delay(fault.as_ref());
        if let Some(fault) = fault.as_ref().filter(|fault| fault.kind == Kind::Reorder) {
            self.wait_overtaken(&self.exchanges, before, fault);
        }
        let weight = exchange_weight(action.batch_len());
        let told =
            fault.as_ref().filter(|fault| matches!(fault.kind, Kind::Error | Kind::OneError)).map(|fault| Told {
                text: fault.text.as_deref().unwrap_or("Internal error"),
                refuses: match fault.kind {
                    _ if fault.on == "exchange" => Refuses::Request,
                    Kind::OneError => Refuses::Batch,
                    _ => Refuses::Each,
                },
            });
        let reply = self.process(request, seen, weight, told);
        self.finish(fault.as_ref(), reply)
    }

    /// Does a request under the lock.
    fn process(&self, request: exchange::Request, mut seen: Seen, weight: u64, told: Option<Told<'_>>) -> Reply {
        let mut venue = self.venue();
        self.exchanges.pass();
        seen.at_ms = venue.engine.now_ms;
        let (now_ms, limit) = (venue.engine.now_ms, venue.engine.settings.weight_limit);
        if !venue.weights.spend(now_ms, weight, limit) {
            seen.verdict = "weight_exceeded";
            venue.remember(seen);
            return http::json(429, &Value::Null);
        }
        let (verdict, reply) = exchange::process(&mut venue, request, told);
        let answer = http::json(200, &reply);
        seen.verdict = verdict.name();
        seen.reply = reply;
        venue.remember(seen);
        answer
    }

    fn remember(&self, mut seen: Seen) {
        let mut venue = self.venue();
        seen.at_ms = venue.engine.now_ms;
        venue.remember(seen);
    }

    fn unread(&self, body: &[u8], unread: Unread, via: &'static str) -> Reply {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        self.remember(Seen::malformed(&body, via));
        match unread {
            Unread::Syntax => http::text(400, SYNTAX_TEXT),
            Unread::Shape => http::text(422, SHAPE_TEXT),
        }
    }

    /// A read.
    pub(crate) fn info(&self, body: &[u8]) -> Outcome {
        let Ok(request) = serde_json::from_slice::<Value>(body) else {
            return Outcome::Reply(http::text(400, SYNTAX_TEXT));
        };
        let kind = request.get("type").and_then(Value::as_str).unwrap_or_default();
        let fault = self.venue().faults.hit("info", kind);
        if let Some(refused) = fault.as_ref().and_then(|fault| refused_before(fault.kind)) {
            return refused;
        }
        self.wait_delay(fault.as_ref());
        let (reply, before) = self.read(&request, kind, fault.as_ref());
        if let Some(fault) = fault.as_ref().filter(|fault| fault.kind == Kind::Reorder) {
            self.wait_overtaken(&self.reads, before, fault);
        }
        self.finish(fault.as_ref(), reply)
    }

    /// The answer to a read, and its place among the reads answered.
    fn read(&self, request: &Value, kind: &str, fault: Option<&Fault>) -> (Reply, u64) {
        let mut venue = self.venue();
        let told = fault.filter(|fault| fault.kind == Kind::Error).map(|fault| match &fault.text {
            Some(text) => http::text(500, text),
            None => http::json(500, &Value::Null),
        });
        let reply = told.unwrap_or_else(|| look_up(&mut venue, request, kind, fault));
        (reply, self.reads.pass())
    }

    fn wait_delay(&self, fault: Option<&Fault>) {
        if let Some(fault) = fault.filter(|fault| fault.kind == Kind::Delay) {
            self.stop.wait_ms(fault.ms.unwrap_or(0));
        }
    }

    fn wait_overtaken(&self, turn: &Turn, before: u64, fault: &Fault) {
        turn.wait_overtaken(before, fault.ms.unwrap_or(REORDER_MS));
        self.stop.wait_ms(OVERTAKEN_MS);
    }

    /// Lets the answer out, or what a fault makes of it.
    fn finish(&self, fault: Option<&Fault>, reply: Reply) -> Outcome {
        let Some(fault) = fault else { return Outcome::Reply(reply) };
        match fault.kind {
            Kind::ApplyThenDrop => Outcome::Close,
            Kind::Stall => {
                self.stop.wait_ms(fault.ms.unwrap_or(STALL_MS));
                Outcome::Close
            }
            Kind::Garbage => Outcome::Reply(http::text(200, fault.text.as_deref().unwrap_or(GARBAGE))),
            _ => Outcome::Reply(reply),
        }
    }
}

/// Answers a read at its price in weight, from an older picture where a fault says so.
fn look_up(venue: &mut Venue, request: &Value, kind: &str, fault: Option<&Fault>) -> Reply {
    let picture = fault.and_then(|fault| fault.picture.as_deref());
    let engine = picture.unwrap_or(&venue.engine);
    let (ms, text) = (fault.and_then(|fault| fault.ms), fault.and_then(|fault| fault.text.as_deref()));
    let answer = match fault.map(|fault| fault.kind) {
        Some(Kind::Scaled) => info::answer(venue, engine, request).with_equity_times(text.unwrap_or("1")),
        Some(Kind::Early) => info::answer(venue, engine, request).with_time_later(ms.unwrap_or_default()),
        Some(Kind::Stranger) => info::answer(venue, engine, &of_a_stranger(request)),
        Some(Kind::Empty) => info::answer(venue, engine, request).with_empty_lists(),
        Some(Kind::Swapped) => info::answer(venue, engine, request).with_swapped_markets(),
        _ => info::answer(venue, engine, request),
    };
    let items = match &answer {
        Answer::Json(Value::Array(items)) => items.len(),
        _ => 0,
    };
    let (now_ms, limit) = (venue.engine.now_ms, venue.engine.settings.weight_limit);
    if !venue.weights.spend(now_ms, info_weight(kind, items), limit) {
        return http::json(429, &Value::Null);
    }
    match answer {
        Answer::Json(answer) => {
            let count = venue.reads.entry(kind.to_owned()).or_default();
            *count = count.saturating_add(1);
            http::json(200, &answer)
        }
        Answer::Shape => http::text(422, SHAPE_TEXT),
        Answer::Failed => http::json(500, &Value::Null),
    }
}

/// The same question about a user that nobody knows.
fn of_a_stranger(request: &Value) -> Value {
    let mut request = request.clone();
    if let Some(user) = request.get_mut("user") {
        *user = Value::from("0x00000000000000000000000000000000000000ff");
    }
    request
}

/// The outcome of a request that a fault hits before anything is done.
fn refused_before(kind: Kind) -> Option<Outcome> {
    match kind {
        Kind::DropBefore => Some(Outcome::Close),
        Kind::Http502 => {
            let body = BAD_GATEWAY.as_bytes().to_vec();
            Some(Outcome::Reply(Reply { status: 502, content_type: "text/html", body }))
        }
        Kind::Http(status) => {
            let body = format!("<html><body>{status}</body></html>").into_bytes();
            Some(Outcome::Reply(Reply { status, content_type: "text/html", body }))
        }
        Kind::Http429 => Some(Outcome::Reply(http::json(429, &Value::Null))),
        _ => None,
    }
}

impl Handler for Service {
    fn handle(&self, request: &Request) -> Outcome {
        let is_json = request.content_type == "application/json"
            || (request.content_type.starts_with("application/") && request.content_type.ends_with("+json"));
        let reply = match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/exchange" | "/info") if !is_json => http::text(415, CONTENT_TYPE_TEXT),
            ("POST", "/exchange") => return self.exchange(&request.body, "http"),
            ("POST", "/info") => return self.info(&request.body),
            ("POST", "/sim") => control::post(self, &request.body),
            ("GET", "/sim") => http::json(200, &control::truth(&mut self.venue(), since(&request.query))),
            (_, "/exchange" | "/info" | "/sim" | "/ws") => http::text(405, "Method Not Allowed"),
            _ => http::text(404, "Not Found"),
        };
        Outcome::Reply(reply)
    }

    fn websocket(&self, stream: TcpStream, key: &str, early: Vec<u8>) {
        ws::serve(self, stream, key, early);
    }
}

/// `since=N` of a query.
fn since(query: &str) -> u64 {
    let values = query.split('&').filter_map(|pair| pair.strip_prefix("since="));
    values.filter_map(|value| value.parse().ok()).next().unwrap_or(0)
}
