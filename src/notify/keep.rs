//! The state on disk: one file, written whole, by one notifier at a time.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::Uid;

use super::office::Office;
use crate::base::files::{FileError, Replace, Why, read_trusted, write_whole};

/// Largest state: what is kept for targets is bounded.
const MAX_STATE: u64 = 16 * 1024 * 1024;
const STATE: &str = "state.json";
const LOCK: &str = "lock";

/// Why the state cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// Another notifier keeps its state there.
    #[error("another notifier keeps its state in {0}; stop it first, or name another folder with --state")]
    Busy(PathBuf),
    /// The system refuses (what was tried, where).
    #[error("cannot {0} {1}: {2}; --state names another folder")]
    Io(&'static str, PathBuf, io::Error),
    /// A file is refused.
    #[error("{0}")]
    File(FileError),
}

/// The folder of the state, held while this lives.
#[derive(Debug)]
pub(super) struct Keep {
    path: PathBuf,
    _lock: Flock<File>,
}

impl Keep {
    /// Takes the folder, made where it is missing, and reads the state. One that cannot be read is put aside, and said.
    pub(super) fn open(folder: &Path) -> Result<(Self, Option<Office>, Option<String>), KeepError> {
        let refused = |what| move |error| KeepError::Io(what, folder.to_owned(), error);
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(refused("make"))?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(folder.join(LOCK));
        let lock = lock.map_err(refused("write in"))?;
        let lock =
            Flock::lock(lock, FlockArg::LockExclusiveNonblock).map_err(|_| KeepError::Busy(folder.to_owned()))?;
        let path = folder.join(STATE);
        let text = match read_trusted(&path, &[Uid::effective().as_raw()], MAX_STATE) {
            Ok(text) => Some(text),
            Err(FileError { why: Why::Missing, .. }) => None,
            Err(error) => return Err(KeepError::File(error)),
        };
        let keep = Self { path, _lock: lock };
        match text.as_deref().map(serde_json::from_str::<Office>) {
            None => Ok((keep, None, None)),
            Some(Ok(office)) => Ok((keep, Some(office), None)),
            Some(Err(error)) => {
                let aside = folder.join("state.unread.json");
                fs::rename(&keep.path, &aside).map_err(refused("rename a file in"))?;
                let said = format!(
                    "the state cannot be read ({error}) and is put aside as {}; what was told is not known",
                    aside.display()
                );
                Ok((keep, None, Some(said)))
            }
        }
    }

    /// Writes the state.
    pub(super) fn write(&self, state: &[u8]) -> Result<(), String> {
        write_whole(&self.path, state, 0o600, Replace::Yes).map_err(|error| error.to_string())
    }
}
