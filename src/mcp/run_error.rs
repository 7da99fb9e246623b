//! Why a server does not start or go on.

use std::io;

use super::guard_client::UrlError;
use crate::base::address::Address;

/// Why a server does not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The first line of standard input is no key.
    #[error(
        "--key-stdin: the first line of standard input is no key: 0x and 64 hex digits are expected, as `svc-guard client add --out FILE` writes them"
    )]
    NotAKey,
    /// The key is the API wallet's or the account's (its address).
    #[error(
        "the key is that of {0}, which is the account's or its API wallet's: no agent must have it, for it trades past the guard. \
         Take it away from here, and give a client's key: `svc-guard client add --out FILE` writes a new one"
    )]
    NoClientKey(Address),
    /// The guard is not the one that was asked for.
    #[error("{0}")]
    OtherGuard(String),
    /// The guard's URL cannot be used.
    #[error("--guard-url {0}")]
    Url(UrlError),
    /// Standard input cannot be read.
    #[error("cannot read standard input: {0}")]
    Input(io::Error),
    /// No thread can be had that writes the answers.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}
