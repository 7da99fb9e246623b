//! The notifier's own log: lines go through a thread, so that a reader that has stopped reading holds nobody up, and no
//! secret that was read stands in any of them.

use std::io::{self, Write};

use crossbeam_channel::{Sender, bounded};

use super::words::said;
use crate::base::clock::wall_ms;
use crate::base::log_line::{Level, Reader};

/// Lines that wait at most; more are left out.
const QUEUE: usize = 256;

/// The log. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Log {
    lines: Sender<String>,
    reader: Reader,
    secrets: std::sync::Arc<Vec<String>>,
}

impl Log {
    /// Starts the log's thread.
    pub(super) fn start(reader: Reader, secrets: Vec<String>) -> io::Result<Self> {
        let (lines, written) = bounded::<String>(QUEUE);
        let write = move || written.iter().for_each(|line| _ = writeln!(io::stderr().lock(), "{line}"));
        std::thread::Builder::new().name("log".to_owned()).spawn(write)?;
        Ok(Self { lines, reader, secrets: secrets.into() })
    }

    /// Writes a line.
    pub(super) fn line(&self, level: Level, text: &str) {
        let text = said(text, &self.secrets);
        _ = self.lines.try_send(self.reader.line(level, "svc-guard notify", &text, wall_ms()));
    }
}
