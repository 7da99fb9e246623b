//! The guard that runs on a home, as its files and the system's lists tell. Where the home's folder or journal was moved since it
//! began, a second one beside it would take the first one's place by halves, and neither would close what the other holds.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::Uid;

use super::configured::{configured, left};
use super::kill_typed::Typed;
use super::refusal::Refusal;
use crate::base::kill_watch::KillWatch;
use crate::base::lock_holder::service_of;
use crate::base::shell::place;
use crate::home::{Config, Home};

/// Refuses what would begin a guard, or its journal, beside one that runs.
pub(super) fn refuse_beside(home: &Home) -> Result<(), Refusal> {
    told(home).map_or(Ok(()), |told| Err(Refusal::Given(told)))
}

/// That one is seen to run, and what is done first.
pub(super) fn told(home: &Home) -> Option<String> {
    let pid = by_mark(home)?;
    let config = configured(home).ok();
    let changed = config.and_then(|config| Some((started_for(pid, home, &config)?, config)));
    let why = match changed {
        Some((before, Config { mode, account, .. })) => format!(
            "which was started for {before}, and {} says {mode} of {account} by now: set mode and account there back to those, for no \
             start by others closes what it holds",
            place(&home.config_file())
        ),
        None if !home.config_file().exists() => {
            let kill = Typed::default().command(home.dir());
            return Some(format!(
                "a guard runs on {} already, whose home was moved or removed since: move it back; where it was removed, do not end it, for \
                 no start closes what that one holds: `{kill}` has it close everything",
                place(home.dir())
            ));
        }
        None => "whose home or journal was moved since: move that back".to_owned(),
    };
    Some(format!(
        "a guard runs on {} already, {why}, or stop it first: `kill {pid}` ends it in order, and where it hangs `kill -9 {pid}`",
        place(home.dir())
    ))
}

/// Where the service that runs on this home listens, as it left word; none where none runs, or that cannot be seen. The
/// config may have changed since its start, and a flag may have named another address.
pub(super) fn running(home: &Home) -> Option<SocketAddr> {
    is_running(home).then(|| left(home)).flatten().map(|left| left.address)
}

/// Whether a service is seen to run on this home.
pub(super) fn is_running(home: &Home) -> bool {
    is_watched(home) == Some(true)
}

/// Whether a guard watches this home's kill file; `None` where that cannot be told. The mark of one that hangs may be gone, which puts
/// it back as long as it lives: then its journal's lock tells.
pub(super) fn is_watched(home: &Home) -> Option<bool> {
    match KillWatch::is_watched(&home.kill_file()) {
        Some(false) if by_journal(home, configured(home).ok().as_ref()).is_some() => Some(true),
        seen => seen,
    }
}

/// The guard that marks this home as its own.
pub(super) fn by_mark(home: &Home) -> Option<u32> {
    KillWatch::holder(&home.kill_file()).filter(|pid| is_the_homes(*pid, home))
}

/// The guard that writes the journal which the config names.
pub(super) fn by_journal(home: &Home, config: Option<&Config>) -> Option<u32> {
    let config = config?;
    service_of(home.dir(), &home.journal_dir(config.mode, config.account).join("lock"))
        .filter(|pid| is_the_homes(*pid, home))
}

/// The mode and account for which a guard of this home was started, in words, if its journal is another one than the config's.
pub(super) fn started_for(pid: u32, home: &Home, config: &Config) -> Option<String> {
    let own = home.journal_dir(config.mode, config.account);
    let all = fs::read_dir(own.parent()?).ok()?.flatten().map(|entry| entry.path());
    let mut others = all.filter(|journal| *journal != own);
    let journal = others.find(|journal| service_of(home.dir(), &journal.join("lock")) == Some(pid))?;
    Some(journal.file_name()?.to_str()?.replacen('-', " of ", 1))
}

/// Whether a process is the home's owner's, or of who asks. Whoever can read a lock's file can hold it: a stranger must not keep the
/// guard from coming back to what is open.
fn is_the_homes(pid: u32, home: &Home) -> bool {
    let uid = |path: &Path| fs::metadata(path).ok().map(|metadata| metadata.uid());
    let process = PathBuf::from(format!("/proc/{pid}"));
    uid(&process).zip(uid(home.dir())).is_some_and(|(uid, owner)| is_of(uid, owner, Uid::effective().as_raw()))
}

/// Whether a process of this user may be the guard of a home of that owner, for whoever asks.
fn is_of(uid: u32, owner: u32, own: u32) -> bool {
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
        // Where the home is gone no start closes what that one holds.
        let way = told(&home).unwrap();
        assert!(way.contains("kill --reason TEXT`") && !way.contains("`kill "), "{way}");
        fs::write(home.config_file(), "").unwrap();
        assert!(told(&home).unwrap().contains(&format!("`kill {}`", std::process::id())));
        drop(held);
        assert_eq!(told(&home), None);
        assert!(is_of(1000, 1000, 0) && is_of(0, 1000, 0) && !is_of(65534, 1000, 0));
    }
}
