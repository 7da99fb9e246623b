//! Whether the venue takes what is signed for the account. Where it does not know the signer there, nothing that the
//! guard sends has any effect, however well it reads.

use super::effect::{Effects, Keys};
use super::event;
use super::state::Guard;
use crate::venue::reply::Reply;

/// How the venue refuses a signer that may not act for the account, in lower case: the first
/// two by <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/signing>, the others observed.
const UNKNOWN_SIGNER: [&str; 4] =
    ["user or api wallet", "must deposit before performing actions", "vault not registered", "pending agent removal"];

/// Characters kept of the venue's words.
const KEPT: usize = 200;

/// A signer that the venue does not know for the account.
#[derive(Debug)]
pub(super) struct UnknownSigner {
    since_ms: u64,
    /// The venue's words.
    answer: String,
}

/// Whether a refusal is of the signer, whatever was signed.
pub(super) fn is_of_signer(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    UNKNOWN_SIGNER.iter().any(|part| text.contains(part))
}

impl Guard {
    /// Takes in what an answer says of the signer. The first refusal is told of; whatever is taken ends it.
    pub(super) fn hear_of_signer(&mut self, effects: &mut Effects, reply: &Reply, now_ms: u64) {
        match reply {
            Reply::Refused(answer) if is_of_signer(answer) => {
                if self.unknown_signer.is_none() {
                    self.unknown_signer =
                        Some(UnknownSigner { since_ms: now_ms, answer: answer.chars().take(KEPT).collect() });
                    let text = self.unknown_signer_text().map(|(text, _)| text).unwrap_or_default();
                    self.record(effects, now_ms, "error", &event::Trouble { text: &text }, Keys::default());
                }
            }
            // Refused for what was asked, or for its nonce: that may be looked at first.
            Reply::Refused(_) => {}
            Reply::Statuses(_) | Reply::Done => self.unknown_signer = None,
        }
    }

    /// What to tell of an unknown signer, and since when; `None` while none is.
    pub(super) fn unknown_signer_text(&self) -> Option<(String, u64)> {
        let UnknownSigner { since_ms, answer } = self.unknown_signer.as_ref()?;
        let wallet = self.config.api_wallet.map_or_else(|| "the API wallet".to_owned(), |wallet| wallet.to_string());
        let account = self.config.account;
        let owner = match self.acts_for.flatten() {
            Some(_) => "its owner (a sub-account's master, a vault's leader)",
            None => "the account",
        };
        let text = format!(
            "the venue does not take {wallet} as an API wallet for {account} ({answer}), so nothing can be sent: no \
             position is covered or closed by this guard; approve that wallet at the venue as {owner}, or give the guard \
             the key of one that is: `svc-guard init --force`"
        );
        Some((text, *since_ms))
    }
}
