//! The API wallet's key sealed for this host by `systemd-creds`, to be handed to the service by the service manager.
//!
//! The key travels through pipes only, never through an argument or a plain file.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::unistd::Uid;
use zeroize::Zeroizing;

use super::keys::read_key;
use crate::base::files::read_trusted;
use crate::base::key::SecretKey;
use crate::base::text::printable;

/// The credential's name, which is sealed in with it and which the unit must use.
pub const CREDENTIAL: &str = "api-wallet-key";

/// Largest sealed key: the key, the seal, and its line ends fit many times.
const MAX_SEALED: u64 = 16 * 1024;

/// Longest complaint of the tool repeated.
const MAX_SHOWN: usize = 200;

/// Seals the key for this host, and opens it again to see that the service will get it.
///
/// # Errors
/// Why this host cannot, in words.
pub fn seal_for_host(key: &SecretKey) -> Result<Vec<u8>, String> {
    let sealed = creds("encrypt", key.reveal().as_bytes())?;
    let opened = read_key(creds("decrypt", &sealed)?.as_slice(), "systemd-creds");
    match opened {
        Ok(opened) if opened.address() == key.address() => Ok(sealed.to_vec()),
        _ => Err("systemd-creds does not give back what it was given".to_owned()),
    }
}

/// Opens the sealed key at `path`, which must be this user's own or root's.
///
/// # Errors
/// Why this host cannot, in words.
pub fn open_sealed(path: &Path) -> Result<SecretKey, String> {
    let trusted = [Uid::effective().as_raw(), 0];
    let sealed = read_trusted(path, &trusted, MAX_SEALED).map_err(|error| error.to_string())?;
    let opened = creds("decrypt", sealed.as_bytes())?;
    read_key(opened.as_slice(), "what systemd-creds gives back").map_err(|error| error.to_string())
}

fn creds(verb: &str, input: &[u8]) -> Result<Zeroizing<Vec<u8>>, String> {
    let failed = |error: std::io::Error| format!("systemd-creds cannot be run: {error}");
    let mut command = Command::new("systemd-creds");
    command.args([verb, &format!("--name={CREDENTIAL}"), "-", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    // A key is far smaller than a pipe, so this never waits for the tool to read. One that ended early says why below.
    if let Some(mut stdin) = child.stdin.take() {
        _ = stdin.write_all(input);
    }
    let done = child.wait_with_output().map_err(failed)?;
    let stdout = Zeroizing::new(done.stdout);
    if done.status.success() {
        return Ok(stdout);
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let last = said.lines().last().unwrap_or_default();
    let shown = printable(last, MAX_SHOWN);
    Err(format!("systemd-creds {verb} ended with {}: {shown}", done.status))
}
