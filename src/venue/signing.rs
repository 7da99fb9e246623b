//! Hashing and signing of actions: MessagePack, the phantom agent, and EIP-712 over it.
//!
//! The byte layouts are the venue's; every one of them is held to signatures made by the official SDK in the tests.

use std::fmt;
use std::sync::LazyLock;

use k256::ecdsa::SigningKey;
use k256::ecdsa::signature::hazmat::PrehashSigner;
use zeroize::Zeroizing;

use super::address::{Address, decode_array};
use super::json::Node;
use super::recovery::{Signature, address_of};
use super::{keccak256, keccak256_of, msgpack};

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

/// What the hash of an action covers besides the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Nonce, UTC milliseconds.
    pub nonce: u64,
    /// The vault or sub-account acted for.
    pub vault: Option<Address>,
    /// UTC milliseconds after which the venue refuses the action.
    pub expires_after_ms: Option<u64>,
}

/// The hash that names an action with its terms (the venue's "connection id").
#[must_use]
pub fn connection_id(action: &Node, terms: &Terms) -> [u8; 32] {
    let mut data = Vec::with_capacity(512);
    msgpack::write(&mut data, action);
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

/// A secp256k1 key. Never shown, wiped from memory when dropped.
pub struct SecretKey {
    key: SigningKey,
    address: Address,
}

/// A text that is no key. Carries nothing of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyError;

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a private key: 0x and 64 hex digits, not zero and below the curve's order")
    }
}

impl std::error::Error for KeyError {}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.address)
    }
}

impl SecretKey {
    /// Reads a key written as 64 hex digits, with or without `0x`; white space around it is ignored.
    ///
    /// # Errors
    /// When the text is not a key.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        let bytes = decode_array(text.strip_prefix("0x").unwrap_or(text)).map_err(|_| KeyError)?;
        Self::from_bytes(&Zeroizing::new(bytes))
    }

    /// Takes 32 bytes as a key.
    ///
    /// # Errors
    /// When they are zero or not below the curve's order.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        let key = SigningKey::from_bytes(&(*bytes).into()).map_err(|_| KeyError)?;
        let address = address_of(key.verifying_key().as_affine()).ok_or(KeyError)?;
        Ok(Self { key, address })
    }

    /// The key's address.
    #[must_use]
    pub fn address(&self) -> Address {
        self.address
    }

    /// The key as `0x` and hex digits, for the one file or the one showing it is meant for.
    #[must_use]
    pub fn reveal(&self) -> Zeroizing<String> {
        let bytes = Zeroizing::new(<[u8; 32]>::from(self.key.to_bytes()));
        Zeroizing::new(super::address::to_hex(bytes.as_slice()))
    }

    /// Signs a digest deterministically (RFC 6979), with `s` in the lower half.
    ///
    /// # Errors
    /// The signer's own; it has none for a digest of 32 bytes.
    pub fn sign(&self, digest: &[u8; 32]) -> Result<Signature, SignError> {
        let (signature, recovery): (k256::ecdsa::Signature, k256::ecdsa::RecoveryId) =
            self.key.sign_prehash(digest).map_err(|_| SignError)?;
        let (r, s) = signature.split_bytes();
        Ok(Signature { r: r.into(), s: s.into(), v: 27 + u8::from(recovery.is_y_odd()) })
    }

    /// Signs an action with its terms for a network.
    ///
    /// # Errors
    /// As [`SecretKey::sign`].
    pub fn sign_action(&self, action: &Node, terms: &Terms, source: Source) -> Result<Signature, SignError> {
        self.sign(&agent_digest(&connection_id(action, terms), source))
    }
}

/// The signer could not sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignError;

impl fmt::Display for SignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the signature could not be made")
    }
}

impl std::error::Error for SignError {}
