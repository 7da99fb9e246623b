//! Bytes as hex digits: written in lower case, read in any.

use std::fmt;

/// A text that is not the hex form of the bytes wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HexError {
    /// Hex digits expected after the prefix.
    pub digits: usize,
}

impl fmt::Display for HexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected 0x and {} hex digits", self.digits)
    }
}

impl std::error::Error for HexError {}

/// Writes `bytes` as lower-case hex digits.
///
/// # Errors
/// Only those of the writer.
pub fn write_hex(out: &mut impl fmt::Write, bytes: &[u8]) -> fmt::Result {
    bytes.chunks(16).try_for_each(|chunk| {
        let mut digits = [0; 32];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(chunk) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        let written = digits.get(..chunk.len().saturating_mul(2)).and_then(|digits| std::str::from_utf8(digits).ok());
        out.write_str(written.unwrap_or_default())
    })
}

/// The digit of a number below sixteen.
const fn digit(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

/// `bytes` as `0x` and lower-case hex digits.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + bytes.len() * 2);
    text.push_str("0x");
    // Writing to a String cannot fail.
    let _ = write_hex(&mut text, bytes);
    text
}

/// Decodes exactly `N` bytes from hex digits without a prefix.
///
/// # Errors
/// When the text is anything but twice `N` hex digits.
pub fn decode_array<const N: usize>(digits: &str) -> Result<[u8; N], HexError> {
    let error = HexError { digits: N * 2 };
    if digits.len() != N * 2 {
        return Err(error);
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        *byte = match pair {
            [high, low] => (nibble(*high).ok_or(error)? << 4) | nibble(*low).ok_or(error)?,
            _ => return Err(error),
        };
    }
    Ok(bytes)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_they_are_read() {
        for count in [0, 1, 15, 16, 17, 32, 65] {
            let bytes: Vec<u8> = (0..count).map(|n: u8| n.wrapping_mul(37) ^ 0xf0).collect();
            let expected: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(to_hex(&bytes), format!("0x{expected}"));
        }
        let bytes = [0x0f, 0xa0, 0xff];
        assert_eq!(decode_array::<3>(to_hex(&bytes).trim_start_matches("0x")), Ok(bytes));
    }
}
