//! The chain that ties each line of a journal to the one before it. Pure: bytes in, bytes out; no file may enter here.
//!
//! A *body* is the text of one JSON object with at least one member and no line break, `{…}`. It is stored as
//!
//! ```text
//! {…,"chain":"<16 lower-case hex digits>"}⏎
//! ```
//!
//! that is: the body without its closing brace, then `,"chain":"`, the value, `"}` and one line feed. The value is
//! the first 8 bytes of Keccak-256 over the 16 hex digits of the previous line's value followed by the body's bytes.
//! The first line of a journal follows the value `0000000000000000`; the first line of any other file follows
//! the last line of the file before it.

use std::fmt::{self, Write};
use std::io::{self, BufRead, Read};
use std::str::FromStr;

use sha3::{Digest, Keccak256};

/// The longest line a journal holds, its line feed included (bytes).
pub const MAX_LINE: usize = 4 * 1024 * 1024;

/// The bytes that a stored line adds to its body: `,"chain":"` + 16 digits + `"` and the line feed.
pub(crate) const OVERHEAD: usize = KEY.len() + 16 + 1 + 1;

const KEY: &[u8] = b",\"chain\":\"";

/// The value that stands for all lines up to and including one: its digits, which the next one is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Chain([u8; 16]);

impl Chain {
    /// The value before a journal's first line.
    pub const START: Chain = Chain([b'0'; 16]);

    /// The value after the line whose body is `parts` put together, when this is the value before it.
    fn after(self, parts: &[&[u8]]) -> Chain {
        let mut hasher = Keccak256::new();
        hasher.update(self.0);
        for part in parts {
            hasher.update(part);
        }
        let mut first = [0; 8];
        first.iter_mut().zip(hasher.finalize()).for_each(|(to, from)| *to = from);
        Chain(digits(u64::from_be_bytes(first)))
    }

    /// Whether this is the value before a line that holds `inner`, a body without its closing brace, and claims that value.
    pub(crate) fn leads_to(self, inner: &[u8], claimed: Chain) -> bool {
        self.after(&[inner, b"}"]) == claimed
    }
}

/// A value's digits, worked out in one number for all of them, since each line that is read asks for one.
fn digits(value: u64) -> [u8; 16] {
    // Halves of halves move apart until each digit has a byte of its own.
    let mut digits = u128::from(value);
    digits = (digits | digits << 32) & 0x0000_0000_ffff_ffff_0000_0000_ffff_ffff;
    digits = (digits | digits << 16) & 0x0000_ffff_0000_ffff_0000_ffff_0000_ffff;
    digits = (digits | digits << 8) & 0x00ff_00ff_00ff_00ff_00ff_00ff_00ff_00ff;
    digits = (digits | digits << 4) & 0x0f0f_0f0f_0f0f_0f0f_0f0f_0f0f_0f0f_0f0f;
    // Six more than a digit above nine has the bit of sixteen: that one is a letter. No byte comes to more than 0x66.
    let letters = (digits + u128::from_ne_bytes([6; 16])) >> 4 & u128::from_ne_bytes([1; 16]);
    (digits + u128::from_ne_bytes([b'0'; 16]) + letters * u128::from(b'a' - b'0' - 10)).to_be_bytes()
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|digit| f.write_char(char::from(*digit)))
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Chain {
    type Err = LineFault;

    fn from_str(text: &str) -> Result<Chain, LineFault> {
        Chain::of(text.as_bytes())
    }
}

impl Chain {
    fn of(digits: &[u8]) -> Result<Chain, LineFault> {
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let whole = <[u8; 16]>::try_from(digits).ok().filter(|digits| digits.iter().all(is_digit));
        whole.map(Chain).ok_or(LineFault::NoChain)
    }
}

/// Why bytes are not the next line of a journal.
#[derive(Debug)]
pub enum LineFault {
    /// The file ends before the line does.
    Cut,
    /// Longer than [`MAX_LINE`].
    TooLong,
    /// Not an object that ends in its chain value.
    NoChain,
    /// The value is not the one that follows from this line and the one before.
    Broken,
    /// A body that cannot become a line: not `{…}` with a member, or with a line break, or too long.
    NotABody,
    /// Chained, and yet not the JSON that belongs there.
    NotJson,
    /// Its bytes are no UTF-8.
    NotText,
    /// The file could not be read.
    Io(io::Error),
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineFault::Cut => f.write_str("the line is cut off: the file ends before it does"),
            LineFault::TooLong => write!(f, "the line is longer than {MAX_LINE} bytes, the longest a journal holds"),
            LineFault::NoChain => f.write_str("the line does not end in its chain value"),
            LineFault::Broken => f.write_str(
                "the line does not follow from the one before it: it was edited, or lines were removed, added or moved",
            ),
            LineFault::NotABody => f.write_str("the text is not one JSON object on one line"),
            LineFault::NotJson => f.write_str("the line is not the JSON that belongs there"),
            LineFault::NotText => f.write_str("the line is no UTF-8 text"),
            LineFault::Io(error) => write!(f, "the file cannot be read: {error}"),
        }
    }
}

