//! Files read only when nobody else could have planted them, and written whole or not at all.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::unistd::{Uid, User};

use super::denied::{denied, user_name};
use super::disk_fault::with_disk_fault;
use super::shell::word;

/// The whole path of what is named from the folder at hand. Where that is no text, another name of the same place that is one,
/// if it has one: the folder at hand may be no part of it.
///
/// # Errors
/// When the path is empty, or nobody knows the folder at hand.
pub fn whole_path(path: &Path) -> io::Result<PathBuf> {
    let whole = std::path::absolute(path)?;
    if whole.to_str().is_some() || path.to_str().is_none() {
        return Ok(whole);
    }
    let real = whole.ancestors().find_map(|folder| {
        let (real, rest) = (folder.canonicalize().ok()?, whole.strip_prefix(folder).ok()?);
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    Ok(real.filter(|real| real.to_str().is_some()).unwrap_or(whole))
}

/// A path with its leading `~` made the user's own folder, `own`: a shell does so only where a word begins with it, and a folder of
/// that name is never meant. `~name` is that user's, where there is one and nothing else of that name.
pub fn in_own_folder(path: PathBuf, own: impl FnOnce() -> Option<PathBuf>) -> PathBuf {
    let first = path.components().next().and_then(|first| first.as_os_str().to_str());
    let Some((first, name)) = first.and_then(|first| Some((first, first.strip_prefix('~')?))) else { return path };
    let folder = match name {
        "" => own(),
        _ if path.symlink_metadata().is_ok() => None,
        name => User::from_name(name).ok().flatten().map(|user| user.dir),
    };
    match (folder.filter(|folder| folder.is_absolute()), path.strip_prefix(first)) {
        (Some(folder), Ok(rest)) if rest.as_os_str().is_empty() => folder,
        (Some(folder), Ok(rest)) => folder.join(rest),
        _ => path,
    }
}

/// A file that is refused, and why.
#[derive(Debug)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: Why,
}

/// What is wrong with a file.
#[derive(Debug)]
pub enum Why {
    /// It does not exist.
    Missing,
    /// It exists already and is not replaced.
    Exists,
    /// It is a symbolic link.
    Link,
    /// It is a folder, a pipe, a socket or a device.
    NotAFile,
    /// It belongs to a user who is not believed (the uid).
    Owner(u32),
    /// Others can write it (the mode).
    Writable(u32),
    /// Others can read it (the mode).
    Readable(u32),
    /// It is larger than any such file (the limit in bytes).
    TooLarge(u64),
    /// It is not UTF-8 text (the line, from 1).
    NotText(usize),
    /// The system refused (what was tried).
    Io(&'static str, io::Error),
}

impl Why {
    /// It is not UTF-8 text: where.
    #[must_use]
    pub fn not_text(error: &FromUtf8Error) -> Self {
        let before = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        Self::NotText(before.filter(|byte| **byte == b'\n').count().saturating_add(1))
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.why {
            Why::Missing => write!(f, "{path} does not exist"),
            Why::NotAFile if self.path.is_dir() => {
                write!(
                    f,
                    "{path} is not a regular file but a folder; name a file in it: {}",
                    self.path.join("NAME").display()
                )
            }
            Why::Exists if self.path.is_dir() => {
                write!(f, "{path} is a folder; name a new file in it: {}", self.path.join("NAME").display())
            }
            Why::Exists => write!(f, "{path} exists already and is not replaced; name a new file or move it away"),
            Why::Link if !self.path.exists() => {
                let link = word(&self.path);
                write!(
                    f,
                    "{path} is a symbolic link to what is not there: `ls -l {link}` names it; put it back, or take the link away by `rm {link}`"
                )
            }
            Why::Link => {
                let link = word(&self.path);
                write!(
                    f,
                    "{path} is a symbolic link; name the file itself, or put a copy of it there: `cp -p --remove-destination \
                     \"$(readlink -f {link})\" {link}`"
                )
            }
            Why::NotAFile => write!(f, "{path} is not a regular file"),
            Why::Owner(uid) => {
                let (user, name) = (user_name(*uid), word(&self.path));
                write!(
                    f,
                    "{path} belongs to the user with uid {uid} ({user}), who could change it; it must belong to this user: `sudo chown \"$(id -u)\" {name}` \
                     if you trust what it says, `rm -f {name}` if you did not put it there"
                )
            }
            Why::Writable(mode) => {
                write!(f, "{path} has mode {mode:04o}, so others can write it; run `chmod go-w {}`", word(&self.path))
            }
            Why::Readable(mode) => {
                write!(
                    f,
                    "{path} has mode {mode:04o}, so others can read the key; run `chmod 600 {}`",
                    word(&self.path)
                )
            }
            Why::TooLarge(limit) => write!(f, "{path} is larger than {limit} bytes"),
            Why::NotText(line) => write!(f, "{path} is not UTF-8 text: line {line}"),
            Why::Io(what, error) if error.kind() == io::ErrorKind::PermissionDenied => {
                write!(f, "cannot {what} {path}: {}", denied(&self.path, error))
            }
            // What is missing, or is none, is the folder: a missing file has a reason of its own.
            Why::Io(what, error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = self.path.parent().map_or("/".into(), Path::to_string_lossy);
                if Path::new(folder.as_ref()).is_dir() {
                    return write!(f, "cannot {what} {path}: {folder} takes no such file");
                }
                write!(f, "cannot {what} {path}: there is no folder {folder}")
            }
            Why::Io(what, error) if error.kind() == io::ErrorKind::NotADirectory => {
                let folder = self.path.parent().map_or("/".into(), Path::to_string_lossy);
                write!(f, "cannot {what} {path}: {folder} is no folder")
            }
            Why::Io(what, error) => write!(f, "cannot {what} {path}: {}", with_disk_fault(error, &self.path)),
        }
    }
}

impl std::error::Error for FileError {}

/// Opens a regular file for reading without following a link at its end and without waiting on a pipe.
pub fn open_regular(path: &Path) -> Result<(File, fs::Metadata), FileError> {
    open_existing(path, false)
}

/// Opens a regular file as [`open_regular`] does, for writing as well.
pub fn open_regular_to_write(path: &Path) -> Result<(File, fs::Metadata), FileError> {
    open_existing(path, true)
}

fn open_existing(path: &Path, write: bool) -> Result<(File, fs::Metadata), FileError> {
    let refused = |why| FileError { path: path.to_owned(), why };
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let opened = OpenOptions::new().read(true).write(write).custom_flags(flags.bits()).open(path);
    let file = opened.map_err(|error| match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT) => refused(Why::Missing),
        Some(Errno::ELOOP) => refused(Why::Link),
        Some(Errno::ENXIO) => refused(Why::NotAFile),
        _ => refused(Why::Io("open", error)),
    })?;
    let metadata = file.metadata().map_err(|error| refused(Why::Io("look at", error)))?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(refused(Why::NotAFile)) }
}

