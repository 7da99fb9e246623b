//! The gate's client of the HTTP workers: kept-alive connections on their Unix socket.
//!
//! A connection carries one request at a time and goes back among the idle ones only when its answer was read to the last
//! byte, so no answer can reach another client. Idle ones are shared by all public connections: there are never more of them
//! than requests at one moment, and a client that connects anew for each request costs the workers' side no new connection
//! and no new thread.
//!
//! Their socket has a name in the home, and where the disk of that hangs no connection can be opened, for as long as it does.
//! So as many as a busy moment needs are opened ahead, and nobody waits for long behind one that does not open.

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use super::answer::{Answer, Room, SMALL_ANSWER, head};
use super::head::MAX_HEAD;
use super::io::{End, fill, write_all};
use crate::base::sync::lock;
use crate::service::server::types::Method;
use crate::service::server::workers::PROBE;

/// The most bytes of one answer: the longest that is passed through from the venue, and its frame.
const MAX_ANSWER: usize = 9 * 1024 * 1024;
/// For a new connection to be taken up by a thread and a worker.
const OPEN: Duration = Duration::from_secs(2);
/// As many are opened ahead.
const AHEAD: usize = 32;
/// Between two looks whether another has opened its one: about as long as that takes.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
const MAX_ANSWER_HEADERS: usize = 32;

/// One request on its way to a worker.
pub(super) struct Outgoing<'a> {
    pub(super) method: Method,
    /// Path and query.
    pub(super) target: &'a str,
    pub(super) body: &'a [u8],
}

/// Why no answer came from the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Their socket is gone.
    Gone,
    /// The system refuses a connection now.
    Busy,
    /// They did not answer before the deadline.
    TimedOut,
    /// The connection broke, or the answer is not one.
    Broken,
}

impl From<End> for Failure {
    fn from(end: End) -> Self {
        if end == End::TimedOut { Self::TimedOut } else { Self::Broken }
    }
}

/// The connections to the workers.
pub(super) struct WorkerClient {
    path: PathBuf,
    tick: Duration,
    idle: Mutex<Vec<UnixStream>>,
    /// Held while one is opened.
    opening: Mutex<()>,
    large: Arc<AtomicUsize>,
}

impl WorkerClient {
    pub(super) fn new(path: PathBuf, tick: Duration) -> Self {
        Self { path, tick, idle: Mutex::default(), opening: Mutex::default(), large: Arc::default() }
    }

    /// Opens the connections that a busy moment needs, while the disk of their socket is known to answer. One that does not open
    /// now is opened when it is needed.
    pub(super) fn open_ahead(&self) {
        let opened = std::iter::repeat_with(|| self.open()).take(AHEAD).map_while(Result::ok);
        let opened: Vec<UnixStream> = opened.collect();
        lock(&self.idle).extend(opened);
    }

    /// Has a worker answer. Never tries twice: the first may have had its effect.
    pub(super) fn call(&self, request: &Outgoing, close: bool, until: Instant) -> Result<Answer, Failure> {
        let pooled = lock(&self.idle).pop();
        let mut stream = pooled.map_or_else(|| self.open(), Ok)?;
        write_all(&mut stream, &frame(request), until)?;
        let (answer, clean) = self.read_answer(&mut stream, close, until)?;
        if clean {
            lock(&self.idle).push(stream);
        }
        Ok(answer)
    }

    /// Opens one, when the one before it has its thread: see [`PROBE`].
    fn open(&self) -> Result<UnixStream, Failure> {
        let until = Instant::now() + OPEN;
        let _one_at_a_time = self.turn_to_open(until).ok_or(Failure::Busy)?;
        let mut stream = UnixStream::connect(&self.path).map_err(|error| match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::NotFound => Failure::Gone,
            _ => Failure::Busy,
        })?;
        let set = stream.set_read_timeout(Some(self.tick)).and_then(|()| stream.set_write_timeout(Some(self.tick)));
        set.map_err(|_| Failure::Busy)?;
        let probed = write_all(&mut stream, PROBE, until).map_err(Failure::from);
        // No byte of the request has gone out yet, so one that does not open is no doubt, only too many at once.
        probed.and_then(|()| self.read_answer(&mut stream, false, until)).map_err(|_| Failure::Busy)?;
        Ok(stream)
    }

    /// Waits for whoever opens one now, who may hang for ever in a call on the disk.
    fn turn_to_open(&self, until: Instant) -> Option<MutexGuard<'_, ()>> {
        loop {
            match self.opening.try_lock() {
                Ok(turn) => return Some(turn),
                Err(TryLockError::Poisoned(turn)) => return Some(turn.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => return None,
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK_AGAIN),
            }
        }
    }

    fn read_answer(&self, stream: &mut UnixStream, close: bool, until: Instant) -> Result<(Answer, bool), Failure> {
        let mut bytes = Vec::new();
        let (head, length, size) = loop {
            fill(stream, &mut bytes, until, None)?;
            if let Some(parsed) = parse_answer(&bytes, close)? {
                break parsed;
            }
        };
        let room = if length > SMALL_ANSWER { Some(Room::take(&self.large).ok_or(Failure::Busy)?) } else { None };
        let end = head.len().saturating_add(length);
        let mut answer = Answer::passed_on(head, room);
        answer.bytes.reserve_exact(length);
        answer.bytes.extend_from_slice(bytes.get(size..).unwrap_or_default());
        while answer.bytes.len() < end {
            fill(stream, &mut answer.bytes, until, None)?;
        }
        let clean = answer.bytes.len() == end;
        answer.bytes.truncate(end);
        Ok((answer, clean))
    }
}

/// The request as the workers get it: nothing of the client's own head but the target.
fn frame(request: &Outgoing) -> Vec<u8> {
    let (method, length) = (request.method.name(), request.body.len());
    let head = format!("{method} {} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n", request.target);
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(request.body);
    bytes
}

/// The head to write to the client, the body's length, and where it starts in `bytes`; `None` while more must come.
fn parse_answer(bytes: &[u8], close: bool) -> Result<Option<(Vec<u8>, usize, usize)>, Failure> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_ANSWER_HEADERS];
    let mut answer = httparse::Response::new(&mut headers);
    let size = match answer.parse(bytes) {
        Ok(httparse::Status::Complete(size)) => size,
        Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD => return Ok(None),
        _ => return Err(Failure::Broken),
    };
    let named = |name: &str| answer.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
    let length = named("content-length").and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok());
    let length: usize = length.filter(|length| *length <= MAX_ANSWER).ok_or(Failure::Broken)?;
    let kept = answer.headers.iter().filter(|header| !written_here(header.name));
    let kept = kept.map(|header| (header.name, header.value));
    let out = head(answer.code.ok_or(Failure::Broken)?, kept, length, close);
    Ok(Some((out, length, size)))
}

/// Headers that belong to one hop, or that the gate writes itself.
fn written_here(name: &str) -> bool {
    ["content-length", "connection", "transfer-encoding", "server"].iter().any(|own| name.eq_ignore_ascii_case(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever opens a connection may be in a call that never ends: others are told so and do not wait with it.
    #[test]
    fn nobody_waits_for_ever_behind_one_that_does_not_open() {
        let client = WorkerClient::new(PathBuf::from("/nowhere/http.sock"), Duration::from_millis(20));
        let _hangs = lock(&client.opening);
        let request = Outgoing { method: Method::Get, target: "/guard/status", body: b"" };
        let answer = client.call(&request, false, Instant::now() + Duration::from_secs(60));
        assert_eq!(answer.err(), Some(Failure::Busy));
    }
}
