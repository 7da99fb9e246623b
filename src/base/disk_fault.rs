//! A disk, or a path on it, that takes nothing: what a person does about it, in one place for all that is written.

use std::io;
use std::path::Path;

use super::shell::word;

/// What is wrong with the disk of `path` and what mends it, where that is what the system says.
#[must_use]
pub fn disk_fault(error: &io::Error, path: &Path) -> Option<String> {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // What was being made may be taken back by now: the folder above it tells the same.
    let nearest = whole.ancestors().find(|folder| folder.is_dir() && folder.parent().is_some());
    let folder = word(nearest.or(whole.parent()).unwrap_or(Path::new("/")));
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some(format!("that disk is full: make space, see `df {folder}`"))
        }
        io::ErrorKind::ReadOnlyFilesystem => Some(format!(
            "that disk is read-only; root makes it writable by `mount -o remount,rw \"$(findmnt -no TARGET --target {folder} | tail -n1)\"`"
        )),
        io::ErrorKind::NotADirectory => {
            let file = word(whole.ancestors().find(|above| above.is_file())?);
            Some(format!("{file} is a file where a folder belongs: `mv {file} {file}.file` moves it away"))
        }
        _ => None,
    }
}

/// The same of a folder that stands where a program has a file of its own.
#[must_use]
pub fn folder_in_the_way(path: &Path) -> String {
    let folder = word(path);
    format!("{} is a folder, and a file belongs there: `mv {folder} {folder}.folder` moves it away", path.display())
}

/// The same behind an error, where there is something to be said.
#[must_use]
pub fn with_disk_fault(error: &io::Error, path: &Path) -> String {
    disk_fault(error, path).map_or_else(|| error.to_string(), |way| format!("{error}; {way}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_one_that_is_read_only_have_a_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let told = |kind: io::ErrorKind| with_disk_fault(&kind.into(), &folder.path().join("file"));
        assert!(told(io::ErrorKind::StorageFull).ends_with(&format!("see `df {}`", folder.path().display())));
        assert!(told(io::ErrorKind::ReadOnlyFilesystem).contains("; root makes it writable by `mount -o remount,rw"));
        let told_at = |path: &Path| with_disk_fault(&io::ErrorKind::NotADirectory.into(), path);
        let gone = with_disk_fault(&io::ErrorKind::StorageFull.into(), &folder.path().join("gone/again/file"));
        assert!(gone.ends_with(&format!("see `df {}`", folder.path().display())), "{gone}");
        assert_eq!(disk_fault(&io::ErrorKind::TimedOut.into(), folder.path()), None);
        let file = folder.path().join("journals");
        std::fs::write(&file, "").unwrap();
        let (told, file) = (told_at(&file.join("paper/lock")), file.display());
        assert!(
            told.ends_with(&format!("{file} is a file where a folder belongs: `mv {file} {file}.file` moves it away"))
        );
    }
}
