//! Authentication of requests: bodies read, signers recovered, and whoever has no client's signature slowed down.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::types::{BadBody, EXCERPT_BYTES, Response};
use crate::base::address::Address;
use crate::base::clock::now_ms;
use crate::base::sync::lock;
use crate::guard::{Code, RequestBody};
use crate::venue::action::Action;
use crate::venue::envelope::Envelope;
use crate::venue::json::Node;
use crate::venue::signing::Source;

/// Requests whose signature does not check out are let through one in so many milliseconds, all together.
const UNSIGNED_EVERY_MS: u64 = 50;
/// So many of them wait their turn; more are turned away, so that they never hold every worker.
const UNSIGNED_WAITING: usize = 16;

/// Knows the clients.
#[derive(Debug)]
pub(in crate::service) struct Authenticator {
    clients: BTreeSet<Address>,
    /// The network that the last client signed for: tried first, for the next is likely the same.
    last_is_mainnet: AtomicBool,
    next_turn_ms: Mutex<u64>,
    waiting: AtomicUsize,
}

impl Authenticator {
    /// An authenticator for these clients.
    #[must_use]
    pub(in crate::service) fn new(clients: BTreeSet<Address>) -> Self {
        Self {
            clients,
            last_is_mainnet: AtomicBool::new(false),
            next_turn_ms: Mutex::new(0),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Reads a request.
    ///
    /// # Errors
    /// The code that it would have been refused with, where it has no client and too many of the kind wait already.
    pub(in crate::service) fn authenticate(
        &self,
        body: &[u8],
        bad_body: Option<BadBody>,
    ) -> Result<RequestBody, &'static str> {
        let request = match bad_body {
            Some(why) => malformed(body, None, why.text().to_owned(), why.status()),
            None => match Envelope::parse(body) {
                Ok(envelope) => self.with_signer(envelope),
                Err((received, error)) => malformed(body, received, error.to_string(), 422),
            },
        };
        if !matches!(request, RequestBody::Signed { .. }) && !self.take_turn() {
            let code =
                if matches!(request, RequestBody::Unsigned { .. }) { Code::BadSignature } else { Code::Malformed };
            return Err(code.as_str());
        }
        Ok(request)
    }

    fn with_signer(&self, envelope: Envelope) -> RequestBody {
        match self.signer(&envelope) {
            Ok((client, signed_as)) => RequestBody::Signed { envelope: Box::new(envelope), client, signed_as },
            Err(text) => RequestBody::Unsigned { received: envelope.received, text },
        }
    }

    fn signer(&self, envelope: &Envelope) -> Result<(Address, Source), String> {
        let last = if self.last_is_mainnet.load(Ordering::Relaxed) { Source::Mainnet } else { Source::Testnet };
        match envelope.signer(last, |address| self.clients.contains(address)) {
            Ok(Some((client, source))) => {
                self.last_is_mainnet.store(source == Source::Mainnet, Ordering::Relaxed);
                Ok((client, source))
            }
            Ok(None) => Err("the signature names no client of this guard; sign with a key whose address stands in \
                             [auth] clients"
                .to_owned()),
            Err(error) => Err(format!("the signature is not one that a key makes: {error}")),
        }
    }

    /// Reads a request to pull the kill switch: the reason and the client.
    ///
    /// # Errors
    /// The refusal to answer with.
    pub(in crate::service) fn authenticate_kill(&self, body: &[u8]) -> Result<(String, Address), Response> {
        let envelope =
            Envelope::parse(body).map_err(|(_, error)| Response::error(422, "malformed", &error.to_string()))?;
        let Action::GuardKill { reason } = &envelope.action else {
            let text = "expected the action {\"type\":\"guardKill\",\"reason\":\"…\"}";
            return Err(Response::error(422, "malformed", text));
        };
        let (client, _) = self.signer(&envelope).map_err(|text| Response::error(401, "bad_signature", &text))?;
        Ok((reason.clone(), client))
    }

    /// Waits for a turn among the requests without a client; false when too many wait.
    fn take_turn(&self) -> bool {
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= UNSIGNED_WAITING {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return false;
        }
        let now = now_ms();
        let turn_ms = {
            let mut next = lock(&self.next_turn_ms);
            // A clock that stepped back must not make turns wait for the time it left.
            let longest_ms = now.saturating_add(UNSIGNED_EVERY_MS.saturating_mul(UNSIGNED_WAITING as u64));
            let turn_ms = (*next).clamp(now, longest_ms);
            *next = turn_ms.saturating_add(UNSIGNED_EVERY_MS);
            turn_ms
        };
        std::thread::sleep(Duration::from_millis(turn_ms.saturating_sub(now)));
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        true
    }
}

fn malformed(body: &[u8], received: Option<Node>, text: String, http_status: u16) -> RequestBody {
    let unparsed = String::from_utf8_lossy(body.get(..EXCERPT_BYTES).unwrap_or(body)).into_owned();
    RequestBody::Malformed { received, unparsed, text, http_status }
}
