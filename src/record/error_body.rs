//! The body of every answer that is an error: what the official SDKs read (`code`, `msg`, `data`), and for answers to a
//! request the venue's own shape of a refusal beside it (`status`, `response`).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// An error, to a program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorBody<'a> {
    /// The reason code.
    pub code: Cow<'a, str>,
    /// The reason in words.
    pub msg: Cow<'a, str>,
    /// Always null.
    pub data: (),
    /// `err`, in an answer to a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Cow<'a, str>>,
    /// The reason in words, in an answer to a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Cow<'a, str>>,
}

impl<'a> ErrorBody<'a> {
    /// An error of an endpoint of the guard's own.
    #[must_use]
    pub fn new(code: &'a str, msg: &'a str) -> Self {
        Self { code: code.into(), msg: msg.into(), ..Self::default() }
    }

    /// An error in answer to a request, which the SDKs look for in the venue's shape.
    #[must_use]
    pub fn to_request(code: &'a str, msg: &'a str) -> Self {
        Self { status: Some("err".into()), response: Some(msg.into()), ..Self::new(code, msg) }
    }

    /// The body.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Strings and null, for which the writer has no error.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The body of `GET /healthz`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Health<'a> {
    /// Whether nothing keeps the guard from being healthy.
    pub ok: bool,
    /// What does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// What keeps it from opening anything although it is healthy: a pulled kill switch, a halt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_trading: Vec<String>,
    /// The problems as an error.
    #[serde(flatten)]
    pub error: Option<ErrorBody<'a>>,
}
