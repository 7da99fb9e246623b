//! The log on standard error: one line an event that matters. No key ever enters it: nothing that holds one can be shown.
//!
//! Lines go through a thread of their own: a reader that has stopped reading holds up nobody else. Lines that find no room
//! are counted, and the count is logged.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use super::event_log_format::EventFormatter;
use super::level::Level;
use crate::base::clock::now_ms;
use crate::base::text::one_line;
use crate::faults::{Faults, Step};
use crate::service::thread::{Death, spawn};

/// Lines and events that wait to be written at most.
const QUEUE: usize = 1024;
/// How long a flush may wait for a reader that has stopped.
const PATIENCE: Duration = Duration::from_millis(400);
/// Most characters of a line.
const MAX_LINE: usize = 600;

enum Entry {
    Line(Level, String),
    /// An event as it is on disk.
    Event(String),
    /// Answered when all before it is written.
    Flush(Sender<()>),
}

struct Log {
    most: Level,
    entries: Sender<Entry>,
    dropped: AtomicU64,
}

static LOG: OnceLock<Log> = OnceLock::new();

/// Starts the log's thread; lines of up to `most` are written from here on.
///
/// # Errors
/// The system's, when it grants no thread.
pub(in crate::service) fn start(most: Level, deaths: &Sender<Death>, faults: Faults) -> io::Result<()> {
    let (entries, written) = bounded(QUEUE);
    if LOG.set(Log { most, entries, dropped: AtomicU64::new(0) }).is_ok() {
        spawn("log", deaths, move || {
            faults.about("log");
            write(most, &written, &faults)
        })?;
    }
    Ok(())
}

/// Writes one line, at once where the log's thread is not there.
pub(in crate::service) fn line(level: Level, text: impl Display) {
    match LOG.get() {
        Some(log) if level <= log.most => log.push(Entry::Line(level, text.to_string())),
        Some(_) => {}
        None => _ = writeln!(io::stderr().lock(), "{}", shown(level, &text.to_string(), None)),
    }
}

/// Writes an event's line, where it has one.
pub(in crate::service) fn event(text: String) {
    if let Some(log) = LOG.get() {
        log.push(Entry::Event(text));
    }
}

/// Waits until the lines so far are written, if anybody reads them.
pub(in crate::service) fn flush() {
    let (done, written) = bounded(1);
    if LOG.get().is_some_and(|log| log.entries.send_timeout(Entry::Flush(done), PATIENCE).is_ok()) {
        _ = written.recv_timeout(PATIENCE);
    }
}

impl Log {
    fn push(&self, entry: Entry) {
        match self.entries.try_send(entry) {
            // The log's thread is dead: that, and why the service ends, is told all the same.
            Err(TrySendError::Disconnected(Entry::Line(level, text))) => {
                _ = writeln!(io::stderr().lock(), "{}", shown(level, &text, None));
            }
            Err(_) => _ = self.dropped.fetch_add(1, Ordering::Relaxed),
            Ok(()) => {}
        }
    }
}

/// Writes until nothing more can come. A log that cannot be written stops nothing.
fn write(most: Level, entries: &Receiver<Entry>, faults: &Faults) -> Result<(), String> {
    let clocked = io::stderr().is_terminal();
    let mut formatter = EventFormatter::default();
    let put = |level: Level, text: &str| {
        if level <= most {
            _ = writeln!(io::stderr().lock(), "{}", shown(level, text, clocked.then(now_ms)));
        }
    };
    for entry in entries {
        faults.pass(Step::Aside).map_err(|error| error.to_string())?;
        let dropped = LOG.get().map_or(0, |log| log.dropped.swap(0, Ordering::Relaxed));
        if dropped > 0 {
            put(Level::Warning, &format!("{dropped} lines were left out: nobody read the log for a while"));
        }
        match entry {
            Entry::Line(level, text) => put(level, &text),
            Entry::Event(text) => {
                if let Some((level, text)) = formatter.format(&text) {
                    put(level, &text);
                }
            }
            // Nobody may be waiting any more.
            Entry::Flush(done) => drop(done.try_send(())),
        }
    }
    Ok(())
}

/// A line as it is written: on a terminal with the UTC time, which a log keeper adds by itself.
fn shown(level: Level, text: &str, at_ms: Option<u64>) -> String {
    let clock = at_ms.map_or_else(String::new, |ms| {
        let seconds = ms / 1_000;
        format!("{:02}:{:02}:{:02} ", seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60)
    });
    let word = match level {
        Level::Error => "error: ",
        Level::Warning => "warning: ",
        Level::Info => "",
        Level::Detail => "detail: ",
    };
    // Text of a client or of the venue may hold line ends and control characters.
    format!("{clock}svc-guard: {word}{}", one_line(text, MAX_LINE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_with_its_level() {
        assert_eq!(shown(Level::Info, "fine", None), "svc-guard: fine");
        assert_eq!(shown(Level::Warning, "a\nsvc-guard: b\u{1b}[2J", None), "svc-guard: warning: a svc-guard: b [2J");
        assert_eq!(shown(Level::Error, "x", Some(86_400_000 + 3_723_000)), "01:02:03 svc-guard: error: x");
        assert_eq!(shown(Level::Detail, &"x".repeat(10_000), None).len(), "svc-guard: detail: ".len() + MAX_LINE);
    }
}
