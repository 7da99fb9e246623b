//! The home directory: the places in it and their permissions.
//!
//! Anyone on the machine may write the kill file, so the directory is open to new files; nobody but its owner may
//! replace what is there.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::{Uid, User};

use crate::base::address::Address;
use crate::base::denied::{denied, user_name};
use crate::base::disk_fault::with_disk_fault;
use crate::base::files::{in_own_folder, remove_leftovers, whole_path};
use crate::base::kill_file::KillFile;
use crate::base::mode::Mode;
use crate::base::shell::word;

/// Anyone may add a file (the kill file), nobody may list, rename or remove another's.
const HOME_MODE: u32 = 0o1733;
/// Journals may be read by anyone.
const JOURNALS_MODE: u32 = 0o755;
/// The service's own sockets and locks.
const RUN_MODE: u32 = 0o700;

/// A home directory and the places in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    dir: PathBuf,
    config: Option<PathBuf>,
}

/// Why a home cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// No home was named and the user has none.
    #[error("this user has no home directory; name one with --home DIR")]
    Unknown,
    /// The directory does not exist.
    #[error(
        "{0} does not exist; `svc-guard init` sets it up, --home DIR names another, or its place of today where it was moved"
    )]
    Missing(PathBuf),
    /// The directory does not exist, and the config that was named stands in another home (that one, as words of a command).
    #[error(
        "{0} does not exist: --config names another config file, and no home, which holds journals and keys too. The home of that \
         config is named by `svc-guard --home {1} ...`"
    )]
    OtherHome(PathBuf, String),
    /// The path is something else than a directory.
    #[error("{0} is not a directory, and a folder belongs there: `mv {word} {word}.file` moves it away", word = word(.0))]
    NotADirectory(PathBuf),
    /// The home that was named is a file.
    #[error("{0} is a file, and a home is {way}", way = folder_of(.0))]
    AFile(PathBuf),
    /// The directory belongs to another user (the uid).
    #[error("{0} belongs to {user}; run the command as that user: `sudo -u {user} svc-guard --home {word} ...`", user = user_name(*.1), word = word(.0))]
    Owner(PathBuf, u32),
    /// A folder in the home belongs to another user (the uid).
    #[error("{0} belongs to {user}, and must be this user's as the home is; root gives it back: `chown -R {me} {word}`", word = word(.0), user = user_name(*.1), me = user_name(Uid::effective().as_raw()))]
    Part(PathBuf, u32),
    /// Others can replace the files in it (the mode).
    #[error("{0} has mode {1:04o}, so others can replace the files in it; run `chmod 1733 {word}`", word = word(.0))]
    Exposed(PathBuf, u32),
    /// A new file was named where the home has something of its own (the file, the home).
    #[error(
        "{0} is a name that the home uses itself, and what is written there would be taken for the home's own: name a file \
         outside of the home, or another one in it, as {bot}", bot = .1.join("bot.key").display()
    )]
    Taken(PathBuf, PathBuf),
    /// A new file was named as the kill switch of a home is (the file).
    #[error(
        "{0} is named as a kill file is: in the home of a guard it would have that one close everything; give the file another name"
    )]
    KillName(PathBuf),
    /// Another command is changing it.
    #[error("another command is changing {0}; try again when it is done")]
    Busy(PathBuf),
    /// The system refused (what was tried, on what).
    #[error("cannot {0} {1}: {why}", why = refused(.1, .2))]
    Io(&'static str, PathBuf, std::io::Error),
}

impl Home {
    /// The home in `dir`, or the default `~/.svc-guard`; `config` is another file than its `guard.toml`.
    /// `~` is `$HOME`, or with `tilde_from_system` the user database's entry, for a command that may read no
    /// environment variable.
    ///
    /// # Errors
    /// [`HomeError::Unknown`] when no directory is named and the user has none.
    pub fn resolve(dir: Option<PathBuf>, config: Option<PathBuf>, tilde_from_system: bool) -> Result<Self, HomeError> {
        let tilde = || if tilde_from_system { system_home() } else { std::env::home_dir() };
        let own = |path: PathBuf| in_own_folder(path, tilde);
        let config = config.map(own);
        let dir = match dir {
            Some(dir) => own(dir),
            None => tilde().filter(|dir| dir.is_absolute()).ok_or(HomeError::Unknown)?.join(".svc-guard"),
        };
        let dir = whole_path(&dir).map_err(|error| HomeError::Io("resolve", dir, error))?;
        Ok(Self { dir, config })
    }

