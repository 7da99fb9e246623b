//! Nonces: per signer, the hundred highest remembered, none used twice, within two days back and one ahead.

use std::collections::{BTreeSet, HashMap};
use svc_guard::base::address::Address;

const DAY_MS: u64 = 86_400_000;
/// A nonce must lie above the smallest of this many highest.
const FLOOR_OF: usize = 100;
/// Nonces remembered beyond those, which only tell a duplicate from one that is too low.
const KEPT: usize = 10_000;

/// Why a nonce was refused, in the venue's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NonceError {
    Duplicate(u64),
    TooLow { nonce: u64, floor: u64 },
    TooHigh { nonce: u64, ceiling: u64 },
}

impl std::fmt::Display for NonceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Duplicate(nonce) => write!(f, "Invalid nonce: duplicate nonce {nonce}"),
            Self::TooLow { nonce, floor } => write!(f, "Invalid nonce: nonce too low {nonce} < {floor}"),
            Self::TooHigh { nonce, ceiling } => write!(f, "Invalid nonce: nonce too high {nonce} > {ceiling}"),
        }
    }
}

/// The nonces of every signer.
#[derive(Default)]
pub(crate) struct Nonces {
    seen: HashMap<Address, BTreeSet<u64>>,
}

impl Nonces {
    /// Uses a nonce up, or says why it cannot be used. `margin_ms` is how far inside the window it must lie.
    pub(crate) fn burn(&mut self, signer: Address, nonce: u64, now_ms: u64, margin_ms: u64) -> Result<(), NonceError> {
        let seen = self.seen.entry(signer).or_default();
        if seen.contains(&nonce) {
            return Err(NonceError::Duplicate(nonce));
        }
        let floor = now_ms.saturating_sub(2 * DAY_MS).saturating_add(margin_ms);
        if nonce < floor {
            return Err(NonceError::TooLow { nonce, floor });
        }
        let ceiling = now_ms.saturating_add(DAY_MS).saturating_sub(margin_ms);
        if nonce > ceiling {
            return Err(NonceError::TooHigh { nonce, ceiling });
        }
        if let Some(&floor) = seen.iter().rev().nth(FLOOR_OF - 1)
            && nonce < floor
        {
            return Err(NonceError::TooLow { nonce, floor });
        }
        seen.insert(nonce);
        if seen.len() > KEPT {
            seen.pop_first();
        }
        Ok(())
    }
}