/// Reads a text file of at most `limit` bytes that belongs to a trusted user and that nobody else can write.
pub fn read_trusted(path: &Path, trusted: &[u32], limit: u64) -> Result<String, FileError> {
    let refused = |why| FileError { path: path.to_owned(), why };
    let (file, metadata) = open_regular(path)?;
    if !trusted.contains(&metadata.uid()) {
        return Err(refused(Why::Owner(metadata.uid())));
    }
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(refused(Why::Writable(mode)));
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| refused(Why::Io("read", error)))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(refused(Why::TooLarge(limit)));
    }
    String::from_utf8(bytes).map_err(|error| refused(Why::not_text(&error)))
}

/// Whether a file that is there already is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// It is.
    Yes,
    /// It is not: the write is refused.
    No,
}

/// Writes a file whole or not at all: a temporary file beside it, synced, then put in place under its name, and the
/// directory synced. The file has exactly `mode`.
///
/// # Errors
/// When the file exists and must not be replaced, or the system refuses; nothing is left behind then.
pub fn write_whole(path: &Path, bytes: &[u8], mode: u32, replace: Replace) -> Result<(), FileError> {
    if replace == Replace::No && fs::symlink_metadata(path).is_ok() {
        return Err(FileError { path: path.to_owned(), why: Why::Exists });
    }
    Staged::new(path, bytes, mode)?.put(replace)
}

/// A file that is written whole beside its place, and has to be put there; dropped before, it is gone.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    temporary: Temporary,
}

