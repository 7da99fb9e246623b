//! Answers as bytes on the wire.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use crate::base::clock::now_ms;
use crate::service::server::types::Response;

/// Answers up to this are read from the workers at once, however slow the client, so that it never holds one up.
pub(super) const SMALL_ANSWER: usize = 256 * 1024;
/// As many longer answers are held at one moment, which bounds the memory that slow clients can take.
pub(super) const LARGE_ANSWERS: usize = 8;

/// An answer ready to be written, head and body.
pub(super) struct Answer {
    pub(super) bytes: Vec<u8>,
    /// Where the body starts.
    body_at: usize,
    _room: Option<Room>,
}

impl Answer {
    /// An answer that was made on the connection's thread.
    pub(super) fn of(response: &Response, close: bool) -> Self {
        Self::with_first_header(None, response, close)
    }

    /// The same with the time, as the workers give it with theirs.
    pub(super) fn dated(response: &Response, close: bool) -> Self {
        let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(now_ms()));
        Self::with_first_header(Some(("Date", date.as_bytes())), response, close)
    }

    fn with_first_header(first: Option<(&str, &[u8])>, response: &Response, close: bool) -> Self {
        let content_type = ("Content-Type", response.content_type.as_bytes());
        let headers = response.headers.iter().map(|(name, value)| (*name, value.as_bytes()));
        let headers = first.into_iter().chain(std::iter::once(content_type)).chain(headers);
        let bytes = head(response.status, headers, response.body.len(), close);
        let mut answer = Self::passed_on(bytes, None);
        answer.bytes.extend_from_slice(&response.body);
        answer
    }

    /// An answer whose body is still to come behind this head.
    pub(super) fn passed_on(head: Vec<u8>, room: Option<Room>) -> Self {
        Self { body_at: head.len(), bytes: head, _room: room }
    }

    /// The head alone.
    pub(super) fn head(&self) -> &[u8] {
        self.bytes.get(..self.body_at).unwrap_or(&self.bytes)
    }
}

/// Room for one large answer; free again when dropped.
pub(super) struct Room(Arc<AtomicUsize>);

impl Room {
    /// Takes one of [`LARGE_ANSWERS`], of which so many are taken.
    pub(super) fn take(taken: &Arc<AtomicUsize>) -> Option<Self> {
        let more = |count: usize| (count < LARGE_ANSWERS).then_some(count.saturating_add(1));
        taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok()?;
        Some(Self(Arc::clone(taken)))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The bytes of a head.
pub(super) fn head<'a>(
    status: u16,
    headers: impl Iterator<Item = (&'a str, &'a [u8])>,
    length: usize,
    close: bool,
) -> Vec<u8> {
    let status = tiny_http::StatusCode(status);
    let mut bytes = format!("HTTP/1.1 {} {}\r\n", status.0, status.default_reason_phrase()).into_bytes();
    for (name, value) in headers {
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value);
        bytes.extend_from_slice(b"\r\n");
    }
    let connection = if close { "Connection: close\r\n" } else { "" };
    bytes.extend_from_slice(format!("Content-Length: {length}\r\n{connection}\r\n").as_bytes());
    bytes
}
