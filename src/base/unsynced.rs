//! Small files that a power failure may take along: what the next life of a service can go by, and does without.

use std::path::Path;
use std::{fs, io};

use super::files::temporary_beside;

/// Puts these bytes in the place of what stands at `path`, whole or not at all. They are not synced.
///
/// # Errors
/// When they cannot be written; nothing is left of them then.
pub fn replace_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary_beside(path)?;
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        _ = fs::remove_file(&temporary);
    }
    written
}
