//! The server's own log on standard error: standard output carries protocol only.

use std::io::Write;

use crate::base::text::lines;

/// Writes a line. A closed standard error is ignored: there is nobody left to tell.
pub(super) fn log(text: &str) {
    _ = writeln!(std::io::stderr(), "svc-guard mcp: {}", lines(text));
}
