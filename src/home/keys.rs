//! Keys at rest: 32 bytes as `0x` and hex digits, in files that only their owner can read.
//!
//! No key text leaves this file except into the file or the stream it was asked for; buffers are wiped when dropped.

use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use nix::unistd::Uid;
use zeroize::Zeroizing;

use crate::base::files::{FileError, Replace, Why, fill_random, open_regular, write_whole};
use crate::base::key::SecretKey;

/// Most bytes read for a key: the text, its line end, and room for stray white space.
const MAX_KEY_TEXT: usize = 200;

/// Mode of a key file: its owner reads and writes, nobody else anything.
const KEY_MODE: u32 = 0o600;

/// Why a key cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The file is refused.
    #[error("{0}")]
    File(FileError),
    /// The text is no key. Nothing of it is repeated. (Where it was read, what it is instead.)
    #[error(
        "{0} holds no key but {1}; a key is one line of 0x and 64 hex digits, as the venue shows it for an API wallet"
    )]
    NotAKey(String, String),
    /// The stream could not be read (where).
    #[error("cannot read the key from {0}: {1}")]
    Io(String, io::Error),
}

/// A key read from a file.
#[derive(Debug)]
pub struct KeyReading {
    /// The key.
    pub key: SecretKey,
    /// A warning about the file, for its owner (readable by others, in a container).
    pub warning: Option<String>,
}

/// Reads a key file: regular, of this user (or root), readable by its owner only. In a container, where a secret is
/// often mounted readable by all, a file that others can read is accepted with a warning; one that others can write
/// never.
///
/// # Errors
/// When the file is refused or holds no key.
pub fn read_key_file(path: &Path, container: bool) -> Result<KeyReading, KeyFileError> {
    let refused = |why| KeyFileError::File(FileError { path: path.to_owned(), why });
    let (file, metadata) = open_regular(path).map_err(KeyFileError::File)?;
    let mode = metadata.permissions().mode() & 0o7777;
    if ![Uid::effective().as_raw(), 0].contains(&metadata.uid()) {
        return Err(refused(Why::Owner(metadata.uid())));
    }
    if mode & 0o022 != 0 {
        return Err(refused(Why::Writable(mode)));
    }
    let exposed = mode & 0o077 != 0;
    if exposed && !container {
        return Err(refused(Why::Readable(mode)));
    }
    let warning =
        exposed.then(|| format!("{} has mode {mode:04o}: others in this container can read the key", path.display()));
    Ok(KeyReading { key: read_key(file, &path.display().to_string())?, warning })
}

/// What a text is that is no key: its kind and length, and nothing of what it says.
fn found_instead(text: &str) -> String {
    let words = text.split_whitespace().count();
    let digits = text.trim();
    if let Some(dress) = dress(digits).filter(|_| words == 1) {
        return dress;
    }
    let joined: Zeroizing<String> = Zeroizing::new(digits.split_whitespace().collect());
    if words > 1 && is_hex_of(&joined, 64) {
        return format!("one that is broken into {words} parts; join them to one line");
    }
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    match (words, is_hex, digits.len()) {
        (0, ..) => "an empty line".to_owned(),
        (1, true, 40) => "an address (40 hex digits)".to_owned(),
        (1, true, 64) => "64 hex digits that are outside the range of keys".to_owned(),
        (1, true, found) => format!("{found} hex digits"),
        (1, ..) => "a text that is not hex".to_owned(),
        (12..=24, ..) => format!("{words} words, as a seed phrase, which belongs in a wallet and nowhere else"),
        _ => format!("{words} words"),
    }
}

/// Whether a text is so many hex digits, with 0x before them or without.
fn is_hex_of(text: &str, count: usize) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    digits.len() == count && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What stands around or in a key that may be right without it.
fn dress(text: &str) -> Option<String> {
    if text.starts_with('\u{feff}') {
        return Some("a byte order mark before a text; save the file without one, as plain UTF-8".to_owned());
    }
    if text.starts_with(['"', '\'', '`']) || text.ends_with(['"', '\'', '`']) {
        return Some("a text in quotes; leave them out".to_owned());
    }
    if text.starts_with("0X") {
        return Some("a text that begins with 0X; write 0x".to_owned());
    }
    let unseen = text.chars().find(|letter| !letter.is_ascii() && !letter.is_alphanumeric())?;
    Some(format!("a text with a letter that is not seen (U+{:04X}); type it anew", u32::from(unseen)))
}

/// Reads a key from a stream (standard input) to its end; `place` names it in errors.
///
/// # Errors
/// When the stream fails, or holds anything but one key.
pub fn read_key(stream: impl Read, place: &str) -> Result<SecretKey, KeyFileError> {
    let mut buffer = Zeroizing::new([0_u8; MAX_KEY_TEXT]);
    let read = fill(stream, buffer.as_mut_slice()).map_err(|error| KeyFileError::Io(place.to_owned(), error))?;
    let not_a_key = |found: String| KeyFileError::NotAKey(place.to_owned(), found);
    // A full buffer means that there was more than a key.
    let text = buffer.get(..read).filter(|text| text.len() < MAX_KEY_TEXT);
    let text = text.ok_or_else(|| not_a_key("more than one line".to_owned()))?;
    let text = std::str::from_utf8(text).map_err(|_| not_a_key("bytes that are no text".to_owned()))?;
    SecretKey::parse(text).map_err(|_| not_a_key(found_instead(text)))
}

/// Reads until the end or until the buffer is full.
fn fill(mut stream: impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0_usize;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match stream.read(rest) {
            Ok(0) => break,
            Ok(count) => filled = filled.saturating_add(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Writes a key to a file that only its owner can read.
///
/// # Errors
/// When the file exists and must not be replaced, or the system refuses; nothing is left behind then.
pub fn write_key_file(path: &Path, key: &SecretKey, replace: Replace) -> Result<(), FileError> {
    let mut text = Zeroizing::new(Vec::with_capacity(MAX_KEY_TEXT));
    text.extend_from_slice(key.reveal().as_bytes());
    text.push(b'\n');
    write_whole(path, &text, KEY_MODE, replace)
}

/// Writes a sealed key to a file that only its owner can read.
///
/// # Errors
/// When the file exists and must not be replaced, or the system refuses; nothing is left behind then.
pub fn write_sealed_key_file(path: &Path, sealed: &[u8], replace: Replace) -> Result<(), FileError> {
    write_whole(path, sealed, KEY_MODE, replace)
}

/// A fresh key from the system's random source.
///
/// # Errors
/// When the source cannot be read.
pub fn generate_key() -> io::Result<SecretKey> {
    let mut bytes = Zeroizing::new([0_u8; 32]);
    // A draw that is no key (zero, or past the curve's order) has a chance of 2^-127.
    fill_random(bytes.as_mut_slice())?;
    SecretKey::from_bytes(&bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests;
