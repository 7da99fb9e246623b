//! Plain requests and responses, free of sockets: the gate passes the ones to the handlers and gets the others back.

use crate::record::error_body::ErrorBody;

/// The content type of every answer but the monitor page's.
pub(in crate::service) const JSON: &str = "application/json";

/// The methods that reach a handler; `HEAD` arrives as `Get` and the gate leaves the body out of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) enum Method {
    /// `GET`, or `HEAD`.
    Get,
    /// `POST`, its body whole.
    Post,
}

impl Method {
    /// The method's name on the wire.
    #[must_use]
    pub(in crate::service) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// Why a request's body is not one to decide on. The refusal still is a decision, so the request goes on to its handler, its
/// body cut to the first [`EXCERPT_BYTES`] bytes where the body is over the limit or of unknown length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) enum BadBody {
    /// A body without a `Content-Length`.
    NoLength,
    /// A body over the gate's limit.
    TooLarge,
    /// A body that is not `application/json`.
    ContentType,
}

/// Bytes kept of a body that is not decided on.
pub(in crate::service) const EXCERPT_BYTES: usize = 512;

impl BadBody {
    /// The HTTP status that says so.
    #[must_use]
    pub(in crate::service) fn status(self) -> u16 {
        match self {
            Self::NoLength => 411,
            Self::TooLarge => 413,
            Self::ContentType => 415,
        }
    }

    /// The fault, and what to send instead.
    #[must_use]
    pub(in crate::service) fn text(self) -> &'static str {
        match self {
            Self::NoLength => "the body has no Content-Length; send one, and no Transfer-Encoding",
            Self::TooLarge => "the body is over the 262144 bytes that one request may have; send fewer orders in it",
            Self::ContentType => "the body must be sent with Content-Type: application/json",
        }
    }
}

/// A whole request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::service) struct Request {
    /// Its method.
    pub(in crate::service) method: Method,
    /// Path as sent, without the query; one of the routes'.
    pub(in crate::service) path: String,
    /// The part after the `?`, undecoded; empty without one.
    pub(in crate::service) query: String,
    /// The body, whole unless `bad_body` says otherwise; empty for a GET.
    pub(in crate::service) body: Vec<u8>,
    /// Set where the body cannot be decided on, and only its refusal is left to record.
    pub(in crate::service) bad_body: Option<BadBody>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::service) struct Response {
    /// HTTP status, 200 to 599 and none that forbids a body.
    pub(in crate::service) status: u16,
    /// Value of `Content-Type`.
    pub(in crate::service) content_type: String,
    /// Further headers. The gate writes `Content-Length` and `Connection` itself.
    pub(in crate::service) headers: Vec<(&'static str, String)>,
    /// The body.
    pub(in crate::service) body: Vec<u8>,
}

impl Response {
    /// A JSON answer from a ready body.
    #[must_use]
    pub(in crate::service) fn json(status: u16, body: Vec<u8>) -> Self {
        Self { status, content_type: JSON.to_owned(), headers: Vec::new(), body }
    }

    /// A refusal: `{"code","msg","data":null}`, the one shape of every 4xx and 5xx body.
    #[must_use]
    pub(in crate::service) fn error(status: u16, code: &str, msg: &str) -> Self {
        Self::json(status, ErrorBody::new(code, msg).to_json().into_bytes())
    }

    /// The same answer with one header more.
    #[must_use]
    pub(in crate::service) fn with_header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }
}
