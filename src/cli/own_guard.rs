//! The guard of a home for its notifier: where it answers, and whether what answered is it. That is found out as `health` and `kill`
//! find it out, of each answer: the home may be moved, restored or set up anew under the notifier.

use std::path::Path;

use super::configured::configured;
use super::kill_told::{Of, kill_file_of};
use super::running_here::running;
use crate::base::address::Address;
use crate::base::shell::place;
use crate::home::{Home, local_url};
use crate::notify::OwnGuard;
use crate::record::status::Status;

/// A home, and what was known of its guard last.
pub(super) struct OfHome {
    home: Home,
    /// The account and mode of its config.
    named: Option<(Address, String)>,
    /// Whether there is a guard's journal in it, or was: without one it says nothing of a guard, which may be on another machine.
    has_journal: bool,
}

impl OfHome {
    pub(super) fn new(home: Home) -> Self {
        Self { home, named: None, has_journal: false }
    }

    /// Whether an answer is another guard's. Who cannot tell by the home's files can by account and mode.
    fn is_anothers(&mut self, url: &str, status: &Status) -> bool {
        let of = Of::home(&self.home);
        if let Ok(config) = configured(&self.home) {
            self.named = Some((config.account, config.mode.to_string()));
        }
        self.has_journal |= self.home.address_file().parent().is_some_and(Path::is_dir);
        if of.may_have(url, status) {
            return false;
        }
        let is_as_named = |named: &(Address, String)| named.0 == status.account && named.1 == status.mode;
        if self.named.as_ref().is_some_and(|named| !is_as_named(named)) {
            return true;
        }
        self.has_journal && of.another(url, status).is_some()
    }
}

impl OwnGuard for OfHome {
    fn answers(&self) -> Option<String> {
        running(&self.home).map(local_url)
    }

    fn another(&mut self, url: &str, status: &Status) -> Option<String> {
        self.is_anothers(url, status).then(|| {
            let folder = kill_file_of(status).and_then(|file| file.parent().map(place));
            let of = folder.map_or_else(|| "another guard".to_owned(), |folder| format!("the guard of {folder}"));
            format!("{of}, account {} on {}", status.account, status.mode)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::fs::File;

    use nix::fcntl::{Flock, FlockArg};
    use serde_json::json;

    use super::*;

    const URL: &str = "http://127.0.0.1:4000";
    const OTHER: &str = "/nowhere/other";

    fn status(home: &Path, life: &str, changes: &serde_json::Value) -> Status {
        let mut whole = json!({
            "schema": 1, "mode": "testnet", "account": Address([1; 20]), "alerts": [], "life": life,
            "kill_file": home.join("kill"),
        });
        whole.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        serde_json::from_value(whole).unwrap()
    }

    /// A home on which a guard of this life has run, set up for one account.
    fn home(folder: &Path, life: Option<&str>) -> OfHome {
        let home = Home::resolve(Some(folder.to_owned()), None, false).unwrap();
        if let Some(life) = life {
            fs::create_dir(folder.join("journals")).unwrap();
            fs::write(home.address_file(), format!("127.0.0.1:4000\n{life}\n")).unwrap();
        }
        OfHome { named: Some((Address([1; 20]), "testnet".to_owned())), ..OfHome::new(home) }
    }

    fn mark(folder: &Path) -> Flock<File> {
        Flock::lock(File::create(folder.join("kill.watched")).unwrap(), FlockArg::LockExclusive).unwrap()
    }

    #[test]
    fn where_none_runs_whatever_answers_is_anothers() {
        let folder = tempfile::tempdir().unwrap();
        let mut of = home(folder.path(), Some("0x1"));
        let other = of.another(URL, &status(Path::new(OTHER), "0x2", &json!({}))).unwrap();
        assert_eq!(other, format!("the guard of {OTHER}, account {} on testnet", Address([1; 20])));
        // A life of before, or a container's whose home has the same path.
        assert!(of.is_anothers(URL, &status(folder.path(), "0x2", &json!({}))));
        assert!(of.is_anothers(URL, &status(Path::new(OTHER), "0x2", &json!({"account": Address([2; 20])}))));
    }

    #[test]
    fn the_one_that_runs_is_its_own_wherever_its_home_was_and_whatever_the_config_says_by_now() {
        let folder = tempfile::tempdir().unwrap();
        let mut of = home(folder.path(), Some("0x1"));
        let held = mark(folder.path());
        for changes in [json!({}), json!({"mode": "paper"}), json!({"account": Address([2; 20])})] {
            assert!(!of.is_anothers(URL, &status(Path::new(OTHER), "0x1", &changes)), "{changes}");
            assert!(of.is_anothers(URL, &status(Path::new(OTHER), "0x2", &changes)), "{changes}");
        }
        drop(held);
    }

    /// A copy of before was put in the place of its home, or nothing was.
    #[test]
    fn one_whose_home_was_taken_away_is_still_its_own() {
        let gone = json!({"alerts": [{"code": "home_gone", "text": "x"}]});
        let folder = tempfile::tempdir().unwrap();
        let mut of = home(folder.path(), Some("0x1"));
        let held = mark(folder.path());
        assert!(!of.is_anothers(URL, &status(folder.path(), "0x2", &gone)));
        drop(held);
        assert!(!of.is_anothers(URL, &status(folder.path(), "0x2", &gone)));
        fs::remove_dir_all(folder.path()).unwrap();
        assert!(!of.is_anothers(URL, &status(folder.path(), "0x2", &gone)));
        assert!(of.is_anothers(URL, &status(Path::new(OTHER), "0x3", &json!({}))), "there was one");
    }

    /// Such as that of a notifier on another machine, or of a guard before this version.
    #[test]
    fn a_home_that_says_nothing_of_its_guard_takes_the_one_that_answers() {
        let folder = tempfile::tempdir().unwrap();
        let mut of = home(folder.path(), None);
        assert!(!of.is_anothers(URL, &status(Path::new(OTHER), "0x2", &json!({}))));
        assert!(!of.is_anothers(URL, &status(Path::new(OTHER), "", &json!({"kill_file": ""}))));
        assert!(of.is_anothers(URL, &status(Path::new(OTHER), "0x2", &json!({"account": Address([2; 20])}))));
        of.named = None;
        assert!(!of.is_anothers(URL, &status(Path::new(OTHER), "0x2", &json!({"account": Address([2; 20])}))));
    }
}
