//! A signer that the venue does not know for the account, and the words by which it says so.

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

/// Whether a refusal is of the signer, whatever was signed.
pub(crate) fn is_of_signer(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    UNKNOWN_SIGNER.iter().any(|part| text.contains(part))
}
