//! Client order ids that the guard derives: how they are made, and how they are recognised after a restart.

use crate::base::address::Cloid;
use crate::base::cloid_prefix;
pub(crate) use crate::base::cloid_prefix::is_derived;

/// OrderOwner order a derived client order id names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderOwner {
    /// A client's order that came without an id.
    Client,
    /// A stop or close of the guard's own.
    Guard,
}

/// The client order id for the order at `place` of the intent `seq`.
pub(crate) fn derived_cloid(whose: OrderOwner, seq: u64, place: u16) -> Cloid {
    let [high, low] = place.to_be_bytes();
    // Seven bytes hold any number of events; the eighth of the sequence number is always zero.
    let [_, seq @ ..] = seq.to_be_bytes();
    let tail = [[u8::from(whose == OrderOwner::Guard), high, low].as_slice(), &seq].concat();
    cloid_prefix::with_prefix(cloid_prefix::GUARD, &tail)
}

/// The intent that derived this id.
pub(crate) fn intent_of(cloid: &Cloid) -> Option<u64> {
    let mut seq = [0; 8];
    let (_, tail) = seq.split_first_mut()?;
    tail.copy_from_slice(cloid.0.get(cloid_prefix::GUARD.len().checked_add(3)?..)?);
    is_derived(cloid).then(|| u64::from_be_bytes(seq))
}

/// Whether this id names an order of the guard's own.
pub(crate) fn is_guard_stop(cloid: &Cloid) -> bool {
    is_derived(cloid) && cloid.0.get(cloid_prefix::GUARD.len()) == Some(&1)
}
