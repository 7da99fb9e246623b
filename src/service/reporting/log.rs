//! The log on standard error: one line an event that matters. No key ever enters it: nothing that holds one can be shown.
//!
//! Lines go through a thread of their own: a reader that has stopped reading holds up nobody else. Lines that find no room
//! are counted, and the count is logged.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use super::event_log_format::EventFormatter;
use super::level::Level;
use crate::base::clock::now_ms;
use crate::base::log_line::Reader;
use crate::base::shell::for_home;
use crate::faults::{Faults, Step};
use crate::home::Home;
use crate::service::thread::{Death, spawn};

/// How a line names who says it.
const NAME: &str = "svc-guard";
/// Lines and events that wait to be written at most.
const QUEUE: usize = 1024;
/// How long lines are gathered after the first: whoever writes one wakes nobody meanwhile, and a busy guard has better to do
/// than to write each by itself.
const GATHERED_FOR: Duration = Duration::from_millis(5);
/// How long a flush may wait for a reader that has stopped.
const PATIENCE: Duration = Duration::from_millis(400);

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
/// Who reads the log, and the home that its commands are for.
static READ: OnceLock<(Reader, String)> = OnceLock::new();

/// Says who reads the log and of which home it is, once, before the first line.
pub(in crate::service) fn begin(reader: Reader, home: &Home) {
    _ = READ.set((reader, home.dir().display().to_string()));
}

/// A line as its reader wants it.
fn shown(level: Level, text: &str) -> String {
    let reader = READ.get().map_or(Reader::File, |(reader, _)| *reader);
    reader.line(level, NAME, &typed(text), now_ms())
}

/// A text with each of its commands for this home.
pub(in crate::service) fn typed(text: &str) -> String {
    for_home(text, READ.get().map_or("", |(_, home)| home.as_str()), "")
}

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
        None => _ = writeln!(io::stderr().lock(), "{}", shown(level, &text.to_string())),
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
                _ = writeln!(io::stderr().lock(), "{}", shown(level, &text));
            }
            Err(_) => _ = self.dropped.fetch_add(1, Ordering::Relaxed),
            Ok(()) => {}
        }
    }
}

/// Writes until nothing more can come. A log that cannot be written stops nothing.
fn write(most: Level, entries: &Receiver<Entry>, faults: &Faults) -> Result<(), String> {
    let mut formatter = EventFormatter::default();
    let put = |level: Level, text: &str| {
        if level <= most {
            _ = writeln!(io::stderr().lock(), "{}", shown(level, text));
        }
    };
    let mut is_caught_up = false;
    loop {
        if is_caught_up {
            std::thread::sleep(GATHERED_FOR);
        }
        let waiting = entries.try_recv();
        is_caught_up = waiting.is_err();
        let Ok(entry) = waiting.or_else(|_| entries.recv()) else { return Ok(()) };
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
}
