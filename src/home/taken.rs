//! The names in a home that it uses itself: a person's new file under one of them would be taken for the home's own, as a key
//! file named `kill` for a pulled kill switch, or be replaced by it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::directory::{Home, HomeError};

/// Names, and folders with all that is in them. What only begins with a name of a file, as a key that is kept aside, counts too.
const FILES: [&str; 4] = ["api-wallet-key", "guard.toml", "kill", "notify.toml"];
const FOLDERS: [&str; 3] = ["journals", "notify", "run"];

impl Home {
    /// Refuses a person's new file where the home has something of its own there, whichever way the path leads to it. Of a home
    /// that is not there yet no path leads into it by links.
    ///
    /// # Errors
    /// [`HomeError::Taken`], and [`HomeError::KillName`] for a name that pulls the switch of whichever home it lies in.
    pub fn check_new_file(&self, file: &Path) -> Result<(), HomeError> {
        let real = real_path(file);
        let inside = self.inside(&real);
        let is_taken = inside.is_some_and(|inside| is_own(&inside)) || real == real_path(&self.config_file());
        if !is_taken && file_name(&real) == "kill" {
            return Err(HomeError::KillName(file.to_owned()));
        }
        if is_taken { Err(HomeError::Taken(file.to_owned(), self.dir().to_owned())) } else { Ok(()) }
    }

    /// The part of a real path that is in the home. A folder is known by what it is: it may be mounted under several names.
    fn inside(&self, real: &Path) -> Option<PathBuf> {
        let identity = |folder: &Path| fs::metadata(folder).ok().map(|found| (found.dev(), found.ino()));
        let (own, home) = (identity(self.dir()), real_path(self.dir()));
        let is_home = |folder: &Path| folder == home || own.is_some() && identity(folder) == own;
        let folder = real.ancestors().skip(1).find(|folder| is_home(folder))?;
        real.strip_prefix(folder).ok().map(Path::to_owned)
    }
}

/// A path with the links in it followed as far as there is something; not one at its end, which no new file follows.
fn real_path(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folders = whole.ancestors().skip(1);
    let real = folders.into_iter().find_map(|folder| {
        let (real, rest) = (folder.canonicalize().ok()?, whole.strip_prefix(folder).ok()?);
        Some(real.join(rest))
    });
    real.unwrap_or(whole)
}

/// The name of a file, as a filesystem may take it that knows no capitals.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// Whether a path in the home is one of its own. Filesystems that take `KILL` for `kill` exist.
fn is_own(inside: &Path) -> bool {
    let Some(first) = inside.components().next() else { return false };
    let name = first.as_os_str().to_string_lossy().to_ascii_lowercase();
    let begins =
        |known: &str, name: &str| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    // The dot before a name is that of a file that is being written.
    let plain = name.strip_prefix('.').unwrap_or(&name);
    FOLDERS.contains(&name.as_str()) || FILES.into_iter().any(|known| begins(known, plain))
}
