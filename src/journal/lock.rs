//! The journal's lock: who holds it writes.

use std::fs::File;
use std::io::Write;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::error::OpenError;
use super::folder::Folder;

/// The name of its file.
pub(super) const LOCK: &str = "lock";

/// Takes it. Its file is for its owner alone: whoever can open a file can hold a lock on it.
pub(super) fn lock(folder: &Folder) -> Result<Flock<File>, OpenError> {
    let path = folder.join(LOCK);
    let file = folder.open_or_create(LOCK, 0o600)?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(mut held) => {
            let written = held.set_len(0).and_then(|()| writeln!(held, "{}", std::process::id()));
            written.map_err(OpenError::io(&path))?;
            Ok(held)
        }
        Err((_, Errno::EWOULDBLOCK)) => {
            let holder = folder.read_small(LOCK, 32)?.unwrap_or_default();
            Err(OpenError::Locked { file: path, pid: String::from_utf8_lossy(&holder).trim().parse().ok() })
        }
        Err((_, errno)) => Err(OpenError::Io { path, error: errno.into() }),
    }
}
