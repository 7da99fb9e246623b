//! The blocking client of the venue's `/info` and `/exchange`.
//!
//! Its one promise is about failure: an error says whether the request can have reached the venue. Nothing is
//! ever sent twice, followed elsewhere, or read without a bound. What a request means and when to send it may
//! not enter, and neither may a key: bodies come ready signed.

mod transport;

use crate::base::origin::Origin;
use crate::base::text::cut;
use crate::faults::{Faults, Step};
use crate::venue::client::transport::{Connector, Resolver};
use serde_json::Value;
use std::io::Read;
use std::time::Duration;
use thiserror::Error;

/// The most of one answer that is read, in bytes.
pub const MAX_ANSWER: u64 = 8 * 1024 * 1024;
/// The most of a refusal's body that is kept, in bytes.
pub const MAX_REFUSAL: usize = 2048;

/// Idle connections kept open: every sender, the poller and a few passed-through questions at once.
const IDLE_CONNECTIONS: usize = 16;
/// Idle connections are dropped well before a server commonly does (60 s), so that few requests meet a closed one.
const IDLE_AGE: Duration = Duration::from_secs(15);
/// The venue's heads are under 1 KiB; a body larger than the buffers passes through in pieces.
const BUFFER_BYTES: usize = 32 * 1024;
const REASON_CHARS: usize = 200;

/// How long a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the look-up, and again for connection and TLS handshake together, in milliseconds.
    pub connect_ms: u64,
    /// For the whole call, look-up to the last byte of the answer, in milliseconds.
    pub call_ms: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect_ms: 3_000, call_ms: 10_000 }
    }
}

/// What an owner does about too many requests.
pub const SHARE_OF_MANY: &str = "where several guards or bots share this machine, `svc-guard config get ip_share` shows this one's part, and \
                                 `svc-guard config set ip_share SHARE` takes a smaller one, with that in the place of SHARE; 1/8 is the \
                                 least, and beyond it each needs an IP address of its own";

/// Why a call brought no good answer. No text of it holds a part of the request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// The look-up, the connection or the TLS handshake failed: no byte of the request went out.
    #[error("not sent: {0}")]
    NotSent(String),
    /// Bytes may have gone out and no whole answer came back: the request may have reached the venue.
    #[error("no answer, it may have arrived: {0}")]
    NoAnswer(String),
    /// HTTP 429: the venue turned the request away unread.
    #[error("the venue answered 429: too many requests from this address; {SHARE_OF_MANY}")]
    RateLimited,
    /// An HTTP answer other than 200 and 429.
    #[error("the venue answered HTTP {status}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The body's first [`MAX_REFUSAL`] bytes as text.
        body: String,
    },
    /// HTTP 200 with a body that is not JSON, or over [`MAX_ANSWER`].
    #[error("the venue's answer cannot be read: {0}")]
    Garbage(String),
}

impl CallError {
    /// Whether the request may have taken effect, so that only a question to the venue can settle it.
    ///
    /// A 4xx is the venue's own refusal. A 408, a 5xx or a redirection may come from something in between,
    /// after the venue had the request.
    #[must_use]
    pub fn may_have_happened(&self) -> bool {
        match self {
            Self::NotSent(_) | Self::RateLimited => false,
            Self::NoAnswer(_) | Self::Garbage(_) => true,
            Self::Refused { status, .. } => *status == 408 || !(400..500).contains(status),
        }
    }
}

/// A base URL that cannot be called.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("venue URL {0:?} is not http:// or https:// with a host and no path, query or user")]
pub struct BadUrl(String);

/// An answer as it came, to be passed through: any status, any body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawAnswer {
    /// HTTP status.
    pub status: u16,
    /// The answer's `Content-Type`, empty where it named none.
    pub content_type: String,
    /// The whole body.
    pub body: Vec<u8>,
}

/// The client: one pool of connections, shared by reference among threads.
#[derive(Debug)]
pub struct Client {
    agent: ureq::Agent,
    base: String,
    info_url: String,
    exchange_url: String,
    faults: Faults,
}

impl Client {
    /// A client of the venue at `base_url` (`https://host[:port]`). Opens no connection yet.
    ///
    /// # Errors
    /// [`BadUrl`] for anything but a bare HTTP or HTTPS origin.
    pub fn new(base_url: &str, timeouts: Timeouts) -> Result<Self, BadUrl> {
        Self::with_faults(base_url, timeouts, Faults::default())
    }

