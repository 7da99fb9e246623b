//! A file that is to be made later, checked while its name can still be changed.

use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::base::files::{in_own_folder, whole_path};
use crate::base::text::holds_key;
use crate::home::Home;

/// A path as a person types it, with `~` for their own folder.
pub(in crate::cli) fn expanded(typed: &str) -> PathBuf {
    in_own_folder(PathBuf::from(typed), std::env::home_dir)
}

/// Whether a word answers the question whether, and so hardly names a file; `./yes` does.
pub(super) fn is_answer(typed: &str) -> bool {
    ["y", "yes", "n", "no", "ok", "okay", "none", "show", "shown", "skip", "default", "here"]
        .iter()
        .any(|word| typed.eq_ignore_ascii_case(word))
}

/// The whole path of a file that is named from the folder at hand. What no file is called stays as it is.
pub(super) fn whole(file: PathBuf) -> PathBuf {
    if file == Path::new("-") { file } else { whole_path(&file).unwrap_or(file) }
}

/// The file, if one of this name can be made.
pub(super) fn check(typed: &str, home: &Home) -> Result<PathBuf, String> {
    if holds_key(typed) {
        return Err("may be a key; name a new file".to_owned());
    }
    if typed == "-" {
        return Err("is no file here, for a key goes to a new file and nowhere else; name one".to_owned());
    }
    let file = whole(expanded(typed));
    if home.check_new_file(&file).is_err() {
        return Err(
            "is a name that the home uses itself; name a file outside of the home, or another one in it".to_owned()
        );
    }
    let folder = match file.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return Err("is a folder; name a new file".to_owned()),
    };
    if file.symlink_metadata().is_ok() {
        return Err("stands there already and is not replaced; name a new file".to_owned());
    }
    if !folder.is_dir() {
        return Err(format!("cannot be made: there is no folder {}", folder.display()));
    }
    match access(folder, AccessFlags::W_OK | AccessFlags::X_OK) {
        Ok(()) => Ok(file),
        Err(errno) => Err(format!("cannot be made in {}: {}", folder.display(), errno.desc())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_made_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(folder.path().join("home")), None, false).unwrap();
        let check = |typed: &str| check(typed, &home);
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        assert_eq!(check(&path("new")), Ok(folder.path().join("new")));
        std::fs::write(path("old"), "").unwrap();
        assert!(check(&path("old")).unwrap_err().contains("stands there already"));
        assert!(check(&path("no/such")).unwrap_err().contains("there is no folder"));
        assert!(check("/").is_err());
        assert!(check(&"ab".repeat(32)).is_err());
        assert!(check(&path("home/kill")).unwrap_err().contains("the home uses itself"));
        assert!(check("a-file-of-this-name").is_ok());
    }
}