    /// The directory itself.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The configuration: `guard.toml`, or the file that was named instead.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.config.clone().unwrap_or_else(|| self.dir.join("guard.toml"))
    }

    /// The file that was named instead of `guard.toml`.
    #[must_use]
    pub fn named_config(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// The API wallet's key.
    #[must_use]
    pub fn key_file(&self) -> PathBuf {
        self.dir.join("api-wallet-key")
    }

    /// The API wallet's key, sealed for this host.
    #[must_use]
    pub fn sealed_key_file(&self) -> PathBuf {
        self.dir.join("api-wallet-key.cred")
    }

    /// The client key of a set-up by `run`.
    #[must_use]
    pub fn client_key_file(&self) -> PathBuf {
        self.dir.join("client-key")
    }

    /// The kill switch.
    #[must_use]
    pub fn kill_file(&self) -> KillFile {
        KillFile::new(self.dir.join("kill"))
    }

    /// The service's sockets and locks.
    #[must_use]
    pub fn run_dir(&self) -> PathBuf {
        self.dir.join("run")
    }

    /// Says where the journal of one mode and account ends, outside of its folder.
    #[must_use]
    pub fn journal_witness(&self, mode: Mode, account: Address) -> PathBuf {
        self.run_dir().join(format!("journal-end-{mode}-{account}"))
    }

    /// Whether a service has written a journal of one mode and account here, as it is known outside of its folder.
    #[must_use]
    pub fn has_written(&self, mode: Mode, account: Address) -> bool {
        self.journal_witness(mode, account).symlink_metadata().is_ok()
    }

    /// The journals of one mode and account.
    #[must_use]
    pub fn journal_dir(&self, mode: Mode, account: Address) -> PathBuf {
        self.journals_dir().join(format!("{mode}-{account}"))
    }

    /// The equity by the minute of one mode and account.
    #[must_use]
    pub fn equity_file(&self, mode: Mode, account: Address) -> PathBuf {
        self.journals_dir().join(format!("equity-{mode}-{account}"))
    }

    /// Says where the running service listens, for anyone on the machine: the config's address may be overridden.
    #[must_use]
    pub fn address_file(&self) -> PathBuf {
        self.journals_dir().join("listening")
    }

    fn journals_dir(&self) -> PathBuf {
        self.dir.join("journals")
    }

    /// Makes the home and its folders with their permissions, leaving what is there. Returns what was made, outermost
    /// first, so that a set-up that fails later can take it back.
    ///
    /// # Errors
    /// When the home is no directory, belongs to another user, or the system refuses.
    pub fn create(&self) -> Result<Vec<PathBuf>, HomeError> {
        let mut made = Vec::new();
        for (dir, mode) in
            [(self.dir.clone(), HOME_MODE), (self.journals_dir(), JOURNALS_MODE), (self.run_dir(), RUN_MODE)]
        {
            let done = make_dir(&dir, mode, dir == self.dir);
            if matches!(done, Ok(true)) {
                made.push(dir);
            } else if let Err(error) = done {
                made.iter().rev().for_each(|dir| _ = fs::remove_dir(dir));
                return Err(error);
            }
        }
        Ok(made)
    }

    /// Makes the folder of the service's own sockets and locks where it is not there: a copy of a home needs none.
    ///
    /// # Errors
    /// When it is no folder, belongs to another user, or the system refuses.
    pub fn make_run_dir(&self) -> Result<(), HomeError> {
        make_dir(&self.run_dir(), RUN_MODE, false).map(drop)
    }

    /// Checks that the home is this user's own and that nobody else can replace its files.
    ///
    /// # Errors
    /// The [`HomeError`] that says what is wrong.
    pub fn require_own(&self) -> Result<(), HomeError> {
        let metadata = self.metadata()?;
        if metadata.uid() != Uid::effective().as_raw() {
            return Err(HomeError::Owner(self.dir.clone(), metadata.uid()));
        }
        let mode = metadata.permissions().mode() & 0o7777;
        let replaceable = mode & 0o022 != 0 && mode & 0o1000 == 0;
        if replaceable { Err(HomeError::Exposed(self.dir.clone(), mode)) } else { Ok(()) }
    }

    /// The users whose files are believed here: this one, root, and the home's owner where there is a home.
    #[must_use]
    pub fn trusted(&self) -> Vec<u32> {
        let own = [Uid::effective().as_raw(), 0];
        own.into_iter().chain(self.metadata().map(|metadata| metadata.uid())).collect()
    }

    /// Holds the home against another command that would change its configuration at the same time. Released when
    /// dropped, and by the system when the process ends.
    ///
    /// # Errors
    /// [`HomeError::Busy`] when another command holds it.
    pub fn lock(&self) -> Result<HomeLock, HomeError> {
        let dir = fs::File::open(&self.dir).map_err(|error| HomeError::Io("open", self.dir.clone(), error))?;
        match Flock::lock(dir, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => {
                // Some of what a command that was cut off left here holds a key, which no other command may ever write.
                [self.config_file(), self.key_file(), self.sealed_key_file(), self.client_key_file()]
                    .iter()
                    .for_each(|file| remove_leftovers(file));
                Ok(HomeLock { _lock: lock })
            }
            Err(_) => Err(HomeError::Busy(self.dir.clone())),
        }
    }

    /// Refuses a config that was named without its home, where this one is not there.
    ///
    /// # Errors
    /// [`HomeError::OtherHome`].
    pub fn check_config_place(&self) -> Result<(), HomeError> {
        match self.missing() {
            error @ HomeError::OtherHome(..) if !self.dir.exists() => Err(error),
            _ => Ok(()),
        }
    }

    /// A home that is not there, for whoever named its config alone.
    fn missing(&self) -> HomeError {
        let config =
            self.config.as_deref().and_then(|config| whole_path(config).ok()).filter(|config| config.is_file());
        let Some((config, folder)) = config.as_deref().and_then(|config| Some((config, config.parent()?))) else {
            return HomeError::Missing(self.dir.clone());
        };
        let is_usual = config.file_name().is_some_and(|name| name == "guard.toml");
        let more = if is_usual { String::new() } else { format!(" --config {}", word(config)) };
        HomeError::OtherHome(self.dir.clone(), format!("{}{more}", word(folder)))
    }

    fn metadata(&self) -> Result<fs::Metadata, HomeError> {
        match fs::metadata(&self.dir) {
            Ok(metadata) if metadata.is_dir() => Ok(metadata),
            Ok(metadata) if metadata.is_file() => Err(HomeError::AFile(self.dir.clone())),
            Ok(_) => Err(HomeError::NotADirectory(self.dir.clone())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(self.missing()),
            Err(error) => Err(HomeError::Io("look at", self.dir.clone(), error)),
        }
    }
}

/// Why the system refused.
fn refused(path: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => denied(path, error),
        _ => with_disk_fault(error, path),
    }
}

