//! A signer that the venue does not know for the account, and the words by which it says so.

use crate::base::address::Address;

/// How the venue refuses a signer that may not act for the account, in lower case: the first
/// two by <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/signing>, the others observed.
const UNKNOWN_SIGNER: [&str; 4] =
    ["user or api wallet", "must deposit before performing actions", "vault not registered", "pending agent removal"];

/// A signer that the venue does not know for the account.
#[derive(Debug)]
pub(crate) struct UnknownSigner {
    pub(crate) since_ms: u64,
    /// The venue's words.
    pub(crate) answer: String,
}

/// The address that the venue read out of a signature, by what it says of the signer.
pub(crate) fn read_signer(text: &str) -> Option<Address> {
    let lower = text.to_ascii_lowercase();
    // The other texts name a vault, or nobody.
    let is_named = UNKNOWN_SIGNER.iter().take(2).any(|part| lower.contains(part));
    let mut words = lower.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(|_| is_named);
    words.find_map(|word| word.parse().ok())
}

/// Whether a refusal is of the signer, whatever was signed.
pub(crate) fn is_of_signer(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    UNKNOWN_SIGNER.iter().any(|part| text.contains(part))
}
