//! Text that carries its own checksum: a prefix and the unpadded base64url of 4 checksum bytes and a canonical JSON.
//!
//! The checksum is the first 4 bytes of the JSON's Keccak-256. It finds typing errors; it is no protection against
//! a person who means to change the text.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::keccak::keccak256;

/// Longest sealed text: rules with a full list of the longest coins fit with room to spare.
const MAX_LEN: usize = 10_000;

/// Bytes of the checksum.
const CHECKSUM_LEN: usize = 4;

/// Why a sealed text is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeError {
    /// It does not start with this prefix.
    Prefix(&'static str),
    /// It is longer than any code is (characters found, characters allowed).
    Length(usize, usize),
    /// It is broken by a space or a line's end.
    Broken,
    /// It holds a character that is not base64url, or ends within a byte.
    Text,
    /// It is too short to hold a checksum, or the checksum does not fit the content.
    Checksum,
    /// The checksum fits, but the content is no JSON object of the kind expected.
    Content,
    /// The checksum fits, but the content is not written in the one canonical way.
    NotCanonical,
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(prefix) => write!(f, "the code must start with {prefix}"),
            Self::Length(found, most) => {
                write!(f, "the code has {found} characters, more than the {most} one can have")
            }
            Self::Broken => f.write_str("the code is broken by a space or a line's end; join it to one line"),
            Self::Text => {
                f.write_str("the code holds a character that no code has, or its end is missing; copy it whole")
            }
            Self::Checksum => f.write_str("the code does not fit its checksum: it was mistyped or cut; copy it whole"),
            Self::Content => f.write_str("the code's checksum fits but its content does not; have it made anew"),
            Self::NotCanonical => f.write_str("the code is not written in the canonical way; have it made anew"),
        }
    }
}

/// Seals a canonical JSON.
pub(crate) fn close(prefix: &str, json: &str) -> String {
    let mut payload = checksum(json.as_bytes()).to_vec();
    payload.extend_from_slice(json.as_bytes());
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode(payload))
}

/// The JSON inside a sealed text whose checksum fits.
pub(crate) fn open(prefix: &'static str, code: &str) -> Result<Vec<u8>, CodeError> {
    let text = code.strip_prefix(prefix).ok_or(CodeError::Prefix(prefix))?;
    if code.len() > MAX_LEN {
        return Err(CodeError::Length(code.len(), MAX_LEN));
    }
    if text.contains(char::is_whitespace) {
        return Err(CodeError::Broken);
    }
    let payload = URL_SAFE_NO_PAD.decode(text).map_err(|_| CodeError::Text)?;
    match payload.split_first_chunk::<CHECKSUM_LEN>() {
        Some((sum, json)) if *sum == checksum(json) => Ok(json.to_vec()),
        _ => Err(CodeError::Checksum),
    }
}

fn checksum(json: &[u8]) -> [u8; CHECKSUM_LEN] {
    let [a, b, c, d, ..] = keccak256(json);
    [a, b, c, d]
}
