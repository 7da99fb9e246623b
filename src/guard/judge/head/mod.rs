//! Rules on a request's head: its network, nonce, expiry and account. One file a rule; `request.rs` runs them.

pub(crate) mod expired;
pub(crate) mod nonces;
pub(crate) mod wrong_account;
pub(crate) mod wrong_network;
