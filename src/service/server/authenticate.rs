//! Authentication of requests: bodies read, signers recovered, and whoever has no client's signature slowed down.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::Sender;

use super::long_reads::LongReads;
use super::signers::{Signers, malformed};
use super::turns::Turns;
use super::types::{BadBody, Response};
use crate::base::address::Address;
use crate::base::clock::now_ms;
use crate::base::sync::lock;
use crate::guard::{Code, RequestBody};
use crate::service::thread::Death;
use crate::venue::action::Action;
use crate::venue::envelope::Envelope;
use crate::venue::json::is_short;

/// Requests whose signature does not check out are let through one in so many milliseconds, all together.
const UNSIGNED_EVERY_MS: u64 = 50;
/// So many of them wait their turn; more are turned away, so that they never hold every worker.
const UNSIGNED_WAITING: usize = 16;

/// Knows the clients.
#[derive(Debug)]
pub(in crate::service) struct Authenticator {
    signers: Arc<Signers>,
    next_turn_ms: Mutex<u64>,
    waiting: AtomicUsize,
    turns: Turns,
    long: LongReads,
}

impl Authenticator {
    /// An authenticator for these clients.
    #[must_use]
    pub(in crate::service) fn new(clients: BTreeSet<Address>, account: Address, api_wallet: Option<Address>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            signers: Arc::new(Signers::new(clients, account, api_wallet)),
            turns: Turns::new(cores),
            long: LongReads::new(),
            next_turn_ms: Mutex::new(0),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Starts what reads long requests.
    ///
    /// # Errors
    /// The system's, when it grants no thread.
    pub(super) fn start(&self, deaths: &Sender<Death>) -> io::Result<()> {
        self.long.start(&self.signers, deaths)
    }

    /// Reads a request, which came in on a connection of `known`: the client whose signature checked out there before.
    ///
    /// # Errors
    /// The code that it would have been refused with, where it has no client and too many of the kind wait already.
    pub(in crate::service) fn authenticate(
        &self,
        (body, bad_body): (&[u8], Option<BadBody>),
        known: Option<Address>,
    ) -> Result<RequestBody, &'static str> {
        let request = match bad_body {
            Some(why) => malformed(body, None, why.text().to_owned(), why.status()),
            None => self.read(body, known),
        };
        if !matches!(request, RequestBody::Signed { .. }) && !self.take_turn() {
            let code =
                if matches!(request, RequestBody::Unsigned { .. }) { Code::BadSignature } else { Code::Malformed };
            return Err(code.as_str());
        }
        Ok(request)
    }

    /// Whether nobody's signer is being recovered.
    pub(super) fn is_idle(&self) -> bool {
        self.turns.are_idle()
    }

    fn read(&self, body: &[u8], known: Option<Address>) -> RequestBody {
        let long = LongReads::is_for(body, known).then(|| self.long.wait());
        let _turn = self.turns.take(known);
        long.map_or_else(|| self.signers.read(body), |long| long.read(body, &self.signers))
    }

    /// Reads a request to pull the kill switch: the reason and the client. It waits for nobody's turn.
    ///
    /// # Errors
    /// The refusal to answer with.
    pub(in crate::service) fn authenticate_kill(&self, body: &[u8]) -> Result<(String, Address), Response> {
        let malformed = |text: String| Response::error(422, "malformed", &text);
        // It is read beside however many others, and needs little.
        is_short(body).map_err(|error| malformed(format!("a kill has {error}")))?;
        let envelope = Envelope::parse(body).map_err(|(_, error)| malformed(error.to_string()))?;
        let Action::GuardKill { reason } = &envelope.action else {
            let text = "expected the action {\"type\":\"guardKill\",\"reason\":\"…\"}";
            return Err(malformed(text.to_owned()));
        };
        let (client, _) =
            self.signers.signer(&envelope).map_err(|text| Response::error(401, "bad_signature", &text))?;
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
