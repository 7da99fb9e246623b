//! The venue's language: actions, info answers, amounts and ticks, hashing and signing, client and weight ledger.
//!
//! Facts about the venue stand beside the code that relies on them. No rule of the owner may enter this room, and
//! apart from [`client`] nothing here touches the network or a clock.

pub mod action;
pub mod address;
pub mod amount;
pub mod client;
pub mod envelope;
pub mod info;
pub mod json;
pub mod market;
mod msgpack;
pub mod order;
pub mod recovery;
pub mod reply;
pub mod signing;
mod unjudged;
pub mod user_signed;
pub mod weight;

pub use address::{Address, Cloid};
pub use json::Node;

use sha3::{Digest, Keccak256};

/// Keccak-256 of `data`, the hash of Ethereum (not NIST's SHA3-256).
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

#[cfg(test)]
mod tests;
