//! The other guards of this machine, for whoever kills: a switch acts on one home alone, and who named none may have meant
//! another one, or all of them.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::kill_typed::Typed;
use crate::base::kill_file::KillFile;
use crate::base::kill_watch::KillWatch;
use crate::base::packaged::SERVICE_HOME;
use crate::base::shell::{place, word};
use crate::home::{Home, system_home};

/// Most folders that are looked into beside a home.
const MOST_BESIDE: usize = 1000;

/// A home on which a guard runs, and whether its switch is pulled.
pub(super) type Other = (PathBuf, bool);

/// The kill file in a folder, if that is a home.
fn kill_file(dir: &Path) -> KillFile {
    KillFile::new(dir.join("kill"))
}

/// The folders whose config was named, if one was: the one that it stands in, the one that a link leads to, and a folder itself.
fn config_folders(home: &Home) -> Vec<PathBuf> {
    let Some(named) = home.named_config().and_then(|named| std::path::absolute(named).ok()) else { return Vec::new() };
    let real = named.canonicalize().ok();
    let itself = real.clone().filter(|real| real.is_dir());
    let folders = [named.parent(), real.as_deref().and_then(Path::parent), itself.as_deref()];
    folders.into_iter().flatten().map(Path::to_owned).collect()
}

/// The home that the config which was named lies in, where that is another one than this: a guard runs on it, or has.
pub(super) fn of_config(home: &Home) -> Option<PathBuf> {
    let own = home.kill_file();
    let is_another = |dir: &PathBuf| {
        let other = kill_file(dir);
        // The guard of a home that was moved watches its old place as well.
        let watcher = KillWatch::holder(&other);
        let is_watched_too = watcher.is_some() && watcher == KillWatch::holder(&own);
        !is_same(own.path(), other.path()) && is_home(dir) && !is_watched_too
    };
    config_folders(home).into_iter().find(is_another)
}

/// Why nobody knows which home the config that was named was to name, if it is not this home's own: it cannot be opened, or it may
/// be another home's under one more name.
pub(super) fn doubtful_config(home: &Home) -> Option<String> {
    let is_own = |dir: &PathBuf| is_same(kill_file(dir).path(), home.kill_file().path());
    if config_folders(home).iter().any(is_own) {
        return None;
    }
    let told = |why: &str| Some(format!("--config {} {why}, and no home is named", place(&home.config_file())));
    let found = match std::fs::File::open(home.named_config()?).and_then(|file| file.metadata()) {
        Ok(found) => found,
        Err(error) => return told(&format!("cannot be read: {error}")),
    };
    let is_it = |own: Metadata| (own.dev(), own.ino()) == (found.dev(), found.ino());
    let is_own_file = std::fs::metadata(home.dir().join("guard.toml")).is_ok_and(is_it);
    if found.is_file() && found.nlink() > 1 && !is_own_file {
        told(&format!("has {} names, one of which may be in another home", found.nlink()))
    } else {
        None
    }
}

/// Whether a folder is the home of a guard: one runs on it, or was set up on it.
pub(super) fn is_home(dir: &Path) -> bool {
    let has = |name: &str| dir.join(name).exists();
    KillWatch::is_watched(&kill_file(dir)) == Some(true) || has("kill.ready") || has("journals/listening")
}

/// The home whose switch would be pulled by a folder that is made there: in the place of its kill file, or below that.
pub(super) fn pulled_by_folder(dir: &Path) -> Option<&Path> {
    let is_place = |place: &&Path| place.file_name().is_some_and(|name| name == "kill");
    dir.ancestors().filter(is_place).find_map(|place| place.parent().filter(|home| is_home(home)))
}

/// That no home is to be made in the place of another one's kill file; the dots stand for what was typed.
pub(super) fn no_place_of_a_home(named: &Path, meant: &Path) -> String {
    format!(
        "a folder at {} would pull the kill switch of the home {}, and `svc-guard --home {} ...` is for that home",
        place(named),
        place(meant),
        word(meant)
    )
}

/// Who named no home, but such a config, may mean either home: what was typed, and why that is not certain, with a command for each.
pub(super) fn of_which(home: &Home, other: &Path, command: impl Fn(&Path) -> String) -> (String, String) {
    let told =
        format!("--config {} lies in the home {}, and no home is named", place(&home.config_file()), place(other));
    let (one, own) = (command(other), command(home.dir()));
    let or_own = if home.dir().is_dir() { format!(", and `{own}` for the default home") } else { String::new() };
    (told, format!("`{one}` is for that one{or_own}"))
}

