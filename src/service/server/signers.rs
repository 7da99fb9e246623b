//! Bodies read and signers recovered: which client asks, or why it is none.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::types::EXCERPT_BYTES;
use crate::base::address::Address;
use crate::base::clock::now_ms;
use crate::guard::RequestBody;
use crate::service::reporting::level::Level;
use crate::service::reporting::log;
use crate::venue::envelope::Envelope;
use crate::venue::json::Node;
use crate::venue::signing::Source;

/// The account's own key in a bot's hands is warned of in the log once in so long.
const WARNED_FOR_MS: u64 = 60_000;

/// Knows the clients.
#[derive(Debug)]
pub(super) struct Signers {
    clients: BTreeSet<Address>,
    account: Address,
    api_wallet: Option<Address>,
    /// The network that the last client signed for: tried first, for the next is likely the same.
    last_is_mainnet: AtomicBool,
    /// The account's own key is warned of again from then on.
    next_warning_ms: AtomicU64,
}

impl Signers {
    pub(super) fn new(clients: BTreeSet<Address>, account: Address, api_wallet: Option<Address>) -> Self {
        let (last_is_mainnet, next_warning_ms) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { clients, account, api_wallet, last_is_mainnet, next_warning_ms }
    }

    /// Reads a request.
    pub(super) fn read(&self, body: &[u8]) -> RequestBody {
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

    /// The client that signed a request, and for which network.
    ///
    /// # Errors
    /// Why it is none's.
    pub(super) fn signer(&self, envelope: &Envelope) -> Result<(Address, Source), String> {
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
}

/// A request that cannot be decided on.
pub(super) fn malformed(body: &[u8], received: Option<&Node>, text: String, http_status: u16) -> RequestBody {
    let unparsed = String::from_utf8_lossy(body.get(..EXCERPT_BYTES).unwrap_or(body)).into_owned();
    RequestBody::malformed(received, unparsed, text, http_status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_key_signed_is_told() {
        let [client, account, wallet, one, other] = [1, 2, 3, 4, 5].map(|byte| Address([byte; 20]));
        let knows = Signers::new(BTreeSet::from([client]), account, Some(wallet));
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
