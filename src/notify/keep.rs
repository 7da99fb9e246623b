//! The state on disk: one file, written whole, by one notifier at a time.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::Uid;

use super::office::Office;
use crate::base::files::{FileError, Replace, Why, read_trusted, remove_leftovers, write_whole};

/// Largest state: what is kept for targets is bounded.
const MAX_STATE: u64 = 64 * 1024 * 1024;
/// States that cannot be read and are kept for a person at most; the last one gives way.
const MAX_ASIDE: u32 = 20;
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
    /// Takes the folder, made where it is missing, removes what a death while writing left there, and reads the state. One that cannot be read is put aside, and why is said.
    pub(super) fn open(folder: &Path) -> Result<(Self, Option<Office>, Option<String>), KeepError> {
        let refused = |what| move |error| KeepError::Io(what, folder.to_owned(), error);
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(refused("make"))?;
        // Who made the lock kept a state beside it.
        let was_kept = folder.join(LOCK).symlink_metadata().is_ok();
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(folder.join(LOCK));
        let lock = lock.map_err(refused("write in"))?;
        let lock =
            Flock::lock(lock, FlockArg::LockExclusiveNonblock).map_err(|_| KeepError::Busy(folder.to_owned()))?;
        let keep = Self { path: folder.join(STATE), _lock: lock };
        remove_leftovers(&keep.path);
        let why = match read_trusted(&keep.path, &[Uid::effective().as_raw()], MAX_STATE) {
            Ok(text) => match Office::read(&text) {
                Ok(office) => return Ok((keep, Some(office), None)),
                Err(why) => why,
            },
            Err(FileError { why: Why::Missing, .. }) => {
                let gone = || format!("the notifier's state is not in {} any more", folder.display());
                return Ok((keep, None, was_kept.then(gone)));
            }
            Err(FileError { why: Why::NotText(_), .. }) => "it is not text".to_owned(),
            Err(FileError { why: Why::NotAFile, .. }) => "it is no file".to_owned(),
            Err(FileError { why: Why::TooLarge(most), .. }) => format!("it has more than {most} bytes"),
            Err(error) => return Err(KeepError::File(error)),
        };
        let aside = aside(folder);
        fs::rename(&keep.path, &aside).map_err(refused("rename a file in"))?;
        let said = format!("the notifier's state cannot be read ({why}) and is put aside as {}", aside.display());
        Ok((keep, None, Some(said)))
    }

    /// Writes the state.
    pub(super) fn write(&self, state: &[u8]) -> Result<(), String> {
        write_whole(&self.path, state, 0o600, Replace::Yes).map_err(|error| error.to_string())
    }
}

