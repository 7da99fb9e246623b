//! One public connection: requests in, whole and one at a time, and their answers out.

use super::admit::{Admitted, admit};
use super::head::{Head, Verb, parse};
use super::io::{End, fill, write_all};
use super::pipes::{Answer, Failure, Outgoing};
use super::slots::Slot;
use super::upgrade::Upgrade;
use super::{Refusal, Shared};
use crate::service::http::types::{EXCERPT_BYTES, Method, Request, Unjudgeable};
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Instant;

/// How much of what a client still sends is thrown away before its connection is cut: cut at once, it would not
/// come to read why.
const MOST_DISCARDED: usize = 16 * 1024 * 1024;
/// A buffer that has held a large body is given back.
const KEPT_BUFFER: usize = 64 * 1024;
/// The end of a body in chunks.
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

/// What follows a request.
enum Next {
    Again,
    Close,
    /// Close, but read on for a moment: more of the request is on its way.
    Linger,
    Upgrade {
        path: String,
        key: String,
    },
}

pub(super) struct Conn {
    /// Before the stream: dropped in this order, the place is free by the time the client sees the close.
    slot: Slot,
    stream: TcpStream,
    local: IpAddr,
    /// What has been read and not yet used.
    buffer: Vec<u8>,
    pub(super) shared: Arc<Shared>,
}

