//! A guard that runs on a home whose folder or journal was moved since: a second one beside it would take the first one's place by
//! halves, and neither would close what the other holds.

use std::fs;
use std::os::unix::fs::MetadataExt;

use nix::unistd::Uid;

use super::refusal::Refusal;
use crate::base::kill_watch::KillWatch;
use crate::base::shell::place;
use crate::home::Home;

/// Refuses what would begin a guard, or its journal, beside one that runs.
pub(super) fn refuse_beside(home: &Home) -> Result<(), Refusal> {
    told(home).map_or(Ok(()), |told| Err(Refusal::Given(told)))
}

/// That one is seen to run, and what is done first.
pub(super) fn told(home: &Home) -> Option<String> {
    let pid = KillWatch::holder(&home.kill_file())?;
    // Whoever can read the mark can hold a lock on it: a stranger must not keep the guard from coming back to what is open.
    let uid = fs::metadata(format!("/proc/{pid}")).ok()?.uid();
    let owner = fs::metadata(home.dir()).ok()?.uid();
    is_the_homes(uid, owner, Uid::effective().as_raw()).then(|| {
        format!(
            "a guard runs on {} already, whose home or journal was moved since: move that back, or stop it first: `kill {pid}` ends \
             it in order, and where it hangs `kill -9 {pid}`",
            place(home.dir())
        )
    })
}

/// Whether a process of this user may be the guard of a home of that owner, for whoever asks.
fn is_the_homes(uid: u32, owner: u32, own: u32) -> bool {
    uid == owner || uid == own
}

#[cfg(test)]
mod tests {
    use nix::fcntl::{Flock, FlockArg};

    use super::*;

    #[test]
    fn a_mark_that_this_user_holds_is_a_guard_and_a_strangers_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(folder.path().to_owned()), None, false).unwrap();
        assert_eq!(told(&home), None);
        let mark = fs::File::create(folder.path().join("kill.watched")).unwrap();
        assert_eq!(told(&home), None, "nobody holds it");
        let held = Flock::lock(mark, FlockArg::LockExclusive).unwrap();
        assert!(told(&home).unwrap().contains(&format!("`kill {}`", std::process::id())));
        drop(held);
        assert_eq!(told(&home), None);
        assert!(is_the_homes(1000, 1000, 0) && is_the_homes(0, 1000, 0) && !is_the_homes(65534, 1000, 0));
    }
}
