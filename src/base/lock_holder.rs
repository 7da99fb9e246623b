//! Which process holds the lock on a file, by a number that a person may end it by.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Where the system lists the locks that are held, each with the number of its process as it is seen from here.
const LOCKS: &str = "/proc/locks";

/// The process that holds the lock on a file, where it can be seen from here. A number that stands in the file may be one of
/// another container's: here it is nobody's, or a stranger's.
#[must_use]
pub fn lock_holder(file: &Path) -> Option<u32> {
    let metadata = fs::metadata(file).ok()?;
    let (disk, inode) = (disk(metadata.dev()), metadata.ino());
    let locks = fs::read_to_string(LOCKS).ok()?;
    // Some file systems name their disk otherwise there: then it must be this program.
    let is_it = |lock: &Lock<'_>| lock.disk == disk || name_of(lock.pid) == name_of(std::process::id());
    locks.lines().filter_map(Lock::read).filter(|lock| lock.inode == inode).find(is_it).map(|lock| lock.pid)
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

fn name_of(pid: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/comm")).ok()
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
    fn nobody_holds_a_file_that_is_not_locked() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(lock_holder(file.path()), None);
        assert_eq!(lock_holder(Path::new("/nowhere/lock")), None);
    }
}
