//! The file of the minutes: one place for each minute of ninety days, used again after those. What is torn, damaged or of
//! another time is no point.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

use super::point::{Point, SIZE};
use crate::base::files::{FileError, Why, open_regular, open_regular_to_write};

/// How many minutes are kept: ninety days.
pub const KEPT_MINUTES: u64 = 90 * 24 * 60;

/// With less free than this (bytes) nothing is written: what is left of a full disk is the journal's.
const LEAST_FREE: u64 = 4 * 1024 * 1024;

/// The file. It is opened anew each time: it may come and go with its disk.
#[derive(Debug)]
pub struct Ring {
    path: PathBuf,
}

impl Ring {
    /// The file at a path; it is made when the first point is written.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Puts a point in its minute's place. It is not synced: what a power failure takes is a gap.
    ///
    /// # Errors
    /// When the disk is nearly full, the file is none of ours, or the system refuses.
    pub fn write(&self, point: &Point) -> Result<(), FileError> {
        let free =
            free_bytes(self.path.parent().unwrap_or(Path::new("/"))).map_err(self.failed("look at the disk of"))?;
        if free < LEAST_FREE {
            return Err(self.failed("write")(ErrorKind::StorageFull.into()));
        }
        let file = match open_regular_to_write(&self.path) {
            Err(FileError { why: Why::Missing, .. }) => self.create().map_err(self.failed("create"))?,
            opened => opened?.0,
        };
        file.write_all_at(&point.to_bytes(), place(point.minute)).map_err(self.failed("write"))
    }

    /// The points from one minute to another, both included, oldest first: of ninety days at most.
    ///
    /// # Errors
    /// When the file is none of ours, or the system refuses. A file that is not there has no points.
    pub fn read(&self, first: u64, last: u64) -> Result<Vec<Point>, FileError> {
        let file = match open_regular(&self.path) {
            Err(FileError { why: Why::Missing, .. }) => return Ok(Vec::new()),
            opened => opened?.0,
        };
        let first = first.max(last.saturating_sub(KEPT_MINUTES - 1));
        let mut points = Vec::new();
        let mut next = first;
        while next <= last {
            // As far as the places go on without a turn.
            let until_turn = KEPT_MINUTES - next % KEPT_MINUTES;
            let count = until_turn.min(last - next + 1);
            let bytes = read_at(&file, place(next), count).map_err(self.failed("read"))?;
            // What stands in the place of another minute is of another time.
            let is_its = |minute: u64, bytes: &[u8]| Point::parse(bytes).filter(|point| point.minute == minute);
            points.extend((next..).zip(bytes.chunks(SIZE)).filter_map(|(minute, bytes)| is_its(minute, bytes)));
            next += count;
        }
        Ok(points)
    }

    fn create(&self) -> std::io::Result<File> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&self.path)?;
        file.set_permissions(Permissions::from_mode(0o644))?;
        Ok(file)
    }

    fn failed(&self, what: &'static str) -> impl Fn(Error) -> FileError {
        move |error| FileError { path: self.path.clone(), why: Why::Io(what, error) }
    }
}

/// What the disk of a folder has left.
fn free_bytes(folder: &Path) -> std::io::Result<u64> {
    let stat = statvfs(folder)?;
    Ok(stat.blocks_available().saturating_mul(stat.fragment_size()))
}

/// Where a minute's point stands.
fn place(minute: u64) -> u64 {
    minute % KEPT_MINUTES * SIZE as u64
}

/// So many places from one on; fewer where the file ends.
fn read_at(file: &File, mut from: u64, count: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(count).unwrap_or_default().saturating_mul(SIZE)];
    let mut rest = bytes.as_mut_slice();
    while !rest.is_empty() {
        match file.read_at(rest, from) {
            Ok(0) => break,
            Ok(read) => {
                from = from.saturating_add(read as u64);
                rest = rest.split_at_mut_checked(read).map(|(_, rest)| rest).unwrap_or_default();
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // What was not read is zeros, and no point.
    Ok(bytes)
}
