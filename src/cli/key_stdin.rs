//! The API wallet's key from standard input.

use std::io::IsTerminal;

use super::Refusal;
use crate::home::read_key;
use crate::venue::signing::SecretKey;

/// Reads it. A terminal is refused: what is typed there stands on the screen.
pub(super) fn read() -> Result<SecretKey, Refusal> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(Refusal::Flags("--key-stdin reads from a pipe or a file, so that the key is never on a screen"));
    }
    read_key(stdin.lock(), "standard input").map_err(Refusal::Key)
}
