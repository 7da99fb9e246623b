//! Whether the process runs in a container.

use std::fs;
use std::path::Path;

/// Files that container engines put at the filesystem root.
const MARKERS: [&str; 2] = [".dockerenv", "run/.containerenv"];

/// What the caller says; where it says nothing, whether a container engine's marker file stands under `root` (the
/// filesystem's, outside tests).
#[must_use]
pub fn in_container(said: Option<bool>, root: &Path) -> bool {
    said.unwrap_or_else(|| MARKERS.iter().any(|marker| fs::symlink_metadata(root.join(marker)).is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_and_without_one_a_marker() {
        let root = tempfile::tempdir().unwrap();
        assert!(!in_container(None, root.path()));
        assert!(in_container(Some(true), root.path()));
        fs::write(root.path().join(".dockerenv"), "").unwrap();
        assert!(in_container(None, root.path()));
        assert!(!in_container(Some(false), root.path()));
    }
}
