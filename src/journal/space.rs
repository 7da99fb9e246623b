//! How much room a disk has left.

use std::path::Path;

use nix::sys::statvfs::statvfs;

/// A disk is nearly full with less than this free (bytes), unless that is more than the part of [`SHARE`].
const LOW: u64 = 1024 * 1024 * 1024;
/// On a small disk: with less than one part in so many free.
const SHARE: u64 = 20;

/// With less than this free (bytes) a disk that was full is full still.
const ROOM: u64 = 1024 * 1024;

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

    /// The free bytes and the least there should be, where there are fewer.
    pub(super) fn low(self) -> Option<(u64, u64)> {
        let least = LOW.min(self.size / SHARE);
        (self.free < least).then_some((self.free, least))
    }
}
