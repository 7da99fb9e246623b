//! Which process holds the lock on a file, by a number that a person may end it by.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

/// Where the system lists the locks that are held, each with the number of its process as it is seen from here.
const LOCKS: &str = "/proc/locks";

/// The process that holds the lock on a file, where it can be seen from here. A number that stands in the file may be one of
/// another container's: here it is nobody's, or a stranger's.
#[must_use]
pub fn lock_holder(file: &Path) -> Option<u32> {
    let wanted = fs::metadata(file).ok()?;
    let disk = disk(wanted.dev());
    let locks = fs::read_to_string(LOCKS).ok()?;
    let of_the_number = locks.lines().filter_map(Lock::read).filter(|lock| lock.inode == wanted.ino());
    // Files of several disks bear the same number, and some file systems name their disk otherwise in the list: whether it is
    // this file says what the process has open. Where that is not shown, nothing but the disk's name can.
    let mut of_this = of_the_number.filter(|lock| has_open(lock.pid, &wanted).unwrap_or(lock.disk == disk));
    of_this.next().map(|lock| lock.pid)
}

/// The same of a file in a folder that its holder keeps open as long as it lives. A link to the file in another folder, as copies
/// that spare room make them, is locked as well, and by nobody who has to do with that folder.
#[must_use]
pub fn lock_holder_in(folder: &Path, file: &Path) -> Option<u32> {
    let is_linked = fs::symlink_metadata(file).ok()?.nlink() > 1;
    let here = || fs::metadata(folder).ok();
    lock_holder(file).filter(|pid| !is_linked || here().is_some_and(|here| has_open(*pid, &here) != Some(false)))
}

/// The service that holds the lock on a file of a home, which it keeps open as long as it lives. Commands hold locks for a moment.
#[must_use]
pub fn service_of(home: &Path, lock: &Path) -> Option<u32> {
    let here = fs::metadata(home).ok()?;
    lock_holder(lock).filter(|pid| has_open(*pid, &here) != Some(false))
}

/// Whether a process has a file or folder open; `None` where what it has is not shown to this user.
pub(super) fn has_open(pid: u32, wanted: &Metadata) -> Option<bool> {
    let files = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(files) => files,
        // Other users' processes may be hidden from this one.
        Err(error) => return (error.kind() == ErrorKind::NotFound && has_ended(pid)).then_some(false),
    };
    let mut open = files.filter_map(|file| fs::metadata(file.ok()?.path()).ok());
    Some(open.any(|open| (open.dev(), open.ino()) == (wanted.dev(), wanted.ino())))
}

fn has_ended(pid: u32) -> bool {
    i32::try_from(pid).map_or(true, |pid| kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH))
}

/// A disk as the list names it.
fn disk(dev: u64) -> String {
    format!("{:02x}:{:02x}", nix::sys::stat::major(dev), nix::sys::stat::minor(dev))
}

/// A lock of the list.
#[derive(Debug, PartialEq, Eq)]
struct Lock<'a> {
    pid: u32,
    disk: &'a str,
    inode: u64,
}

impl<'a> Lock<'a> {
    /// Reads a line such as `1: FLOCK  ADVISORY  WRITE 708 fd:00:131 0 EOF`, if it is of a lock of that kind which is held.
    fn read(line: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace().skip(1);
        words.next().filter(|kind| *kind == "FLOCK")?;
        let pid = words.nth(2)?.parse().ok()?;
        let (disk, inode) = words.next()?.rsplit_once(':')?;
        Some(Self { pid, disk, inode: inode.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_lock_that_is_held_names_its_process() {
        let line = "12: FLOCK  ADVISORY  WRITE 708 fd:00:131 0 EOF";
        assert_eq!(Lock::read(line), Some(Lock { pid: 708, disk: "fd:00", inode: 131 }));
        for other in [
            "12: POSIX  ADVISORY  WRITE 708 fd:00:131 0 EOF",
            "12: -> FLOCK  ADVISORY  WRITE 709 fd:00:131 0 EOF",
            "12: FLOCK",
            "",
        ] {
            assert_eq!(Lock::read(other), None, "{other}");
        }
    }

    #[test]
    fn the_process_that_holds_a_lock_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let held = nix::fcntl::Flock::lock(file.reopen().unwrap(), nix::fcntl::FlockArg::LockExclusive).unwrap();
        assert_eq!(lock_holder(file.path()), Some(std::process::id()));
        drop(held);
        assert_eq!(lock_holder(file.path()), None);
    }

    #[test]
    fn a_process_has_open_what_it_holds_and_nothing_of_another_disk() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let own = std::process::id();
        assert_eq!(has_open(own, &file.as_file().metadata().unwrap()), Some(true));
        let gone = tempfile::NamedTempFile::new().unwrap();
        let metadata = gone.as_file().metadata().unwrap();
        drop(gone);
        assert_eq!(has_open(own, &metadata), Some(false));
        assert_eq!(has_open(u32::MAX, &metadata), Some(false), "there is no such process");
    }

    #[test]
    fn nobody_holds_a_file_that_is_not_locked() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(lock_holder(file.path()), None);
        assert_eq!(lock_holder(Path::new("/nowhere/lock")), None);
    }
}
