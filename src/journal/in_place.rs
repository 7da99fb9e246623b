//! Whether what is held open still stands under its name: lines written to a file that was moved, removed or replaced are
//! gone with the next start.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether this path leads to this open file or folder.
pub(super) fn is_in_place(path: &Path, held: &File) -> bool {
    match (held.metadata(), fs::symlink_metadata(path)) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Whether it leads to a file of just this length.
pub(super) fn is_whole(path: &Path, held: &File, length: u64) -> bool {
    is_in_place(path, held) && held.metadata().is_ok_and(|held| held.len() == length)
}