impl Staged {
    /// Writes it, synced, with exactly `mode`.
    ///
    /// # Errors
    /// When the system refuses; nothing is left behind then.
    pub fn new(path: &Path, bytes: &[u8], mode: u32) -> Result<Self, FileError> {
        let refused = |error| FileError { path: path.to_owned(), why: Why::Io("write", error) };
        let temporary = Temporary::beside(path, mode & 0o700).map_err(refused)?;
        let mut staged = Self { path: path.to_owned(), temporary };
        write_synced(&mut staged.temporary.file, bytes, mode).map_err(refused)?;
        Ok(staged)
    }

    /// Puts it into its place, and syncs the folder. It is the same group's as what stood there, where this user may give it that.
    ///
    /// # Errors
    /// As of [`write_whole`].
    pub fn put(self, replace: Replace) -> Result<(), FileError> {
        let refused = |why| FileError { path: self.path.clone(), why };
        let group = fs::symlink_metadata(&self.path).ok().map(|there| there.gid());
        if group.is_some() {
            _ = fchown(&self.temporary.file, None, group);
        }
        let put = match replace {
            Replace::Yes => fs::rename(&self.temporary.path, &self.path),
            // A link, unlike a rename, fails when the name was taken meanwhile.
            Replace::No => fs::hard_link(&self.temporary.path, &self.path),
        };
        put.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => refused(Why::Exists),
            _ => refused(Why::Io("write", error)),
        })?;
        sync_parent(&self.path).map_err(|error| refused(Why::Io("sync the folder of", error)))
    }
}

/// A new file of a name that nobody can guess beside what it is for. It is held while this lives, so that whoever looks for what
/// a cut-off command left lets it be; dropped, it is gone unless it was put elsewhere.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// None where the filesystem holds no files: nobody can then say that one is left, either.
    _held: Option<Flock<File>>,
}

impl Temporary {
    /// Makes it, and removes what commands that were cut off left of the same kind.
    pub(super) fn beside(place: &Path, mode: u32) -> io::Result<Self> {
        remove_leftovers(place);
        loop {
            let path = temporary_beside(place)?;
            let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
            match Flock::lock(file.try_clone()?, FlockArg::LockExclusiveNonblock) {
                // Whoever looked for what is left was there before it was held.
                Err((_, Errno::EWOULDBLOCK)) => _ = fs::remove_file(&path),
                Ok(_) if file.metadata()?.nlink() == 0 => {}
                held => return Ok(Self { path, file, _held: held.ok() }),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing of that name.
        _ = fs::remove_file(&self.path);
    }
}

fn write_synced(file: &mut File, bytes: &[u8], mode: u32) -> io::Result<()> {
    file.write_all(bytes)?;
    // The process's mask may have taken bits away.
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.sync_all()
}

/// Digits of what nobody can guess in the name of a temporary file.
const RANDOM_DIGITS: usize = 16;

/// A name beside `path` that nobody can guess, so that nobody can take it first.
pub fn temporary_beside(path: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    fill_random(&mut random)?;
    let random = u64::from_be_bytes(random);
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    Ok(path.with_file_name(format!(".{}.{random:0RANDOM_DIGITS$x}", name.display())))
}

/// Entries of a folder that are looked at for what a write left behind.
const MAX_LOOKED_AT: usize = 10_000;

/// Removes what processes that were killed while they wrote `path` left beside it: this user's own temporary files of that name which
/// nobody holds. What cannot be removed stays, and costs nothing but its place.
pub fn remove_leftovers(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
    let prefix = format!(".{}.", name.display());
    let is_temporary = |name: &str| {
        name.strip_prefix(&prefix).is_some_and(|random| {
            random.len() == RANDOM_DIGITS && random.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        })
    };
    let is_left = |path: &Path| {
        let found = open_regular(path).ok().filter(|(_, metadata)| metadata.uid() == Uid::effective().as_raw());
        // Held while it is removed, so that no writer takes it up meanwhile.
        found.and_then(|(file, _)| Flock::lock(file, FlockArg::LockExclusiveNonblock).ok())
    };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.take(MAX_LOOKED_AT).filter_map(Result::ok) {
        if entry.file_name().to_str().is_some_and(is_temporary)
            && let Some(_held) = is_left(&entry.path())
        {
            _ = fs::remove_file(entry.path());
        }
    }
}

/// Makes a rename or a new file in `path`'s directory last. A directory that this user may not read (the home, for
/// others) cannot be synced by them and is left to the system.
pub fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    match File::open(parent) {
        Ok(dir) => dir.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

/// Fills `bytes` from the system's random source.
pub fn fill_random(bytes: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(bytes)
}
