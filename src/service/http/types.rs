//! What the gate passes to the handlers and gets back: plain requests and responses, free of sockets.

use serde_json::json;

/// The content type of every answer but the monitor page's.
pub const JSON: &str = "application/json";

/// The methods that reach a handler; `HEAD` arrives as `Get` and the gate leaves the body out of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `GET`, or `HEAD`.
    Get,
    /// `POST`, its body whole.
    Post,
}

impl Method {
    /// The method's name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// Why a request to a judged path cannot be judged. It still is a decision, so it goes on to its handler, its
/// body cut to the first [`EXCERPT_BYTES`] bytes where the body is over the limit or of unknown length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unjudgeable {
    /// A body without a `Content-Length`.
    NoLength,
    /// A body over the gate's limit.
    TooLarge,
    /// A body that is not `application/json`.
    ContentType,
}

/// What is kept of a body that cannot be judged.
pub const EXCERPT_BYTES: usize = 512;

impl Unjudgeable {
    /// The HTTP status that says so.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::NoLength => 411,
            Self::TooLarge => 413,
            Self::ContentType => 415,
        }
    }

    /// What is wrong and what to send instead.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::NoLength => "the body has no Content-Length; send one, and no Transfer-Encoding",
            Self::TooLarge => "the body is over the 262144 bytes that one request may have; send fewer orders in it",
            Self::ContentType => "the body must be sent with Content-Type: application/json",
        }
    }
}

/// A whole request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Path as sent, without the query; one of the routes'.
    pub path: String,
    /// What follows the `?`, undecoded; empty without one.
    pub query: String,
    /// The body, whole unless `unjudgeable` says otherwise; empty for a GET.
    pub body: Vec<u8>,
    /// Set where the request cannot be judged and only its refusal is left to decide.
    pub unjudgeable: Option<Unjudgeable>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// HTTP status, 200 to 599 and none that forbids a body.
    pub status: u16,
    /// Value of `Content-Type`.
    pub content_type: String,
    /// Further headers. The gate writes `Content-Length` and `Connection` itself.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// A JSON answer from a ready body.
    #[must_use]
    pub fn json(status: u16, body: Vec<u8>) -> Self {
        Self { status, content_type: JSON.to_owned(), headers: Vec::new(), body }
    }

    /// A refusal: `{"code","msg","data":null}`, the one shape of every 4xx and 5xx body.
    #[must_use]
    pub fn error(status: u16, code: &str, msg: &str) -> Self {
        Self::json(status, json!({"code": code, "msg": msg, "data": null}).to_string().into_bytes())
    }

    /// The same answer with one header more.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }
}
