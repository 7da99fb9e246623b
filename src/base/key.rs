//! Secret keys: read, shown to the one place meant, and signing a digest. Wiped from memory when dropped.

use std::fmt;

use k256::ecdsa::SigningKey;
use k256::ecdsa::signature::hazmat::PrehashSigner;
use zeroize::Zeroizing;

use super::address::Address;
use super::hex::{decode_array, to_hex};
use super::signature::{Signature, address_of};

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
        Zeroizing::new(to_hex(bytes.as_slice()))
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
