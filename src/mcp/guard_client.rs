//! Client of the guard's HTTP API on this machine: every call has a hard time-out, and nothing is sent twice.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use serde_json::Value;

use crate::base::origin::Origin;
use crate::base::text::visible;
use crate::venue::client::{CallError, Client, RawAnswer, Timeouts};

/// Time-out of a read. The guard answers from memory; a question to the venue takes at most the venue's time-out.
const READ_MS: u64 = 12_000;
/// Time-out of a decision. The guard itself gives up after 25 s and says so.
const DECIDE_MS: u64 = 30_000;
/// Time-out of pulling the kill switch: past this the kill file is tried.
pub(super) const KILL_MS: u64 = 5_000;
/// Time-out of the first look at the guard, before anything is served.
const PROBE_MS: u64 = 2_000;
/// Time-out of connecting to this machine.
const CONNECT_MS: u64 = 2_000;

/// A guard's base URL: plain HTTP to a loopback address, so that orders never leave this machine unencrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardUrl(String);

/// Why a base URL is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It has another form.
    #[error("must be http://HOST:PORT without user, path or query")]
    Form,
    /// The host is not this machine.
    #[error(
        "must name a loopback address such as http://127.0.0.1:8547; agents trade only through a guard on this machine"
    )]
    NotLoopback,
}

impl GuardUrl {
    /// Reads a base URL. `localhost` is taken as 127.0.0.1, whatever the name server would say.
    ///
    /// # Errors
    /// The [`UrlError`].
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let origin = Origin::parse(text).ok().filter(|origin| !origin.is_encrypted()).ok_or(UrlError::Form)?;
        let ip = origin.ip().filter(IpAddr::is_loopback).ok_or(UrlError::NotLoopback)?;
        Ok(Self(format!("http://{}", SocketAddr::new(ip, origin.port().unwrap_or(80)))))
    }
}

impl fmt::Display for GuardUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why the guard gave no good answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum GuardCallError {
    /// It was not reached: nothing was asked.
    #[error("the guard was not reached: {0}")]
    Away(String),
    /// It was asked and did not answer: it may have acted.
    #[error("the guard did not answer: {0}")]
    NoAnswer(String),
    /// It answered with another status than 200: status, its code, its text.
    #[error("the guard answered with HTTP {0} ({1}): {2}")]
    Refused(u16, String, String),
}

impl GuardCallError {
    /// Whether a request may have been acted on all the same.
    pub(super) fn may_have_acted(&self) -> bool {
        match self {
            Self::Away(_) => false,
            Self::NoAnswer(_) => true,
            // A 504 is the guard's "no decision in time". A status that is no refusal does not come from the guard.
            Self::Refused(status, code, _) => !(400..500).contains(status) && code != "busy",
        }
    }
}

/// The guard's API.
#[derive(Debug)]
pub(super) struct GuardClient {
    probes: Client,
    reads: Client,
    decisions: Client,
    kills: Client,
}

impl GuardClient {
    /// The API behind a base URL. Opens no connection yet.
    ///
    /// # Errors
    /// [`UrlError::Form`], which a parsed URL does not give.
    pub(super) fn new(url: &GuardUrl) -> Result<Self, UrlError> {
        let client = |call_ms| Client::new(&url.0, Timeouts { connect_ms: CONNECT_MS, call_ms });
        let form = |_| UrlError::Form;
        Ok(Self {
            probes: client(PROBE_MS).map_err(form)?,
            reads: client(READ_MS).map_err(form)?,
            decisions: client(DECIDE_MS).map_err(form)?,
            kills: client(KILL_MS).map_err(form)?,
        })
    }

    /// The status, for a first look: given up soon.
    ///
    /// # Errors
    /// As [`GuardClient::get`].
    pub(super) fn probe(&self) -> Result<Value, GuardCallError> {
        read(self.probes.get_raw("/guard/status"))
    }

    /// Gets a path.
    ///
    /// # Errors
    /// The [`GuardCallError`]; a read may be asked again.
    pub(super) fn get(&self, path: &str) -> Result<Value, GuardCallError> {
        read(self.reads.get_raw(path))
    }

    /// Asks one of the venue's `/info` questions.
    ///
    /// # Errors
    /// As [`GuardClient::get`].
    pub(super) fn info(&self, question: &Value) -> Result<Value, GuardCallError> {
        read(self.reads.post_raw("/info", question.to_string().as_bytes()))
    }

    /// Posts a signed request, once.
    ///
    /// # Errors
    /// See [`GuardCallError::may_have_acted`].
    pub(super) fn exchange(&self, body: &str) -> Result<Value, GuardCallError> {
        read(self.decisions.post_raw("/exchange", body.as_bytes()))
    }

    /// Pulls the kill switch with a signed request.
    ///
    /// # Errors
    /// As [`GuardClient::get`]; pulling twice does no harm.
    pub(super) fn kill(&self, body: &str) -> Result<Value, GuardCallError> {
        read(self.kills.post_raw("/guard/kill", body.as_bytes()))
    }
}

fn read(answer: Result<RawAnswer, CallError>) -> Result<Value, GuardCallError> {
    let answer = answer.map_err(|error| match error {
        CallError::NotSent(reason) => GuardCallError::Away(reason),
        other => GuardCallError::NoAnswer(other.to_string()),
    })?;
    let body: Option<Value> = serde_json::from_slice(&answer.body).ok();
    match (answer.status, body) {
        (200, Some(body)) => Ok(body),
        // A request that the guard could not read is vetoed, with an HTTP status of 4xx.
        (400..=499, Some(body)) if body.get("guard").is_some_and(Value::is_object) => Ok(body),
        (200, None) => Err(GuardCallError::NoAnswer("its answer is not JSON; is that the guard?".to_owned())),
        (status, body) => {
            let member = |name: &str| body.as_ref().and_then(|body| body.get(name)?.as_str().map(str::to_owned));
            let code = member("code").unwrap_or_else(|| "unknown".to_owned());
            let text = member("msg").unwrap_or_default();
            Err(GuardCallError::Refused(status, visible(&code, 40), visible(&text, 200)))
        }
    }
}