/// Homes of running guards that a person may have meant: of the one that answers where this home's would, the one that the config
/// which was named lies in, the installed services', this user's own, and those that stand beside this one or that one.
pub(super) fn running(home: &Home, answering: Option<PathBuf>) -> Vec<Other> {
    // Where that folder cannot be looked into it may be right; where nothing runs on it, it is none of this machine's.
    let answering = answering.filter(|dir| KillWatch::is_watched(&kill_file(dir)) != Some(false));
    let guards = Path::new(SERVICE_HOME).join("guards");
    let own = Home::resolve(None, None, false).ok().map(|home| home.dir().to_owned());
    let personal = system_home();
    let inside = |parent: &Path| folders(parent, personal.as_deref());
    let near = [Some(home.dir()), own.as_deref()].into_iter().flatten().filter_map(Path::parent).flat_map(inside);
    // A folder above the home that is meant, or below it, is named as easily.
    let around = home.dir().parent().map(Path::to_owned).into_iter().chain(inside(home.dir()));
    let likely = config_folders(home).into_iter().chain([PathBuf::from(SERVICE_HOME)]);
    let likely = likely.chain(inside(&guards)).chain(own.clone()).chain(around).chain(near);
    let watched = likely.filter(|dir| KillWatch::is_watched(&kill_file(dir)) == Some(true));
    // The guard of a home that was moved watches its old place as well: that is no other one.
    let watcher = KillWatch::holder(&home.kill_file());
    let watched = watched.filter(|dir| watcher.is_none() || KillWatch::holder(&kill_file(dir)) != watcher);
    let mut others: Vec<Other> = Vec::new();
    for dir in answering.into_iter().chain(watched) {
        let file = kill_file(&dir);
        let is_known = |known: &Path| is_same(kill_file(known).path(), file.path());
        if !is_known(home.dir()) && !others.iter().any(|(other, _)| is_known(other)) {
            others.push((dir, file.is_pulled().unwrap_or(false)));
        }
    }
    others
}

/// What may be a home in a folder. A person's own one may be large, and other machines' folders may be mounted in it, which hang:
/// there a home goes by its name.
fn folders(parent: &Path, personal: Option<&Path>) -> Vec<PathBuf> {
    let is_likely = |dir: &PathBuf| {
        personal != Some(parent) || dir.file_name().is_some_and(|name| name.to_string_lossy().contains("guard"))
    };
    let found = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let mut dirs: Vec<PathBuf> = found.map(|entry| entry.path()).filter(is_likely).take(MOST_BESIDE).collect();
    dirs.sort();
    dirs
}

/// A line for each guard that goes on, with the command that kills it as this one is killed.
pub(super) fn not_killed(others: &[Other], typed: &Typed) -> String {
    let alive = others.iter().filter(|(_, is_pulled)| !is_pulled);
    let line =
        |dir: &PathBuf| format!("the guard of {} runs too and is NOT killed: `{}`\n", place(dir), typed.command(dir));
    alive.map(|(dir, _)| line(dir)).collect()
}

/// Whether two names mean one place, whatever links lead there.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    let folder = |path: &Path| path.parent().and_then(|folder| folder.canonicalize().ok());
    one == other || (folder(one).is_some() && folder(one) == folder(other) && one.file_name() == other.file_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_person_s_own_folder_a_home_goes_by_its_name() {
        let user = tempfile::tempdir().unwrap();
        let [own, other] = [".svc-guard-testnet", "mounted"].map(|name| user.path().join(name));
        [&own, &other].iter().for_each(|dir| std::fs::create_dir(dir).unwrap());
        assert_eq!(folders(user.path(), Some(user.path())), std::slice::from_ref(&own));
        assert_eq!(folders(user.path(), Some(&other)), [own, other]);
    }

    #[test]
    fn each_guard_that_goes_on_is_named_with_its_command() {
        let others = [("/a".into(), true), ("/my home".into(), false)];
        let said = "the guard of /my home runs too and is NOT killed: `svc-guard --home '/my home' kill --reason 'it'\\''s wrong' --wait 7`\n";
        let typed = Typed { reason: Some("it's wrong".to_owned()), wait: Some(7) };
        assert_eq!(not_killed(&others, &typed), said);
        assert_eq!(not_killed(&others[..1], &typed), "");
    }
}
