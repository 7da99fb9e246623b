//! One public connection: requests in, whole and one at a time, and their answers out.

use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::admission::{Admitted, admit};
use super::answer::Answer;
use super::context::GateContext;
use super::head::{Head, Verb, parse};
use super::io::{CHUNK, End, fill, write_all};
use super::refusal::Refusal;
use super::slots::{NotBegun, Slot, Work};
use super::upgrade::Upgrade;
use super::worker_client::{Failure, Outgoing};
use crate::service::server::routes::{AnsweredBy, route_of};
use crate::service::server::types::{BadBody, EXCERPT_BYTES, Method, Request};

/// How much of what a client still sends is thrown away before its connection is cut: cut at once, it would not
/// come to read why.
const MOST_DISCARDED: usize = 16 * 1024 * 1024;
/// What a connection that gave way still sends is looked for so often.
const LOOKS: u32 = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);
/// A buffer that has held a large body is given back.
const KEPT_BUFFER: usize = 64 * 1024;
/// The end of a body in chunks.
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

/// The step after a request.
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

/// A connection and its place.
pub(super) struct Connection {
    /// Before the stream: dropped in this order, the place is free by the time the client sees the close.
    slot: Slot,
    stream: TcpStream,
    local: IpAddr,
    /// Bytes read and not yet used.
    buffer: Vec<u8>,
    /// Whether a request has begun to come in, and no answer has gone out.
    is_owed: bool,
    /// Whether it has the place for something to say that is not read yet.
    is_new: bool,
    context: Arc<GateContext>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, slot: Slot, context: Arc<GateContext>) -> Self {
        let local = stream.local_addr().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |address| address.ip());
        Self { slot, stream, local, buffer: Vec::new(), is_owed: false, is_new: true, context }
    }

    /// Serves until either side has had enough.
    pub(super) fn serve(mut self) {
        loop {
            match self.serve_one() {
                Ok(Next::Again) => {}
                Ok(Next::Upgrade { path, key }) => {
                    let write_timeout = self.context.setup.limits.write;
                    self.slot.upgrade();
                    let Self { slot, stream, buffer, context, .. } = self;
                    return (context.setup.upgrades)(Upgrade { path, slot, stream, key, rest: buffer, write_timeout });
                }
                Ok(Next::Linger) => return self.linger(),
                Err(End::Closed) if self.is_owed && self.slot.is_lost() => return self.give_way(),
                Ok(Next::Close) | Err(_) => return,
            }
        }
    }

    fn serve_one(&mut self) -> Result<Next, End> {
        self.await_first_byte()?;
        self.slot.receive();
        self.is_owed = true;
        let until = Instant::now() + self.context.setup.limits.receive;
        let head = match self.read_head(until)? {
            Ok(head) => head,
            Err(refusal) => return self.refuse(&refusal, Next::Linger),
        };
        let admitted = admit(&head, &self.context.setup.hosts, self.local);
        let after = if head.keep_alive { Next::Again } else { Next::Close };
        match admitted {
            Err(refusal) if head.may_have_body() => self.refuse(&refusal, Next::Linger),
            Err(refusal) => self.refuse_to(&refusal, after, head.verb == Verb::Head),
            Ok(Admitted::Upgrade(key)) => Ok(Next::Upgrade { path: head.path().to_owned(), key }),
            Ok(Admitted::Plain { method, body }) => match self.read_body(&head, body, until)? {
                Ok(body) => self.answer(&head, method, body, after),
                Err(refusal) => self.refuse(&refusal, Next::Close),
            },
            Ok(Admitted::Bad { why, body: Some(body) }) => match self.read_body(&head, body, until)? {
                Ok(body) => self.answer_here(&head, &request(&head, Method::Post, body, Some(why)), after),
                Err(refusal) => self.refuse(&refusal, Next::Close),
            },
            Ok(Admitted::Bad { why, body: None }) => {
                let excerpt = self.read_excerpt(&head, until);
                self.answer_here(&head, &request(&head, Method::Post, excerpt, Some(why)), Next::Linger)
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
        if std::mem::take(&mut self.is_new) {
            match self.fill(Instant::now() + self.context.setup.limits.tick) {
                Err(End::TimedOut) => {}
                end => return end,
            }
        }
        self.slot.wait();
        self.fill(Instant::now() + self.context.setup.limits.idle)
    }

    fn fill(&mut self, until: Instant) -> Result<(), End> {
        // A client that sends a byte at a time never lets a read time out, so the deadline is looked at here too.
        if Instant::now() >= until {
            return Err(End::TimedOut);
        }
        fill(&mut self.stream, &mut self.buffer, until, Some(&self.context.shutting_down))?;
        // One that gave way because it keeps too much has nothing more to read, whatever came.
        if self.buffer.len() <= CHUNK || self.slot.hold(self.buffer.len()) { Ok(()) } else { Err(End::Closed) }
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

    fn answer(&mut self, head: &Head, method: Method, body: Vec<u8>, then: Next) -> Result<Next, End> {
        match answered_by(head) {
            AnsweredBy::Workers => self.answer_by_worker(head, method, &body, then),
            _ => self.answer_here(head, &request(head, method, body, None), then),
        }
    }

    /// Answers on this thread.
    fn answer_here(&mut self, head: &Head, request: &Request, then: Next) -> Result<Next, End> {
        let context = Arc::clone(&self.context);
        let mut at_work = match self.slot.begin(Work::Here) {
            Ok(at_work) => at_work,
            Err(why) => return self.refuse(&not_begun(why), Next::Close),
        };
        let response = (context.setup.handler)(request, &self.slot);
        at_work.answered();
        let close = !matches!(then, Next::Again);
        let answer = match answered_by(head) {
            AnsweredBy::ConnectionAsDecision => Answer::of(&response, close),
            _ => Answer::dated(&response, close),
        };
        self.write(&answer, head.verb == Verb::Head, then)
    }

    /// Has the request answered by a worker.
    fn answer_by_worker(&mut self, head: &Head, method: Method, body: &[u8], then: Next) -> Result<Next, End> {
        let context = Arc::clone(&self.context);
        let request = Outgoing { method, target: &head.target, body };
        let close = !matches!(then, Next::Again);
        let mut at_work = match self.slot.begin(Work::Workers) {
            Ok(at_work) => at_work,
            Err(why) => return self.refuse(&not_begun(why), Next::Close),
        };
        let answer = context.workers.call(&request, close, Instant::now() + context.setup.limits.answer);
        at_work.answered();
        let (refusal, then) = match answer {
            Ok(answer) => return self.write(&answer, head.verb == Verb::Head, then),
            Err(Failure::Gone) => {
                context.report_workers_gone();
                (Refusal::shutting_down(), Next::Close)
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
        let bytes = if head_only { answer.head() } else { &answer.bytes };
        write_all(&mut self.stream, bytes, Instant::now() + self.context.setup.limits.write)?;
        self.is_owed = false;
        Ok(then)
    }

    /// Tells the client whose place another has taken, and reads away what it still sends. Nothing more is read from its
    /// stream but what has come already, so this looks again a few times.
    fn give_way(mut self) {
        self.buffer = Vec::new();
        if self.refuse(&Refusal::busy(), Next::Close).is_err() {
            return;
        }
        let mut chunk = [0_u8; CHUNK];
        for _ in 0..LOOKS {
            while matches!(self.stream.read(&mut chunk), Ok(1..)) {}
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Lets the client finish sending, within bounds, so that it gets to read the answer.
    fn linger(mut self) {
        let until = Instant::now() + self.context.setup.limits.linger;
        let mut discarded = self.stream.shutdown(Shutdown::Write).map_or(MOST_DISCARDED, |()| 0);
        let mut chunk = [0_u8; CHUNK];
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

fn not_begun(why: NotBegun) -> Refusal {
    match why {
        NotBegun::ShuttingDown => Refusal::shutting_down(),
        NotBegun::Busy => Refusal::busy(),
    }
}

/// The request as a handler gets it.
fn request(head: &Head, method: Method, body: Vec<u8>, bad_body: Option<BadBody>) -> Request {
    let (path, query) = head.target.split_once('?').unwrap_or((head.target.as_str(), ""));
    Request { method, path: path.to_owned(), query: query.to_owned(), body, bad_body }
}

fn answered_by(head: &Head) -> AnsweredBy {
    route_of(head.path()).map_or(AnsweredBy::Workers, |route| route.answered_by)
}
