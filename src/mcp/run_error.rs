//! Why a server does not start or go on.

use std::io;

use super::guard_client::UrlError;

/// Why a server does not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The first line of standard input is no key.
    #[error("--key-stdin: the first line of standard input is no key: 0x and 64 hex digits are expected")]
    NotAKey,
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
