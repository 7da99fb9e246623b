//! First bytes that set kinds of client order ids apart, known to the guard and to its own clients.

use super::address::Cloid;

/// Ids that the guard derives; none from a client may start so.
pub const GUARD: [u8; 6] = *b"svcgrd";
/// Ids that are good for one trade: the guard takes each once and never again.
pub const SINGLE_USE: [u8; 6] = *b"svconc";

/// Whether the guard derived this id.
#[must_use]
pub fn is_derived(cloid: &Cloid) -> bool {
    cloid.0.starts_with(&GUARD)
}

/// An id of a kind: its first bytes, and as much of the rest as fits.
#[must_use]
pub fn with_prefix(prefix: [u8; 6], rest: &[u8]) -> Cloid {
    let mut bytes = [0; 16];
    for (byte, value) in bytes.iter_mut().zip(prefix.iter().chain(rest)) {
        *byte = *value;
    }
    Cloid(bytes)
}
