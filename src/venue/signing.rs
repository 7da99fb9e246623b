//! Hashing and signing of actions: MessagePack, the phantom agent, and EIP-712 over it.
//!
//! The byte layouts are on no page: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/signing> refers to the
//! official Python SDK (`hyperliquid/utils/signing.py`). Every one of them is held to signatures made by it in the tests.

use std::sync::LazyLock;

use serde::Serialize;

use crate::base::address::Address;
use crate::base::keccak::{keccak256, keccak256_of};
use crate::base::key::{SecretKey, SignError};
use crate::base::signature::Signature;

/// The network a request is signed for: the `source` of its phantom agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `a`.
    Mainnet,
    /// `b`, anything that is not mainnet.
    Testnet,
}

impl Source {
    /// The network's name in events and status.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Source::Mainnet => "mainnet",
            Source::Testnet => "testnet",
        }
    }

    fn letter(self) -> &'static [u8] {
        match self {
            Source::Mainnet => b"a",
            Source::Testnet => b"b",
        }
    }
}

/// The parts of a request that are hashed together with its action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Nonce, UTC milliseconds. Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/nonces-and-api-wallets>.
    pub nonce: u64,
    /// The vault or sub-account acted for.
    pub vault: Option<Address>,
    /// UTC milliseconds after which the venue refuses the action.
    pub expires_after_ms: Option<u64>,
}

/// The hash that names an action with its terms (the venue's "connection id"). The action goes in as MessagePack: maps in
/// field order, every integer in its shortest form. An action of another type than the guard knows goes in as received.
#[must_use]
pub fn connection_id(action: &impl Serialize, terms: &Terms) -> [u8; 32] {
    let mut data = Vec::with_capacity(512);
    // Actions hold text, integers and flags, for which writing into a Vec has no error.
    let _ = rmp_serde::encode::write_named(&mut data, action);
    data.extend_from_slice(&terms.nonce.to_be_bytes());
    match &terms.vault {
        None => data.push(0),
        Some(vault) => {
            data.push(1);
            data.extend_from_slice(&vault.0);
        }
    }
    if let Some(expires_after_ms) = terms.expires_after_ms {
        // A separator, not a flag: without an expiry all nine bytes are absent.
        data.push(0);
        data.extend_from_slice(&expires_after_ms.to_be_bytes());
    }
    keccak256(&data)
}

/// The digest that is signed for an action: EIP-712 over the phantom agent that carries `connection_id`.
#[must_use]
pub fn agent_digest(connection_id: &[u8; 32], source: Source) -> [u8; 32] {
    static TYPE_HASH: LazyLock<[u8; 32]> = LazyLock::new(|| keccak256(b"Agent(string source,bytes32 connectionId)"));
    // The same on both networks; `source` tells them apart.
    static DOMAIN: LazyLock<[u8; 32]> = LazyLock::new(|| domain_separator("Exchange", 1337));
    let agent = keccak256_of(&[&*TYPE_HASH, &keccak256(source.letter()), connection_id]);
    typed_data_digest(&DOMAIN, &agent)
}

/// The EIP-712 domain separator for a domain of version 1 without a contract.
pub(super) fn domain_separator(name: &str, chain_id: u64) -> [u8; 32] {
    static TYPE_HASH: LazyLock<[u8; 32]> = LazyLock::new(|| {
        keccak256(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
    });
    keccak256_of(&[&*TYPE_HASH, &keccak256(name.as_bytes()), &keccak256(b"1"), &word(chain_id), &[0; 32]])
}

/// The digest of typed data: what an EIP-712 wallet signs.
pub(super) fn typed_data_digest(domain: &[u8; 32], message: &[u8; 32]) -> [u8; 32] {
    keccak256_of(&[b"\x19\x01", domain, message])
}

/// A number as a 32-byte big-endian word.
pub(super) fn word(number: u64) -> [u8; 32] {
    let mut word = [0; 32];
    if let Some(tail) = word.get_mut(24..) {
        tail.copy_from_slice(&number.to_be_bytes());
    }
    word
}

/// Signs an action with its terms for a network.
///
/// # Errors
/// As [`SecretKey::sign`].
pub fn sign_action(
    key: &SecretKey,
    action: &impl Serialize,
    terms: &Terms,
    source: Source,
) -> Result<Signature, SignError> {
    key.sign(&agent_digest(&connection_id(action, terms), source))
}