impl Conn {
    pub(super) fn new(stream: TcpStream, slot: Slot, shared: Arc<Shared>) -> Self {
        let local = stream.local_addr().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |address| address.ip());
        Self { slot, stream, local, buffer: Vec::new(), shared }
    }

    pub(super) fn into_parts(self) -> (TcpStream, Vec<u8>, Slot) {
        (self.stream, self.buffer, self.slot)
    }

    /// Serves until either side has had enough.
    pub(super) fn serve(mut self) {
        loop {
            match self.serve_one() {
                Ok(Next::Again) => {}
                Ok(Next::Upgrade { path, key }) => {
                    let serve_upgrade = Arc::clone(&self.shared.upgrades);
                    return serve_upgrade(Upgrade::new(self, path, key));
                }
                Ok(Next::Linger) => return self.linger(),
                Ok(Next::Close) | Err(_) => return,
            }
        }
    }

    fn serve_one(&mut self) -> Result<Next, End> {
        self.await_first_byte()?;
        let limits = &self.shared.limits;
        let until = Instant::now() + if self.slot.is_guest() { limits.guest } else { limits.receive };
        let head = match self.read_head(until)? {
            Ok(head) => head,
            Err(refusal) => return self.refuse(&refusal, Next::Linger),
        };
        let keep = head.keep_alive && !self.slot.is_guest();
        let admitted = admit(&head, self.shared.routes, &self.shared.hosts, self.local);
        let after = if keep { Next::Again } else { Next::Close };
        match admitted {
            Err(refusal) if head.may_have_body() => self.refuse(&refusal, Next::Linger),
            Err(refusal) => self.refuse_to(&refusal, after, head.verb == Verb::Head),
            Ok(Admitted::Upgrade(_)) if self.slot.is_guest() => self.refuse(&Refusal::busy(), Next::Close),
            Ok(Admitted::Upgrade(key)) => Ok(Next::Upgrade { path: head.path().to_owned(), key }),
            Ok(Admitted::Plain { method, body }) => match self.read_body(&head, body, until)? {
                Ok(body) if self.is_judged(&head) => self.judge(&head, body, None, after),
                Ok(body) => self.pass(&head, method, &body, after),
                Err(refusal) => self.refuse(&refusal, Next::Close),
            },
            Ok(Admitted::Refused { why, body: Some(body) }) => match self.read_body(&head, body, until)? {
                Ok(body) => self.judge(&head, body, Some(why), after),
                Err(refusal) => self.refuse(&refusal, Next::Close),
            },
            Ok(Admitted::Refused { why, body: None }) => {
                let excerpt = self.read_excerpt(&head, until);
                self.judge(&head, excerpt, Some(why), Next::Linger)
            }
        }
    }

    /// Waits for a new request as long as an idle connection is kept.
    fn await_first_byte(&mut self) -> Result<(), End> {
        if !self.buffer.is_empty() {
            return Ok(());
        }
        if self.buffer.capacity() > KEPT_BUFFER {
            self.buffer = Vec::new();
        }
        let limits = &self.shared.limits;
        let until = Instant::now() + if self.slot.is_guest() { limits.guest } else { limits.idle };
        self.fill(until)
    }

    fn fill(&mut self, until: Instant) -> Result<(), End> {
        // A client that sends a byte at a time never lets a read time out, so the deadline is looked at here too.
        if Instant::now() >= until {
            return Err(End::TimedOut);
        }
        fill(&mut self.stream, &mut self.buffer, until, Some(&self.shared.stopping))
    }

    fn read_head(&mut self, until: Instant) -> Result<Result<Head, Refusal>, End> {
        loop {
            match parse(&self.buffer) {
                Ok(Some((head, size))) => {
                    self.buffer.drain(..size.min(self.buffer.len()));
                    return Ok(Ok(head));
                }
                Ok(None) => {}
                Err(refusal) => return Ok(Err(refusal)),
            }
            if let Err(end) = self.fill(until) {
                return end.refusal().map(Err).ok_or(end);
            }
        }
    }

    fn read_body(&mut self, head: &Head, length: usize, until: Instant) -> Result<Result<Vec<u8>, Refusal>, End> {
        if head.expects_continue && self.buffer.len() < length {
            write_all(&mut self.stream, b"HTTP/1.1 100 Continue\r\n\r\n", until)?;
        }
        while self.buffer.len() < length {
            if let Err(end) = self.fill(until) {
                return end.refusal().map(Err).ok_or(end);
            }
        }
        let rest = self.buffer.split_off(length);
        Ok(Ok(std::mem::replace(&mut self.buffer, rest)))
    }

    /// The start of a body that will not be read to its end; what came of it when it breaks off. Nobody who sends it
    /// in chunks waits for the answer longer than to the last of them.
    fn read_excerpt(&mut self, head: &Head, until: Instant) -> Vec<u8> {
        let may_go_on = |buffer: &[u8]| buffer.len() < EXCERPT_BYTES && !buffer.ends_with(LAST_CHUNK);
        while head.has_body() && !head.expects_continue && may_go_on(&self.buffer) {
            if self.fill(until).is_err() {
                break;
            }
        }
        let mut excerpt = std::mem::take(&mut self.buffer);
        excerpt.truncate(EXCERPT_BYTES);
        excerpt
    }

    fn is_judged(&self, head: &Head) -> bool {
        self.shared.routes.iter().any(|route| route.judged && route.path == head.path())
    }

    /// Answers a request to a judged path here, without a worker.
    fn judge(&mut self, head: &Head, body: Vec<u8>, unjudgeable: Option<Unjudgeable>, then: Next) -> Result<Next, End> {
        let shared = Arc::clone(&self.shared);
        let Some(_at_work) = shared.slots.begin() else {
            return self.refuse(&Refusal::stopping(), Next::Close);
        };
        let query = head.target.split_once('?').map_or("", |(_, query)| query).to_owned();
        let request = Request { method: Method::Post, path: head.path().to_owned(), query, body, unjudgeable };
        let answer = Answer::of(&(shared.judge)(request), !matches!(then, Next::Again));
        self.write(&answer, false, then)
    }

    /// Has the request answered by a worker.
    fn pass(&mut self, head: &Head, method: Method, body: &[u8], then: Next) -> Result<Next, End> {
        let shared = Arc::clone(&self.shared);
        let Some(_at_work) = shared.slots.begin() else {
            return self.refuse(&Refusal::stopping(), Next::Close);
        };
        let request = Outgoing { method, target: &head.target, body };
        let close = !matches!(then, Next::Again);
        let answer = shared.pipes.call(&request, close, Instant::now() + shared.limits.answer);
        let (refusal, then) = match answer {
            Ok(answer) => return self.write(&answer, head.verb == Verb::Head, then),
            Err(Failure::Gone) => {
                shared.report_gone();
                (Refusal::stopping(), Next::Close)
            }
            Err(Failure::Busy) => (Refusal::busy(), then),
            Err(Failure::TimedOut) => (Refusal::unanswered(504, "no answer in time"), Next::Close),
            Err(Failure::Broken) => (Refusal::unanswered(502, "the answer broke off"), Next::Close),
        };
        self.refuse_to(&refusal, then, head.verb == Verb::Head)
    }

    fn refuse(&mut self, refusal: &Refusal, then: Next) -> Result<Next, End> {
        self.refuse_to(refusal, then, false)
    }

    fn refuse_to(&mut self, refusal: &Refusal, then: Next, head_only: bool) -> Result<Next, End> {
        let answer = Answer::of(&refusal.0, !matches!(then, Next::Again));
        self.write(&answer, head_only, then)
    }

    fn write(&mut self, answer: &Answer, head_only: bool, then: Next) -> Result<Next, End> {
        let bytes = if head_only { answer.bytes.get(..answer.body_at) } else { None };
        let until = Instant::now() + self.shared.limits.write;
        write_all(&mut self.stream, bytes.unwrap_or(&answer.bytes), until)?;
        Ok(then)
    }

    /// Lets the client finish sending, within bounds, so that it gets to read the answer.
    fn linger(mut self) {
        let until = Instant::now() + self.shared.limits.linger;
        let mut discarded = self.stream.shutdown(Shutdown::Write).map_or(MOST_DISCARDED, |()| 0);
        let mut chunk = [0_u8; super::io::CHUNK];
        while discarded < MOST_DISCARDED && Instant::now() < until {
            match self.stream.read(&mut chunk) {
                Ok(0) => return,
                Ok(count) => discarded = discarded.saturating_add(count),
                Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                }
                Err(_) => return,
            }
        }
    }
}
