//! Signatures and the address that made them.

use std::fmt;

use k256::elliptic_curve::PrimeField;
use k256::elliptic_curve::ops::{LinearCombination, Reduce};
use k256::elliptic_curve::point::DecompressPoint;
use k256::elliptic_curve::scalar::IsHigh;
use k256::elliptic_curve::sec1::ToEncodedPoint;
use k256::{AffinePoint, FieldBytes, ProjectivePoint, Scalar, U256};

use serde::{Serialize, Serializer};

use super::address::Address;
use super::hex::to_hex;
use super::keccak::keccak256;

/// A recoverable secp256k1 signature as it travels: `r`, `s` and `v` of 27 or 28.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Signature {
    /// The x coordinate of the nonce point.
    #[serde(serialize_with = "hex")]
    pub r: [u8; 32],
    /// The proof.
    #[serde(serialize_with = "hex")]
    pub s: [u8; 32],
    /// 27, or 28 where the nonce point's y coordinate is odd.
    pub v: u8,
}

/// Why no address can be recovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryError {
    /// `v` is neither 27 nor 28.
    V,
    /// `r` or `s` is zero or not below the curve's order.
    Range,
    /// `s` is in the upper half: the other form of a signature, which nobody's key makes.
    HighS,
    /// No point of the curve belongs to `r`.
    NoPoint,
}

impl fmt::Display for RecoveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RecoveryError::V => "v must be 27 or 28",
            RecoveryError::Range => "r or s is zero or too large",
            RecoveryError::HighS => "s is in the upper half of its range",
            RecoveryError::NoPoint => "r is no point of the curve",
        })
    }
}

impl std::error::Error for RecoveryError {}

fn hex<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&to_hex(bytes))
}

impl Signature {
    /// The address whose key signed `digest`.
    ///
    /// The curve library's own recovery verifies the result once more, which doubles the cost and can only repeat
    /// what the equation already holds; so the equation is solved here.
    ///
    /// # Errors
    /// When the signature is not one that a key can make.
    pub fn recover(&self, digest: &[u8; 32]) -> Result<Address, RecoveryError> {
        let y_is_odd = match self.v {
            27 => 0,
            28 => 1,
            _ => return Err(RecoveryError::V),
        };
        let (r, s) = (scalar(&self.r)?, scalar(&self.s)?);
        if s.is_high().into() {
            return Err(RecoveryError::HighS);
        }
        let point = Option::<AffinePoint>::from(AffinePoint::decompress(&FieldBytes::from(self.r), y_is_odd.into()));
        let point = ProjectivePoint::from(point.ok_or(RecoveryError::NoPoint)?);
        let z = <Scalar as Reduce<U256>>::reduce_bytes(&FieldBytes::from(*digest));
        let r_inverse = Option::<Scalar>::from(r.invert()).ok_or(RecoveryError::Range)?;
        let key = ProjectivePoint::lincomb(&ProjectivePoint::GENERATOR, &-(r_inverse * z), &point, &(r_inverse * s));
        address_of(&key.to_affine()).ok_or(RecoveryError::NoPoint)
    }
}

fn scalar(bytes: &[u8; 32]) -> Result<Scalar, RecoveryError> {
    let scalar = Option::<Scalar>::from(Scalar::from_repr(FieldBytes::from(*bytes))).ok_or(RecoveryError::Range)?;
    if scalar.is_zero().into() { Err(RecoveryError::Range) } else { Ok(scalar) }
}

/// The address of a public key: the last 20 bytes of the hash of its coordinates. `None` for the point at infinity.
pub(super) fn address_of(key: &AffinePoint) -> Option<Address> {
    let point = key.to_encoded_point(false);
    let coordinates = point.as_bytes().get(1..65)?;
    keccak256(coordinates).get(12..)?.try_into().ok().map(Address)
}
