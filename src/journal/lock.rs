//! The journal's lock: who holds it writes.

use std::fs::File;
use std::os::unix::fs::FileExt;

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
        Ok(held) => {
            // Over what stands there: what it gave back of a full disk somebody else would take.
            let pid = format!("{}\n", std::process::id());
            let written = held.write_all_at(pid.as_bytes(), 0);
            let length = u64::try_from(pid.len()).unwrap_or_default();
            written.and_then(|()| held.set_len(length)).map_err(OpenError::io(&path))?;
            Ok(held)
        }
        Err((_, Errno::EWOULDBLOCK)) => {
            let holder = folder.read_small(LOCK, 32)?.unwrap_or_default();
            Err(OpenError::Locked { file: path, pid: String::from_utf8_lossy(&holder).trim().parse().ok() })
        }
        Err((_, errno)) => Err(OpenError::Io { path, error: errno.into() }),
    }
}
