//! The journal's lock: who holds it writes.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::error::OpenError;
use super::folder::Folder;
use crate::base::files::{remove_leftovers, temporary_beside};
use crate::base::lock_holder::lock_holder;

/// The name of its file.
pub(super) const LOCK: &str = "lock";

const MODE: u32 = 0o600;
/// Another one that is always first and never there holds it by now.
const TRIES: u32 = 3;

/// Takes it. Its file is for its owner alone: whoever can open a file can hold a lock on it.
pub(super) fn lock(folder: &Folder) -> Result<Flock<File>, OpenError> {
    let path = folder.join(LOCK);
    for _ in 0..TRIES {
        if let Some(file) = folder.open(LOCK, true)? {
            return take(folder, file);
        }
        if let Some(held) = create_held(folder).map_err(OpenError::io(&path))? {
            return Ok(held);
        }
    }
    Err(OpenError::Locked { file: path, pid: None })
}

/// A new file that stands under its name only once it is held: between the two another service would take it. `None` where
/// another one was first.
fn create_held(folder: &Folder) -> io::Result<Option<Flock<File>>> {
    let path = folder.join(LOCK);
    let temporary = temporary_beside(&path)?;
    let name = temporary.file_name().and_then(OsStr::to_str).ok_or(io::ErrorKind::InvalidInput)?;
    let file = folder.create(name, MODE)?;
    let placed = Flock::lock(file, FlockArg::LockExclusiveNonblock)
        .map_err(|(_, errno)| errno.into())
        .and_then(|held| write_pid(&held).map(|()| held))
        .and_then(|held| fs::hard_link(&temporary, &path).map(|()| held));
    match placed {
        Ok(held) => {
            // Its own, which it holds, and those of who was killed.
            _ = fs::remove_file(&temporary);
            remove_leftovers(&path);
            Ok(Some(held))
        }
        Err(error) => {
            _ = fs::remove_file(&temporary);
            match error.kind() {
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound => Ok(None),
                _ => Err(error),
            }
        }
    }
}

fn take(folder: &Folder, file: File) -> Result<Flock<File>, OpenError> {
    let path = folder.join(LOCK);
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(held) => write_pid(&held).map(|()| held).map_err(OpenError::io(&path)),
        Err((_, Errno::EWOULDBLOCK)) => {
            let pid = lock_holder(&path);
            Err(OpenError::Locked { file: path, pid })
        }
        Err((_, errno)) => Err(OpenError::Io { path, error: errno.into() }),
    }
}

/// Over what stands there: what it gave back of a full disk somebody else would take.
fn write_pid(held: &File) -> io::Result<()> {
    let pid = format!("{}\n", std::process::id());
    held.write_all_at(pid.as_bytes(), 0)?;
    held.set_len(u64::try_from(pid.len()).unwrap_or_default())
}
