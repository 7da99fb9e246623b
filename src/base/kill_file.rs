//! The kill switch: a file whose presence kills. It can be pulled by anyone on the machine and released by no program.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use super::files::{Temporary, open_regular, remove_leftovers, sync_parent, temporary_beside};
use super::text::{cut, one_line, without_keys};

/// Longest reason in characters; a longer one is cut.
pub const MAX_REASON_LEN: usize = 200;

/// Anybody may read why it was pulled.
const MODE: u32 = 0o644;

/// Size of the ready-made file: a full reason fits the blocks it already has.
const READY_LEN: usize = 1_024;

/// The reason when the file holds none that can be read.
const NO_REASON: &str = "kill file present";

/// The reason where whoever pulls the switch gives none.
const NONE_GIVEN: &str = "no reason given";

/// The kill file of a home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KillFile {
    path: PathBuf,
}

/// What pulling the switch found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pulled {
    /// It was pulled now.
    Now,
    /// It had been pulled before; the first reason stands.
    Before,
}

impl KillFile {
    /// Most bytes read for a reason: enough for the longest in any script.
    pub(super) const MAX_READ: u64 = 1_024;

    /// The kill file at `path`.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is there. Its name alone decides: a folder, a pipe, a dangling link, a file of anyone kills too.
    ///
    /// # Errors
    /// When the system cannot say; the caller must not read that as "not pulled".
    pub fn is_pulled(&self) -> io::Result<bool> {
        match fs::symlink_metadata(&self.path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether what stands there is a regular file, as a pull makes it.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|found| found.is_file())
    }

    /// The reason: the file's first line, cleaned, at most [`MAX_REASON_LEN`] characters; "kill file present" when
    /// there is none to read. Never waits on a pipe and follows no link.
    #[must_use]
    pub fn reason(&self) -> String {
        let mut bytes = Vec::new();
        let read = |(file, _): (fs::File, _)| file.take(Self::MAX_READ).read_to_end(&mut bytes).is_ok();
        if open_regular(&self.path).is_ok_and(read) { Self::reason_in(&bytes) } else { NO_REASON.to_owned() }
    }

    /// The reason in the text of a kill file.
    pub(super) fn reason_in(bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let reason = cleaned(text.lines().next().unwrap_or_default());
        if reason.is_empty() { NO_REASON.to_owned() } else { reason }
    }

    /// Puts a ready-made file of full size beside the switch, so that pulling it needs no disk space. Only the home's
    /// owner can; done at set-up and at every start of the service.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn make_ready(&self) -> io::Result<()> {
        let ready = self.ready_path();
        if fs::symlink_metadata(&ready).is_ok() {
            remove_leftovers(&ready);
            return Ok(());
        }
        let mut temporary = Temporary::beside(&ready, MODE)?;
        fill(&mut temporary.file, &[b'\n'; READY_LEN])?;
        temporary.file.sync_all()?;
        fs::rename(&temporary.path, &ready)
    }

    /// Pulls the switch, and waits until the disk has it.
    ///
    /// # Errors
    /// When the file is not there in the end.
    pub fn pull(&self, reason: &str) -> io::Result<Pulled> {
        let pulled = self.place(reason)?;
        self.keep();
        Ok(pulled)
    }

    /// Pulls the switch: renames the ready-made file into place with the reason written into it, or, where that is not
    /// ours to rename, a new file. A disk so full that the reason cannot be written still leaves the file, and the file
    /// is what kills. Waits for no disk beyond that: a running guard sees the name at once.
    ///
    /// # Errors
    /// When the file is not there in the end.
    pub fn place(&self, reason: &str) -> io::Result<Pulled> {
        if self.is_pulled()? {
            return Ok(Pulled::Before);
        }
        let reason = cleaned(reason);
        let line = format!("{}\n", if reason.is_empty() { NONE_GIVEN } else { reason.as_str() });
        let renamed = self.pull_ready(&line).or_else(|_| self.pull_new(&line));
        // Somebody else may have pulled it in the same moment: then it is pulled, whatever our rename said.
        if !self.is_pulled()? {
            return Err(renamed.err().unwrap_or_else(|| io::Error::from(io::ErrorKind::NotFound)));
        }
        Ok(Pulled::Now)
    }

    /// Waits until the disk has what was placed, so that it is there after a power cut too.
    pub fn keep(&self) {
        _ = open_regular(&self.path).map(|(file, _)| file.sync_data());
        _ = sync_parent(&self.path);
    }

    fn ready_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".ready");
        PathBuf::from(name)
    }

    fn pull_ready(&self, line: &str) -> io::Result<()> {
        let ready = self.ready_path();
        let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
        let mut file = OpenOptions::new().write(true).custom_flags(flags.bits()).open(&ready)?;
        // In place, over blocks the file already has. A reason that cannot be written must not stop the pull.
        _ = file.write_all(line.as_bytes());
        fs::rename(&ready, &self.path)
    }

    fn pull_new(&self, line: &str) -> io::Result<()> {
        let temporary = temporary_beside(&self.path)?;
        let written = write_new(&temporary, line.as_bytes());
        let renamed = fs::rename(&temporary, &self.path);
        if renamed.is_err() {
            _ = fs::remove_file(&temporary);
            // In a folder that only grows nothing can be renamed, and a file can be made.
            return written.and(write_new(&self.path, line.as_bytes()));
        }
        Ok(())
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill(&mut OpenOptions::new().write(true).create_new(true).mode(MODE).open(path)?, bytes)
}

