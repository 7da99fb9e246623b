//! Lines from standard input, each of a bounded length.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Longest line taken; the largest sensible call is under 2 KiB.
pub(super) const MAX_LINE: usize = 256 * 1024;

/// Whether input is waiting to be read.
pub(super) fn is_more(input: &BufReader<File>) -> bool {
    let mut watched = [PollFd::new(input.get_ref().as_fd(), PollFlags::POLLIN)];
    !input.buffer().is_empty() || poll(&mut watched, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// Passed over to its end.
    TooLong,
    End,
}

/// Reads a line of at most [`MAX_LINE`] bytes; blank ones are passed over. What follows the last line end counts too.
pub(super) fn read_line(input: &mut impl BufRead) -> io::Result<Line> {
    loop {
        let mut line = Vec::new();
        let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX).saturating_add(1);
        if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
            return Ok(Line::End);
        }
        if line.last() != Some(&b'\n') && line.len() > MAX_LINE {
            skip_line(input)?;
            return Ok(Line::TooLong);
        }
        while line.last().is_some_and(u8::is_ascii_whitespace) {
            line.pop();
        }
        if !line.is_empty() {
            return Ok(Line::Whole(line));
        }
    }
}

/// Passes over the rest of a line without keeping it.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let (used, is_end) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end.saturating_add(1), true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(used);
        if is_end {
            return Ok(());
        }
    }
}
