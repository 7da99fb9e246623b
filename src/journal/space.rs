//! How much room a disk has left.

use std::io;
use std::path::Path;

use nix::libc::{EDQUOT, ENOSPC};
use nix::sys::statvfs::statvfs;

/// A disk is nearly full with less than this free (bytes), unless that is more than the part of [`SHARE`].
const LOW: u64 = 1024 * 1024 * 1024;
/// On a small disk: with less than one part in so many free.
const SHARE: u64 = 20;

/// With less than this free (bytes) a disk that was full is full still.
const ROOM: u64 = 1024 * 1024;

/// Whether an error says that the disk, or the share of it, is full.
pub(super) fn no_space(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(ENOSPC | EDQUOT))
}

/// A size in the largest unit that still tells one from another.
fn size(bytes: u64) -> String {
    match bytes / 1024 {
        kib @ ..10_240 => format!("{kib} KiB"),
        kib => format!("{} MiB", kib / 1024),
    }
}

/// A look at a disk.
#[derive(Clone, Copy)]
pub(super) struct Space {
    free: u64,
    size: u64,
}

impl Space {
    /// The disk of a folder; `None` where the system does not say.
    pub(super) fn of(folder: &Path) -> Option<Space> {
        let stat = statvfs(folder).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(stat.fragment_size());
        Some(Space { free: bytes(stat.blocks_available()), size: bytes(stat.blocks()) })
    }

    /// Whether there is no room for more than a few records.
    pub(super) fn is_full(self) -> bool {
        self.free < ROOM
    }

    /// What to tell the user of a disk that is nearly full.
    pub(super) fn warning(self, folder: &Path) -> Option<String> {
        let (free, least) = self.low()?;
        Some(format!(
            "the disk of {} has {} free, under {}: make space, or move older days of the journal away",
            folder.display(),
            size(free),
            size(least)
        ))
    }

    /// The free bytes and the least there should be, where there are fewer.
    fn low(self) -> Option<(u64, u64)> {
        let least = LOW.min(self.size / SHARE);
        (self.free < least).then_some((self.free, least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1024 * 1024 * 1024;

    fn low(free: u64, size: u64) -> Option<(u64, u64)> {
        Space { free, size }.low()
    }

    #[test]
    fn a_disk_is_low_under_1_gib() {
        assert_eq!(low(GIB - 1, 100 * GIB), Some((GIB - 1, GIB)));
        assert_eq!(low(GIB, 100 * GIB), None);
    }

    #[test]
    fn a_low_disk_is_told_of_in_figures() {
        let warning = |free: u64| Space { free, size: 100 * GIB }.warning(Path::new("/journal"));
        let text = warning(GIB - 1).unwrap();
        assert!(text.starts_with("the disk of /journal has 1023 MiB free, under 1024 MiB: make space"), "{text}");
        assert_eq!(warning(GIB), None);
        // Of a small disk too.
        let text = Space { free: 8 * 1024, size: 5 * 1024 * 1024 }.warning(Path::new("/journal")).unwrap();
        assert!(text.contains("has 8 KiB free, under 256 KiB: make space"), "{text}");
    }

    /// On a small disk a gigabyte is no small part.
    #[test]
    fn a_small_disk_is_low_under_a_twentieth() {
        assert_eq!(low(GIB / 2 - 1, 10 * GIB), Some((GIB / 2 - 1, GIB / 2)));
        assert_eq!(low(GIB / 2, 10 * GIB), None);
        assert_eq!(low(0, 0), None, "the system says nothing of its size");
    }

    #[test]
    fn a_disk_is_full_under_1_mib() {
        let is_full = |free: u64| Space { free, size: GIB }.is_full();
        assert!(is_full(ROOM - 1) && !is_full(ROOM));
    }

    #[test]
    fn the_system_is_asked() {
        let space = Space::of(&std::env::temp_dir()).unwrap();
        assert!(space.size > 0 && space.free <= space.size);
        assert!(Space::of(Path::new("/there/is/no/such/folder")).is_none());
    }
}
