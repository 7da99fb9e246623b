//! The log on standard error: one line an event that matters. No key ever enters it: nothing that holds one can be shown.

use std::fmt;
use std::io::Write;

/// Writes one line. A log that cannot be written stops nothing.
pub(super) fn line(text: impl fmt::Display) {
    let _ = writeln!(std::io::stderr().lock(), "svc-guard: {text}");
}
