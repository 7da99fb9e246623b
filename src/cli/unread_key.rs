//! A file that gives a start no key: where it was named, and which other key can be taken.

use super::environment;
use super::refusal::Refusal;
use crate::base::disk_fault::folder_in_the_way;
use crate::base::files::{FileError, Why};
use crate::home::{Home, KeyFileError};

/// The refusal of a start for such a file, named for this start or the home's own.
pub(super) fn refusal(error: KeyFileError, is_named: bool, home: &Home) -> Refusal {
    match error {
        KeyFileError::File(FileError { path, why: Why::Missing }) if is_named => Refusal::Given(format!(
            "{}; {}",
            FileError { path, why: Why::Missing },
            other_key(environment::names_key_file(), home)
        )),
        KeyFileError::File(FileError { path, why: Why::NotAFile }) if !is_named && path.is_dir() => {
            Refusal::Given(folder_in_the_way(&path))
        }
        error @ KeyFileError::NotAKey(..) if !is_named => {
            Refusal::Given(format!("{error}; `svc-guard key replace --key-stdin < FILE` stores one"))
        }
        error => Refusal::Key(error),
    }
}

/// What names such a file, and how the key is taken that the home keeps, if it keeps one.
fn other_key(is_by_variable: bool, home: &Home) -> String {
    let (name, without) = if is_by_variable {
        ("SVC_GUARD_KEY_FILE", "`unset SVC_GUARD_KEY_FILE`")
    } else {
        ("--key-file", "without --key-file")
    };
    let kept = [home.sealed_key_file(), home.key_file()].into_iter().find(|file| file.exists());
    let kept = kept.map_or_else(String::new, |file| {
        let way =
            if is_by_variable { format!("{without} has the start take") } else { format!("{without} the start takes") };
        format!("; {way} the one kept in {}", file.display())
    });
    format!("name the file with the API wallet's key by {name}{kept}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_that_the_home_keeps_is_offered_where_it_keeps_one() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(folder.path().to_owned()), None, false).unwrap();
        assert_eq!(other_key(false, &home), "name the file with the API wallet's key by --key-file");
        std::fs::write(home.key_file(), "").unwrap();
        let told = other_key(true, &home);
        let way =
            format!("; `unset SVC_GUARD_KEY_FILE` has the start take the one kept in {}", home.key_file().display());
        assert_eq!(told, format!("name the file with the API wallet's key by SVC_GUARD_KEY_FILE{way}"));
        assert!(other_key(false, &home).contains("; without --key-file the start takes the one kept in"));
    }
}
