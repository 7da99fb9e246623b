//! Authentication of requests: bodies read, signers recovered, and whoever has no client's signature slowed down.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::turns::Turns;
use super::types::{BadBody, EXCERPT_BYTES, Response};
use crate::base::address::Address;
use crate::base::clock::now_ms;
use crate::base::sync::lock;
use crate::guard::{Code, RequestBody};
use crate::service::reporting::level::Level;
use crate::service::reporting::log;
use crate::venue::action::Action;
use crate::venue::envelope::Envelope;
use crate::venue::json::{Node, is_short};
use crate::venue::signing::Source;

/// Requests whose signature does not check out are let through one in so many milliseconds, all together.
const UNSIGNED_EVERY_MS: u64 = 50;
/// So many of them wait their turn; more are turned away, so that they never hold every worker.
const UNSIGNED_WAITING: usize = 16;
/// The account's own key in a bot's hands is warned of in the log once in so long.
const WARNED_FOR_MS: u64 = 60_000;

/// Knows the clients.
#[derive(Debug)]
pub(in crate::service) struct Authenticator {
    clients: BTreeSet<Address>,
    account: Address,
    api_wallet: Option<Address>,
    /// The network that the last client signed for: tried first, for the next is likely the same.
    last_is_mainnet: AtomicBool,
    next_turn_ms: Mutex<u64>,
    /// The account's own key is warned of again from then on.
    next_warning_ms: AtomicU64,
    waiting: AtomicUsize,
    turns: Turns,
}

impl Authenticator {
    /// An authenticator for these clients.
    #[must_use]
    pub(in crate::service) fn new(clients: BTreeSet<Address>, account: Address, api_wallet: Option<Address>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            clients,
            account,
            api_wallet,
            turns: Turns::new(cores),
            next_warning_ms: AtomicU64::new(0),
            last_is_mainnet: AtomicBool::new(false),
            next_turn_ms: Mutex::new(0),
            waiting: AtomicUsize::new(0),
        }
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
        let _turn = self.turns.take(known);
        match Envelope::parse(body) {
            Ok(envelope) => self.with_signer(envelope),
            Err((received, error)) => malformed(body, received.as_ref(), error.to_string(), 422),
        }
    }

    fn with_signer(&self, envelope: Envelope) -> RequestBody {
        match self.signer(&envelope) {
            Ok((client, signed_as)) => RequestBody::Signed { envelope: Box::new(envelope), client, signed_as },
            Err(text) => RequestBody::unsigned(&envelope.received, text),
        }
    }

    fn signer(&self, envelope: &Envelope) -> Result<(Address, Source), String> {
        let last = if self.last_is_mainnet.load(Ordering::Relaxed) { Source::Mainnet } else { Source::Testnet };
        let mut tried = Vec::new();
        let is_client = |address: &Address| {
            tried.push(*address);
            self.clients.contains(address)
        };
        match envelope.signer(last, is_client) {
            Ok(Some((client, source))) => {
                self.last_is_mainnet.store(source == Source::Mainnet, Ordering::Relaxed);
                Ok((client, source))
            }
            Ok(None) => Err(self.stranger(&tried, last)),
            Err(error) => Err(format!("the signature is not one that a key makes: {error}")),
        }
    }

    /// What to tell a signer who is no client: whose key it is. The hash depends on the network that was signed for, so
    /// that a signature names another address for each; `tried` holds that of `first`, then that of the other one.
    fn stranger(&self, tried: &[Address], first: Source) -> String {
        let now = now_ms();
        if tried.contains(&self.account) {
            let text = format!(
                "the signature is by the account's own key ({}): a bot that has it can withdraw everything and trade \
                 without this guard; take it away from the bot, and let it sign with a client key, made by `svc-guard \
                 client add --out FILE`",
                self.account
            );
            if self.next_warning_ms.fetch_max(now.saturating_add(WARNED_FOR_MS), Ordering::Relaxed) <= now {
                log::line(Level::Warning, &text);
            }
            return text;
        }
        if let Some(wallet) = self.api_wallet.filter(|wallet| tried.contains(wallet)) {
            return format!(
                "the signature is by this guard's own API wallet ({wallet}): whoever has its key trades without a rule; \
                 take it away from the bot, and let it sign with a client key, made by `svc-guard client add --out FILE`"
            );
        }
        let (Some(one), Some(other)) = (tried.first(), tried.get(1)) else {
            return "the signature names no client of this guard".to_owned();
        };
        let (mainnet, testnet) = if first == Source::Mainnet { (one, other) } else { (other, one) };
        format!(
            "the signature names no client of this guard: it is by {mainnet} if it was made for mainnet, by {testnet} if for \
             testnet; sign with a key whose address stands under [auth] clients in guard.toml (`svc-guard client add --out \
             FILE` makes one, a restart takes it in)"
        )
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

fn malformed(body: &[u8], received: Option<&Node>, text: String, http_status: u16) -> RequestBody {
    let unparsed = String::from_utf8_lossy(body.get(..EXCERPT_BYTES).unwrap_or(body)).into_owned();
    RequestBody::malformed(received, unparsed, text, http_status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_key_signed_is_told() {
        let [client, account, wallet, one, other] = [1, 2, 3, 4, 5].map(|byte| Address([byte; 20]));
        let knows = Authenticator::new(BTreeSet::from([client]), account, Some(wallet));
        let own = knows.stranger(&[one, account], Source::Testnet);
        assert!(own.contains("the account's own key") && own.contains(&account.to_string()), "{own}");
        assert!(knows.next_warning_ms.load(Ordering::Relaxed) > 0, "the log is told");
        let guards = knows.stranger(&[wallet, one], Source::Testnet);
        assert!(guards.contains("this guard's own API wallet") && guards.contains(&wallet.to_string()), "{guards}");
        for (first, tried) in [(Source::Mainnet, [one, other]), (Source::Testnet, [other, one])] {
            let said = knows.stranger(&tried, first);
            assert!(
                said.contains(&format!("by {one} if it was made for mainnet, by {other} if for testnet")),
                "{said}"
            );
        }
    }
}