impl std::error::Error for LineFault {}

/// Whether a text can be a body.
pub(crate) fn fits(body: &str) -> bool {
    body.len() > 2
        && body.len() + OVERHEAD <= MAX_LINE
        && body.starts_with('{')
        && body.ends_with('}')
        && !body.as_bytes().contains(&b'\n')
}

/// Appends the line for `body` to `out` and returns the value after it. On refusal `out` is as it was.
pub fn seal(previous: Chain, body: &str, out: &mut Vec<u8>) -> Result<Chain, LineFault> {
    let inner = body.strip_suffix('}').filter(|_| fits(body)).ok_or(LineFault::NotABody)?;
    let chain = previous.after(&[body.as_bytes()]);
    out.extend_from_slice(inner.as_bytes());
    out.extend_from_slice(KEY);
    out.extend_from_slice(&chain.0);
    out.extend_from_slice(b"\"}\n");
    Ok(chain)
}

/// Splits a stored line (without its line feed) into the body without its closing brace and the value it carries.
pub(crate) fn split(line: &[u8]) -> Result<(&[u8], Chain), LineFault> {
    let at = line.len().checked_sub(OVERHEAD).ok_or(LineFault::NoChain)?;
    let (inner, rest) = line.split_at_checked(at).ok_or(LineFault::NoChain)?;
    let digits = rest.strip_prefix(KEY).and_then(|rest| rest.strip_suffix(b"\"}")).ok_or(LineFault::NoChain)?;
    Ok((inner, Chain::of(digits)?))
}

/// Reads the lines of one file in order and checks each against the one before. Memory: one line.
pub(crate) struct Lines<R> {
    reader: R,
    start: u64,
    end: u64,
    chain: Chain,
    /// Whether the first line may follow anything: what it follows was moved away.
    takes_any: bool,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// `reader` stands at byte `at` of the file, where `chain` is the value reached.
    pub(crate) fn new(reader: R, at: u64, chain: Chain) -> Lines<R> {
        Lines { reader, start: at, end: at, chain, takes_any: false, line: Vec::new() }
    }

    /// Takes the first line as it stands, without the one before it.
    pub(crate) fn taking_any(mut self, takes_any: bool) -> Lines<R> {
        self.takes_any = takes_any;
        self
    }

    /// Reads and checks the next line; false at the end. A fault is final: nothing after it means anything.
    pub(crate) fn advance(&mut self) -> Result<bool, LineFault> {
        self.start = self.end;
        self.line.clear();
        let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
        let read = (&mut self.reader).take(limit).read_until(b'\n', &mut self.line).map_err(LineFault::Io)?;
        if read == 0 {
            return Ok(false);
        }
        if self.line.pop_if(|last| *last == b'\n').is_none() {
            return Err(if read < MAX_LINE { LineFault::Cut } else { LineFault::TooLong });
        }
        let (inner, claimed) = split(&self.line)?;
        let takes_any = std::mem::take(&mut self.takes_any);
        if !takes_any && !self.chain.leads_to(inner, claimed) {
            return Err(LineFault::Broken);
        }
        let keep = inner.len();
        self.line.truncate(keep);
        self.line.push(b'}');
        self.end += u64::try_from(read).unwrap_or(u64::MAX);
        self.chain = claimed;
        Ok(true)
    }

    /// The line last read, without its chain member.
    pub(crate) fn body(&self) -> &[u8] {
        &self.line
    }

    /// Where the line last read (or found at fault) starts in its file.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Where the next line starts.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The value after the line last read.
    pub(crate) fn chain(&self) -> Chain {
        self.chain
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_value_has_its_digits(value in any::<u64>()) {
            for value in [value, value & 0xf0f0, 0, u64::MAX] {
                prop_assert_eq!(Chain(digits(value)).to_string(), format!("{value:016x}"));
            }
        }
    }
}
