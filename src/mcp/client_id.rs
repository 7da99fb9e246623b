//! From an agent's name for a trade to a client order id that the guard takes once and never again. Pure.

use crate::base::address::{Address, Cloid};
use crate::base::cloid_prefix::{SINGLE_USE, with_prefix};
use crate::base::keccak::keccak256_of;

/// The client order id of a client's trade: the same for the same key and name, in every process.
pub(super) fn cloid(client: Address, client_id: &str) -> Cloid {
    let hash = keccak256_of(&[b"svc-guard mcp client_id", &client.0, client_id.as_bytes()]);
    with_prefix(SINGLE_USE, &hash)
}
