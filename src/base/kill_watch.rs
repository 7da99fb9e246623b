//! The kill switch as a running guard watches it: by the folder that it started in, held open, wherever that is moved to.
//!
//! The system tells of each new name in the folder (inotify), so that a file which is gone at once has killed all the same;
//! the folder is looked into besides, which is right on every kind of mount.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, Flock, FlockArg, OFlag, openat};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use nix::sys::stat::{Mode, fstatat};

use super::kill_file::KillFile;
use super::lock_holder::{has_open, lock_holder, lock_holder_in};

/// A watched kill switch.
#[derive(Debug)]
pub struct KillWatch {
    file: KillFile,
    home: PathBuf,
    folder: File,
    /// None where the system grants none: then looking has to do.
    names: Option<Inotify>,
    /// Held while somebody watches, each taken as soon as it is free: in the folder that is held, and where another one
    /// stands at its path, which is looked at too, there.
    marks: Vec<Flock<File>>,
}

impl KillWatch {
    /// Begins to watch the folder of a kill file.
    ///
    /// # Errors
    /// When the folder cannot be opened.
    pub fn begin(file: KillFile) -> io::Result<Self> {
        let home = folder_of(&file).to_owned();
        let folder = fs::OpenOptions::new().read(true).custom_flags(OFlag::O_DIRECTORY.bits()).open(&home)?;
        let names = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK).and_then(|names| {
            names.add_watch(&home, AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MOVED_TO)?;
            Ok(names)
        });
        Ok(Self { file, home, folder, names: names.ok(), marks: Vec::new() })
    }

    /// Waits until a name appears in the folder, for `ms` at most. Whether it was the kill file's.
    #[must_use]
    pub fn wait(&self, ms: u8) -> bool {
        let Some(names) = &self.names else {
            std::thread::sleep(std::time::Duration::from_millis(ms.into()));
            return false;
        };
        let mut waited = [PollFd::new(names.as_fd(), PollFlags::POLLIN)];
        let _whatever_came = poll(&mut waited, PollTimeout::from(ms));
        let events = names.read_events().unwrap_or_default();
        events.iter().any(|event| event.name.as_deref() == self.file.path().file_name())
    }

    /// Whether the switch is pulled, in the folder that is held or at its path. What cannot be seen counts as pulled.
    #[must_use]
    pub fn pulled(&self) -> Option<String> {
        let name = self.file.path().file_name()?;
        match fstatat(&self.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(_) => Some(self.reason()),
            Err(Errno::ENOENT) if self.file.is_pulled().unwrap_or(false) => Some(self.file.reason()),
            Err(Errno::ENOENT) => None,
            Err(error) => Some(format!("the kill file cannot be looked for: {error}")),
        }
    }

    /// The reason in the file that is there, or that there was one.
    #[must_use]
    pub fn reason(&self) -> String {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let mut bytes = Vec::new();
        if let Some(name) = self.file.path().file_name()
            && let Ok(fd) = openat(&self.folder, name, flags, Mode::empty())
            && let file = File::from(fd)
            && file.metadata().is_ok_and(|metadata| metadata.is_file())
        {
            _ = file.take(KillFile::MAX_READ).read_to_end(&mut bytes);
        }
        KillFile::reason_in(&bytes)
    }

    /// What is wrong with the folder: a kill file at the path that people know would not be seen.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let path = self.home.display();
        match (self.folder.metadata(), fs::metadata(&self.home)) {
            (Ok(held), Ok(there)) if is_same(&held, &there) => None,
            (_, Ok(_)) => Some(format!("{path} is another folder than the one that this guard started in")),
            (_, Err(error)) => Some(format!("{path} is gone, or cannot be looked at: {error}")),
        }
    }

    /// Leaves the mark of a watched switch at its path, as soon as nobody else holds it. Harmless where it cannot be.
    pub fn mark(&mut self) {
        let path = mark_path(&self.file);
        let there = fs::symlink_metadata(&path).ok();
        let is_there = |mark: &Flock<File>| {
            mark.metadata().is_ok_and(|held| there.as_ref().is_some_and(|there| is_same(&held, there)))
        };
        if self.marks.iter().any(is_there) {
            return;
        }
        // What stands at the path now may be anybody's: no link is followed, and nothing is cut.
        let mut new = fs::OpenOptions::new();
        new.write(true).create(true).truncate(false).custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
        if let Some(mark) =
            new.open(&path).ok().and_then(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock).ok())
        {
            self.marks.truncate(1);
            self.marks.push(mark);
        }
    }

    /// The process that watches this kill file, where it can be seen from here.
    #[must_use]
    pub fn holder(file: &KillFile) -> Option<u32> {
        lock_holder_in(folder_of(file), &mark_path(file))
    }

    /// Whether a running guard watches this kill file; `None` where that cannot be told.
    #[must_use]
    pub fn is_watched(file: &KillFile) -> Option<bool> {
        match super::files::open_regular(&mark_path(file)) {
            Ok((mark, _)) => match Flock::lock(mark, FlockArg::LockSharedNonblock) {
                Ok(_) => Some(false),
                Err((mark, Errno::EWOULDBLOCK)) => is_of_folder(&mark, file),
                Err(_) => None,
            },
            Err(error) => matches!(error.why, super::files::Why::Missing).then_some(false),
        }
    }
}

fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Whether a mark that is held is of the folder that it stands in; `None` where that cannot be told.
fn is_of_folder(mark: &File, file: &KillFile) -> Option<bool> {
    if mark.metadata().ok()?.nlink() <= 1 {
        return Some(true);
    }
    // A copy that is made of links has the mark as well.
    has_open(lock_holder(&mark_path(file))?, &fs::metadata(folder_of(file)).ok()?)
}

fn folder_of(file: &KillFile) -> &Path {
    file.path().parent().unwrap_or(Path::new("/"))
}

fn mark_path(file: &KillFile) -> PathBuf {
    let mut name = file.path().to_owned().into_os_string();
    name.push(".watched");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched() -> (tempfile::TempDir, KillFile, KillWatch) {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        fs::create_dir(&home).unwrap();
        let file = KillFile::new(home.join("kill"));
        let watch = KillWatch::begin(file.clone()).unwrap();
        (place, file, watch)
    }

    #[test]
    fn a_file_that_is_gone_at_once_was_seen() {
        let (_place, file, watch) = watched();
        assert!(!watch.wait(0) && watch.pulled().is_none());
        fs::write(file.path().with_file_name("other"), "").unwrap();
        assert!(!watch.wait(0));
        fs::write(file.path(), "enough").unwrap();
        fs::remove_file(file.path()).unwrap();
        assert!(watch.wait(0) && watch.pulled().is_none());
        assert_eq!(watch.reason(), "kill file present");
    }

    #[test]
    fn a_folder_that_was_moved_is_still_watched_and_named() {
        let (place, file, watch) = watched();
        assert_eq!(watch.problem(), None);
        let moved = place.path().join("moved");
        fs::rename(place.path().join("home"), &moved).unwrap();
        assert!(watch.problem().unwrap().contains("is gone"));
        KillFile::new(moved.join("kill")).pull("enough").unwrap();
        assert_eq!(watch.pulled().as_deref(), Some("enough"));
        fs::create_dir(place.path().join("home")).unwrap();
        assert!(watch.problem().unwrap().contains("another folder"));
        fs::remove_file(moved.join("kill")).unwrap();
        file.pull("here").unwrap();
        assert_eq!(watch.pulled().as_deref(), Some("here"));
    }

    #[test]
    fn whoever_pulls_knows_whether_it_is_watched() {
        let (place, file, mut watch) = watched();
        assert_eq!(KillWatch::is_watched(&file), Some(false));
        watch.mark();
        assert_eq!(KillWatch::is_watched(&file), Some(true));
        // Another folder at its path is looked at too; the one that is held stays watched.
        let (home, moved) = (place.path().join("home"), place.path().join("moved"));
        fs::rename(&home, &moved).unwrap();
        watch.mark();
        fs::create_dir(&home).unwrap();
        assert_eq!(KillWatch::is_watched(&file), Some(false));
        for _ in 0..2 {
            watch.mark();
            let both = [file.clone(), KillFile::new(moved.join("kill"))];
            assert_eq!(both.map(|file| KillWatch::is_watched(&file)), [Some(true); 2]);
        }
        drop(watch);
        assert_eq!(KillWatch::is_watched(&file), Some(false));
    }

    #[test]
    fn no_link_is_followed_to_leave_the_mark() {
        let (place, file, mut watch) = watched();
        let other = place.path().join("other");
        fs::write(&other, "kept").unwrap();
        std::os::unix::fs::symlink(&other, mark_path(&file)).unwrap();
        watch.mark();
        assert_eq!(fs::read(&other).unwrap(), b"kept");
        assert!(watch.marks.is_empty());
    }
}
