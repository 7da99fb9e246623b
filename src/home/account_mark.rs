//! The mark of the guard that guards an account on this machine: two of one account, from two homes, work against each other.
//!
//! It is a socket's name that no file stands for, and ends with its process. Whoever takes the name first without being a guard
//! brings on a warning, and nothing else: no start is refused for it.

use std::io::{self, ErrorKind};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use super::config::Config;
use crate::base::hex::to_hex;
use crate::base::keccak::keccak256;

/// The mark of one account at one venue, for as long as this lives.
#[derive(Debug)]
pub struct AccountMark {
    socket: io::Result<UnixListener>,
}

impl AccountMark {
    /// Takes the mark for the config's account at its venue.
    #[must_use]
    pub fn take(config: &Config) -> Self {
        // A name has 107 bytes at most.
        let of = format!("{} {} {}", config.mode, config.account, config.venue_url());
        let name = format!("svc-guard {}", to_hex(&keccak256(of.as_bytes())));
        let socket = SocketAddr::from_abstract_name(name).and_then(|address| UnixListener::bind_addr(&address));
        Self { socket }
    }

    /// Whether another process of this machine has it. What the system does not tell counts as no.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.socket.as_ref().is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
    }
}