    /// The same, with a switchboard that makes calls fail in builds that can.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn with_faults(base_url: &str, timeouts: Timeouts, faults: Faults) -> Result<Self, BadUrl> {
        let base = Origin::parse(base_url).map_err(|_| BadUrl(base_url.to_owned()))?;
        let connect = Duration::from_millis(timeouts.connect_ms);
        let config = ureq::config::Config::builder()
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_resolve(Some(connect))
            .timeout_connect(Some(connect))
            .timeout_global(Some(Duration::from_millis(timeouts.call_ms)))
            .max_idle_connections(IDLE_CONNECTIONS)
            .max_idle_connections_per_host(IDLE_CONNECTIONS)
            .max_idle_age(IDLE_AGE)
            .input_buffer_size(BUFFER_BYTES)
            .output_buffer_size(BUFFER_BYTES)
            .max_response_header_size(BUFFER_BYTES)
            .user_agent(concat!("svc-guard/", env!("CARGO_PKG_VERSION")))
            .accept("application/json")
            .build();
        let agent = ureq::Agent::with_parts(config, Connector::new(faults.clone()), Resolver::default());
        let (info_url, exchange_url) = (format!("{base}/info"), format!("{base}/exchange"));
        Ok(Self { agent, base: base.to_string(), info_url, exchange_url, faults })
    }

    /// Asks one `/info` question.
    ///
    /// # Errors
    /// See [`CallError`]; a read that failed may be asked again.
    pub fn info(&self, question: &Value) -> Result<Value, CallError> {
        let asked = || question.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let answer = self.info_raw(question.to_string().as_bytes()).map_err(|error| match error {
            CallError::NoAnswer(reason) => CallError::NoAnswer(format!("{reason}, asked for {}", asked())),
            error => error,
        })?;
        json(&answer)
    }

    /// Asks an `/info` question in a client's own words and gives the answer as it came, whatever its status.
    ///
    /// # Errors
    /// `NotSent`, `NoAnswer`, or `Garbage` where the answer is over [`MAX_ANSWER`].
    pub fn info_raw(&self, question: &[u8]) -> Result<RawAnswer, CallError> {
        self.faults.pass(Step::Ask).map_err(|error| CallError::NotSent(error.to_string()))?;
        self.post(&self.info_url, question, Step::AskWritten)
    }

    /// Sends one signed action, once, and gives the venue's JSON answer.
    ///
    /// # Errors
    /// See [`CallError::may_have_happened`] for what must be settled and what may be sent anew.
    pub fn exchange(&self, body: &[u8]) -> Result<Value, CallError> {
        json(&self.post(&self.exchange_url, body, Step::SendWritten)?)
    }

    /// Gets `path` (with its query) from a server that is more than the venue, whatever its status.
    ///
    /// # Errors
    /// As [`Client::info_raw`].
    pub fn get_raw(&self, path: &str) -> Result<RawAnswer, CallError> {
        transport::begin(Step::AskWritten);
        self.named(whole(self.agent.get(format!("{}{path}", self.base)).call()))
    }

    /// Posts a JSON body to `path`, once, and gives the answer as it came, whatever its status.
    ///
    /// # Errors
    /// As [`Client::info_raw`].
    pub fn post_raw(&self, path: &str, body: &[u8]) -> Result<RawAnswer, CallError> {
        self.post(&format!("{}{path}", self.base), body, Step::AskWritten)
    }

    /// `written` is the step that can fail after the last byte went out and before the first one came in.
    fn post(&self, url: &str, body: &[u8], written: Step) -> Result<RawAnswer, CallError> {
        transport::begin(written);
        self.named(whole(self.agent.post(url).content_type("application/json").send(body)))
    }

    /// What was not sent or not answered, with the address that it was for.
    fn named(&self, answer: Result<RawAnswer, CallError>) -> Result<RawAnswer, CallError> {
        answer.map_err(|error| match error {
            CallError::NotSent(reason) => CallError::NotSent(format!("{} is not reached: {reason}", self.base)),
            CallError::NoAnswer(reason) => CallError::NoAnswer(format!("{}: {reason}", self.base)),
            error => error,
        })
    }
}

/// The whole answer to the request that this thread has just made.
fn whole(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<RawAnswer, CallError> {
    let answer = answer.map_err(|error| {
        let reason = reason(&error);
        if transport::has_sent() { CallError::NoAnswer(reason) } else { CallError::NotSent(reason) }
    })?;
    let status = answer.status().as_u16();
    let content_type = answer.headers().get("content-type").and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    // The status alone makes a refusal, even where its body breaks off.
    let body = read_bounded(answer.into_body()).or_else(|e| if status == 200 { Err(e) } else { Ok(Vec::new()) })?;
    Ok(RawAnswer { status, content_type, body })
}

/// Reads one byte past the bound, so that a body of exactly the bound is still whole.
fn read_bounded(body: ureq::Body) -> Result<Vec<u8>, CallError> {
    let mut bytes = Vec::new();
    let read = body.into_reader().take(MAX_ANSWER + 1).read_to_end(&mut bytes);
    read.map_err(|error| CallError::NoAnswer(cut(&format!("the answer broke off: {error}"), REASON_CHARS)))?;
    if bytes.len() as u64 > MAX_ANSWER {
        return Err(CallError::Garbage(format!("over {MAX_ANSWER} bytes")));
    }
    Ok(bytes)
}

fn json(answer: &RawAnswer) -> Result<Value, CallError> {
    match answer.status {
        200 => serde_json::from_slice(&answer.body)
            .map_err(|error| CallError::Garbage(cut(&error.to_string(), REASON_CHARS))),
        429 => Err(CallError::RateLimited),
        status => {
            let kept = answer.body.get(..MAX_REFUSAL).unwrap_or(&answer.body);
            Err(CallError::Refused { status, body: String::from_utf8_lossy(kept).into_owned() })
        }
    }
}

/// Why a call failed, in words.
pub(crate) fn reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "it did not answer in time".to_owned(),
        error => cut(&error.to_string(), REASON_CHARS),
    }
}

#[cfg(test)]
mod tests;
