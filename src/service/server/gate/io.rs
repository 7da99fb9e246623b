//! Reads and writes with a deadline, on sockets whose own time-out is one short tick.

use std::io::{ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::refusal::Refusal;

/// Why bytes stopped flowing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The other side closed or broke the connection.
    Closed,
    /// The deadline passed.
    TimedOut,
    /// The service is shutting down.
    ShuttingDown,
}

/// How much is read at once.
pub(super) const CHUNK: usize = 16 * 1024;

/// Appends what there is to `buffer`, at most one chunk; waits for it until the deadline or the shutdown.
pub(super) fn fill(
    from: &mut impl Read,
    buffer: &mut Vec<u8>,
    until: Instant,
    shutting_down: Option<&AtomicBool>,
) -> Result<(), End> {
    let mut chunk = [0_u8; CHUNK];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return Err(End::Closed),
            Ok(count) => {
                buffer.extend_from_slice(chunk.get(..count).unwrap_or_default());
                return Ok(());
            }
            Err(error) => wait_on(error.kind(), until)?,
        }
        if shutting_down.is_some_and(|flag| flag.load(Ordering::SeqCst)) {
            return Err(End::ShuttingDown);
        }
    }
}

/// Writes everything, or says why not.
pub(super) fn write_all(to: &mut impl Write, mut bytes: &[u8], until: Instant) -> Result<(), End> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(End::Closed),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) => wait_on(error.kind(), until)?,
        }
        // A reader that takes a byte at a time never blocks a write, so the deadline is looked at here as well.
        if !bytes.is_empty() && Instant::now() >= until {
            return Err(End::TimedOut);
        }
    }
    Ok(())
}

fn wait_on(kind: ErrorKind, until: Instant) -> Result<(), End> {
    match kind {
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted if Instant::now() < until => Ok(()),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => Err(End::TimedOut),
        _ => Err(End::Closed),
    }
}

impl End {
    /// The answer to a client whose request did not come in whole, if one can still reach it.
    pub(super) fn refusal(self) -> Option<Refusal> {
        match self {
            Self::Closed => None,
            Self::TimedOut => Some(Refusal::new(408, "request_timeout", "the request did not come in whole in time")),
            Self::ShuttingDown => Some(Refusal::shutting_down()),
        }
    }
}
