//! The form of the one feed that is compressed inside its JSON: base64 of raw DEFLATE (RFC 1951). Blocks are stored,
//! not squeezed: a reader has to inflate them all the same.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Bytes that one stored block holds at most.
const BLOCK: usize = 65_535;

/// Base64 of raw DEFLATE of `bytes`.
pub(super) fn packed(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    let blocks = bytes.len().div_ceil(BLOCK).max(1);
    for (index, block) in bytes.chunks(BLOCK).enumerate() {
        out.push(u8::from(index + 1 == blocks));
        let len = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(&(!len).to_le_bytes());
        out.extend_from_slice(block);
    }
    STANDARD.encode(out)
}