/// Keeps other commands from changing the home's configuration while it lives.
#[derive(Debug)]
pub struct HomeLock {
    _lock: Flock<fs::File>,
}

/// The folder that is meant by a file: that of a config is a home, and of another one nobody knows.
fn folder_of(file: &Path) -> String {
    let folder = file.parent().filter(|folder| folder.join("guard.toml").is_file());
    folder.map_or_else(
        || "a folder: `svc-guard --home DIR init` sets one up".to_owned(),
        |folder| format!("the folder that one is in: `svc-guard --home {} check-config` looks at that", word(folder)),
    )
}

/// The user's own folder by the user database, for who reads no variable.
#[must_use]
pub fn system_home() -> Option<PathBuf> {
    User::from_uid(Uid::effective()).ok().flatten().map(|user| user.dir)
}

/// Makes a directory of this user, or takes one that is there; a link is followed only where the owner named the path.
/// Whether it was made.
fn make_dir(dir: &Path, mode: u32, follow: bool) -> Result<bool, HomeError> {
    let failed = |what, error| HomeError::Io(what, dir.to_owned(), error);
    if follow && let Some(parent) = dir.parent() {
        fs::create_dir_all(parent).map_err(|error| failed("make the folder of", error))?;
    }
    let made = match fs::create_dir(dir) {
        Ok(()) => true,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => false,
        Err(error) => return Err(failed("make", error)),
    };
    let metadata = if follow { fs::metadata(dir) } else { fs::symlink_metadata(dir) };
    let metadata = metadata.map_err(|error| failed("look at", error))?;
    if !metadata.is_dir() {
        return Err(HomeError::NotADirectory(dir.to_owned()));
    }
    if metadata.uid() != Uid::effective().as_raw() {
        let (dir, uid) = (dir.to_owned(), metadata.uid());
        return Err(if follow { HomeError::Owner(dir, uid) } else { HomeError::Part(dir, uid) });
    }
    if metadata.permissions().mode() & 0o7777 != mode {
        fs::set_permissions(dir, fs::Permissions::from_mode(mode)).map_err(|error| failed("set the mode of", error))?;
    }
    Ok(made)
}
