//! The API wallet's key from standard input.

use std::fs::File;
use std::io::IsTerminal;
use std::os::fd::AsFd;

use super::refusal::Refusal;
use crate::base::key::SecretKey;
use crate::home::read_key;

/// Why a terminal is refused.
pub(super) const TYPED: &str = "--key-stdin reads from a pipe or a file, so that the key is never on a screen; put `< FILE` behind \
     the command, with a file that only you can read";

/// Reads it. A terminal is refused: what is typed there stands on the screen.
pub(super) fn read() -> Result<SecretKey, Refusal> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(Refusal::Flags(TYPED));
    }
    // Not through the standard library's buffer, which is never wiped.
    let unbuffered = stdin.as_fd().try_clone_to_owned().map_err(|error| Refusal::Io("read standard input", error))?;
    read_key(File::from(unbuffered), "standard input").map_err(Refusal::Key)
}
