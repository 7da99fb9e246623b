//! Client order ids that the guard derives: how they are made, and how they are recognised after a restart.

use crate::base::address::Cloid;

/// Client order ids that the guard derives start with these bytes; none from a client may.
const CLOID_PREFIX: [u8; 6] = *b"svcgrd";

/// Whose order a derived client order id names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// A client's order that came without an id.
    Client,
    /// A stop or close of the guard's own.
    Guard,
}

/// The client order id for the order at `place` of the intent `seq`.
pub(crate) fn derived_cloid(whose: Whose, seq: u64, place: u16) -> Cloid {
    let mut bytes = [0; 16];
    let [high, low] = place.to_be_bytes();
    // Seven bytes hold any number of events; the eighth of the sequence number is always zero.
    let [_, seq @ ..] = seq.to_be_bytes();
    let tail = [[u8::from(whose == Whose::Guard), high, low].as_slice(), &seq].concat();
    for (byte, value) in bytes.iter_mut().zip(CLOID_PREFIX.iter().chain(&tail)) {
        *byte = *value;
    }
    Cloid(bytes)
}

/// The intent that derived this id.
pub(crate) fn intent_of(cloid: &Cloid) -> Option<u64> {
    let mut seq = [0; 8];
    let (_, tail) = seq.split_first_mut()?;
    tail.copy_from_slice(cloid.0.get(CLOID_PREFIX.len().checked_add(3)?..)?);
    is_derived(cloid).then(|| u64::from_be_bytes(seq))
}

/// Whether the guard derived this id.
#[must_use]
pub fn is_derived(cloid: &Cloid) -> bool {
    cloid.0.starts_with(&CLOID_PREFIX)
}

/// Whether this id names an order of the guard's own.
pub(crate) fn is_guard_stop(cloid: &Cloid) -> bool {
    is_derived(cloid) && cloid.0.get(CLOID_PREFIX.len()) == Some(&1)
}