/// The name that a state which cannot be read is kept under.
fn aside(folder: &Path) -> PathBuf {
    let name = |number: u32| match number {
        1 => folder.join("state.unread.json"),
        _ => folder.join(format!("state.unread-{number}.json")),
    };
    let free = (1..MAX_ASIDE).map(name).find(|path| path.symlink_metadata().is_err());
    free.unwrap_or_else(|| name(MAX_ASIDE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::files::temporary_beside;

    #[test]
    fn what_a_death_while_writing_left_goes_at_the_next_start_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let left = (0..3).map(|_| temporary_beside(&path(STATE)).unwrap());
        let left: Vec<String> = left.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
        let others = [
            ".state.json.0123456789abcde",
            ".state.json.0123456789abcdef0",
            ".state.json.0123456789ABCDEF",
            ".other.json.0123456789abcdef",
            "state.json.0123456789abcdef",
            ".state.json.old",
        ];
        for name in left.iter().map(String::as_str).chain(others) {
            fs::write(path(name), "{\"schema\":").unwrap();
        }
        fs::create_dir(path(".state.json.00000000000000aa")).unwrap();
        std::os::unix::fs::symlink(path(others[0]), path(".state.json.00000000000000bb")).unwrap();
        let is_there = |name: &str| path(name).symlink_metadata().is_ok();
        let held = Keep::open(folder.path()).unwrap();
        assert!(!left.iter().any(|name| is_there(name)), "what was left is there still");
        let kept = others.into_iter().chain([".state.json.00000000000000aa", ".state.json.00000000000000bb"]);
        kept.for_each(|name| assert!(is_there(name), "{name}"));
        // Another one writes here: what it is at is nobody else's.
        fs::write(path(&left[0]), "{").unwrap();
        assert!(matches!(Keep::open(folder.path()), Err(KeepError::Busy(_))) && is_there(&left[0]));
        drop(held);
    }

    #[test]
    fn a_state_that_was_taken_away_is_told_from_a_first_start() {
        let folder = tempfile::tempdir().unwrap();
        let (keep, office, said) = Keep::open(folder.path()).unwrap();
        assert!(office.is_none() && said.is_none());
        keep.write(b"{\"schema\":1}").unwrap();
        drop(keep);
        fs::remove_file(folder.path().join(STATE)).unwrap();
        let (_, office, said) = Keep::open(folder.path()).unwrap();
        assert!(office.is_none() && said.is_some_and(|said| said.contains("not in") && said.contains("any more")));
    }

    /// What is there and says nothing of how far things were told would be taken for a first start, without a word.
    #[test]
    fn a_hollow_state_is_put_aside_and_said() {
        let folder = tempfile::tempdir().unwrap();
        let desk = |place: u64| serde_json::json!({"urgent": place, "calm": 3});
        let whole = serde_json::json!({
            "schema": 1, "watch": {"cursor": 5, "mark": [5, 1]}, "last_id": 9, "desks": {"a": desk(9)}
        });
        let with = |name: &str, value: serde_json::Value| {
            let mut state = whole.clone();
            state[name] = value;
            state
        };
        let without = |name: &str| {
            let mut state = whole.clone();
            state.as_object_mut().unwrap().remove(name);
            state
        };
        let is_taken = |state: &serde_json::Value| {
            fs::write(folder.path().join(STATE), state.to_string()).unwrap();
            let (_, office, said) = Keep::open(folder.path()).unwrap();
            assert_eq!(office.is_none(), said.is_some_and(|said| said.contains("put aside")), "{state}");
            office.is_some()
        };
        assert!(is_taken(&whole) && is_taken(&with("watch", serde_json::json!({"cursor": null}))));
        assert!(is_taken(&with("last_id", (1_u64 << 53).into())));
        let hollow = [
            serde_json::json!({"schema": 1}),
            without("watch"),
            without("last_id"),
            without("desks"),
            with("watch", serde_json::json!({})),
            with("watch", serde_json::json!({"cursor": null, "mark": [5, 1]})),
            with("last_id", ((1_u64 << 53) + 1).into()),
            with("last_id", u64::MAX.into()),
            with("desks", serde_json::json!({"a": desk(10)})),
        ];
        hollow.iter().for_each(|state| assert!(!is_taken(state), "{state}"));
    }

    #[test]
    fn a_state_that_cannot_be_read_is_put_aside_and_said() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join(STATE);
        let spoils: [(&str, &dyn Fn()); 5] = [
            ("is not text", &|| fs::write(&state, b"\xff\xfe{}").unwrap()),
            ("EOF", &|| fs::write(&state, "{\"schema\":1,").unwrap()),
            ("another version", &|| fs::write(&state, "{\"schema\":2}").unwrap()),
            ("more than", &|| File::create(&state).unwrap().set_len(MAX_STATE + 1).unwrap()),
            ("no file", &|| fs::create_dir(&state).unwrap()),
        ];
        for (number, (why, spoil)) in (1_u32..).zip(spoils) {
            spoil();
            let (keep, office, said) = Keep::open(folder.path()).unwrap();
            let said = said.unwrap();
            assert!(office.is_none() && said.contains(why), "{why}: {said}");
            let name = if number == 1 { "state.unread.json".to_owned() } else { format!("state.unread-{number}.json") };
            assert!(said.contains(&name) && folder.path().join(&name).exists(), "{said}");
            drop(keep);
        }
        let (keep, _, _) = Keep::open(folder.path()).unwrap();
        let office = Office::of(None, std::collections::BTreeMap::new(), super::super::hours::Clock::default());
        keep.write(&serde_json::to_vec(&office).unwrap()).unwrap();
        drop(keep);
        let (_, office, said) = Keep::open(folder.path()).unwrap();
        assert!(office.is_some() && said.is_none());
    }
}
