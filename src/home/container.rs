//! Whether the process runs in a container.

use std::fs;
use std::path::Path;

/// Files that container engines put at the filesystem root.
const MARKERS: [&str; 2] = [".dockerenv", "run/.containerenv"];

/// Whether the caller says so, or a container engine's marker file stands under `root` (the filesystem's, outside
/// tests).
#[must_use]
pub fn in_container(said: bool, root: &Path) -> bool {
    said || MARKERS.iter().any(|marker| fs::symlink_metadata(root.join(marker)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_or_a_word_is_enough() {
        let root = tempfile::tempdir().unwrap();
        assert!(!in_container(false, root.path()));
        assert!(in_container(true, root.path()));
        fs::write(root.path().join(".dockerenv"), "").unwrap();
        assert!(in_container(false, root.path()));
    }
}