fn fill(file: &mut fs::File, bytes: &[u8]) -> io::Result<()> {
    file.set_permissions(fs::Permissions::from_mode(MODE))?;
    file.write_all(bytes)
}

/// One line without control characters, keys or white space at its ends, cut to the longest reason.
fn cleaned(text: &str) -> String {
    cut(without_keys(&one_line(text, text.len())).trim(), MAX_REASON_LEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kill() -> (tempfile::TempDir, KillFile) {
        let home = tempfile::tempdir().unwrap();
        let kill = KillFile::new(home.path().join("kill"));
        (home, kill)
    }

    /// Everybody reads it. Of a key that is cut first some would be left.
    #[test]
    fn no_key_stays_in_a_reason_wherever_it_stands() {
        let (_home, kill) = kill();
        let reason = format!("{} 0x{}", "x".repeat(MAX_REASON_LEN - 30), "ab".repeat(32));
        kill.place(&reason).unwrap();
        let shown = kill.reason();
        assert!(shown.contains("(64 hex digits") && !shown.contains("abab"), "{shown}");
        fs::write(&kill.path, &reason).unwrap();
        assert_eq!(kill.reason(), shown, "written by hand");
    }

    #[test]
    fn a_pull_leaves_the_first_reason() {
        for ready in [false, true] {
            let (home, kill) = kill();
            if ready {
                kill.make_ready().unwrap();
                kill.make_ready().unwrap();
            }
            assert!(!kill.is_pulled().unwrap());
            assert_eq!(kill.pull(" too\nwild \u{7}").unwrap(), Pulled::Now);
            assert_eq!(kill.reason(), "too wild");
            assert_eq!(kill.pull("again").unwrap(), Pulled::Before);
            assert_eq!(kill.reason(), "too wild");
            assert_eq!(fs::metadata(kill.path()).unwrap().permissions().mode() & 0o777, 0o644);
            assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing else is left");
        }
    }

    #[test]
    fn a_pull_without_a_reason_says_that_there_is_none() {
        for reason in ["", " \n"] {
            let (_home, kill) = kill();
            kill.pull(reason).unwrap();
            assert_eq!(kill.reason(), "no reason given");
        }
    }

    #[test]
    fn whatever_stands_under_the_name_kills() {
        let (_home, file) = kill();
        fs::write(file.path(), "a\nb").unwrap();
        assert_eq!(file.reason(), "a");
        fs::write(file.path(), "x".repeat(5_000)).unwrap();
        assert_eq!(file.reason().len(), MAX_REASON_LEN);
        fs::write(file.path(), "\n").unwrap();
        assert_eq!(file.reason(), NO_REASON);

        let (_home, folder) = kill();
        fs::create_dir(folder.path()).unwrap();
        let (_home, pipe) = kill();
        nix::unistd::mkfifo(pipe.path(), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let (_home, link) = kill();
        std::os::unix::fs::symlink("/nowhere", link.path()).unwrap();
        for kill in [folder, pipe, link] {
            assert!(kill.is_pulled().unwrap());
            assert_eq!(kill.reason(), NO_REASON);
            assert_eq!(kill.pull("again").unwrap(), Pulled::Before);
        }
    }

    #[test]
    fn a_pull_that_cannot_be_made_says_so() {
        let kill = KillFile::new(PathBuf::from("/nonexistent-folder/kill"));
        assert!(!kill.is_pulled().unwrap());
        assert!(kill.pull("x").is_err());
    }
}
