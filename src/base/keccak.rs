//! Keccak-256, the hash of Ethereum (not NIST's SHA3-256).

use sha3::{Digest, Keccak256};

/// Keccak-256 of `data`.
#[must_use]
pub fn keccak256(data: &[u8]) -> [u8; 32] {
    Keccak256::digest(data).into()
}

/// Keccak-256 of the concatenation of `parts`.
#[must_use]
pub fn keccak256_of(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Keccak256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}
