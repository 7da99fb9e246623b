//! A folder that a journal stands in. Every file belongs to the folder's owner, is one that
//! nobody else can write, is opened without following a link, and has a mode that the umask does not change. Knows no line.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::error::OpenError;
use crate::base::files::{self, FileError, Replace, Why};

/// The name of the file for the batch being written: each folder that was ever written to has one.
pub(super) const REDO: &str = "tail.redo";

/// One folder whose files all belong to the folder's owner.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    owner: u32,
}

impl Folder {
    /// An existing folder, not a symbolic link.
    pub(crate) fn at(path: &Path) -> Result<Folder, OpenError> {
        let meta = fs::symlink_metadata(path).map_err(OpenError::io(path))?;
        if !meta.is_dir() {
            return Err(OpenError::NotOurs { path: path.to_owned(), why: "not a folder" });
        }
        refuse_writable(path, &meta)?;
        Ok(Folder { path: path.to_owned(), owner: meta.uid() })
    }

    /// The folder, made with its parents (mode 0755) where missing; it must belong to the process's user, and nobody else may
    /// put another one in its place.
    pub(crate) fn own(path: &Path) -> Result<Folder, OpenError> {
        make(path)?;
        let folder = Folder::at(path)?;
        let above = parent_of(path);
        let meta = fs::metadata(above).map_err(OpenError::io(above))?;
        // Where the sticky bit is set each takes away only what is its own.
        if meta.permissions().mode() & 0o1000 == 0 {
            refuse_writable(above, &meta)?;
        }
        if folder.owner != nix::unistd::geteuid().as_raw() {
            return Err(OpenError::NotOurs { path: path.to_owned(), why: "a folder of another owner" });
        }
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens an existing plain file of the folder's owner, to write as well if asked. `None` when it is not there.
    pub(crate) fn open(&self, name: &str, write: bool) -> Result<Option<File>, OpenError> {
        let path = self.join(name);
        let opened = if write { files::open_regular_to_write(&path) } else { files::open_regular(&path) };
        match opened {
            Ok((_, meta)) if meta.uid() != self.owner => {
                Err(OpenError::NotOurs { path, why: "a file of another owner" })
            }
            Ok((file, meta)) => refuse_writable(&path, &meta).map(|()| Some(file)),
            Err(FileError { why: Why::Missing, .. }) => Ok(None),
            Err(FileError { why: Why::Link, .. }) => Err(OpenError::NotOurs { path, why: "a symbolic link" }),
            Err(FileError { why: Why::NotAFile, .. }) => Err(OpenError::NotOurs { path, why: "not a plain file" }),
            Err(error) => Err(OpenError::Io { path, error: as_io(error) }),
        }
    }

    /// Creates a new file (refused when the name is taken) with exactly this mode.
    pub(crate) fn create(&self, name: &str, mode: u32) -> io::Result<File> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(self.join(name))?;
        file.set_permissions(Permissions::from_mode(mode))?;
        Ok(file)
    }

    /// Opens the file for reading and writing, creating it where missing.
    pub(crate) fn open_or_create(&self, name: &str, mode: u32) -> Result<File, OpenError> {
        match self.open(name, true)? {
            Some(file) => Ok(file),
            None => self.create(name, mode).map_err(OpenError::io(&self.join(name))),
        }
    }

    /// Makes the names in this folder durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }

    /// Puts `bytes` under `name` in one durable step, replacing what stood there.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        files::write_whole(&self.join(name), bytes, 0o644, Replace::Yes).map_err(as_io)
    }

    /// The whole of a small file, `None` when it is not there; more than `limit` bytes are not read.
    pub(crate) fn read_small(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, OpenError> {
        let Some(file) = self.open(name, false)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(limit).read_to_end(&mut bytes).map_err(OpenError::io(&self.join(name)))?;
        Ok(Some(bytes))
    }

    /// The names in this folder that are text.
    pub(crate) fn names(&self) -> Result<Vec<String>, OpenError> {
        let failed = OpenError::io(&self.path);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(&failed)? {
            names.extend(entry.map_err(&failed)?.file_name().into_string().ok());
        }
        Ok(names)
    }
}

fn as_io(error: FileError) -> io::Error {
    match error.why {
        Why::Io(_, error) => error,
        _ => io::Error::other(error),
    }
}

/// Refuses what another user could have written.
fn refuse_writable(path: &Path, meta: &Metadata) -> Result<(), OpenError> {
    let mode = meta.permissions().mode() & 0o7777;
    if mode & 0o022 == 0 { Ok(()) } else { Err(OpenError::Writable { path: path.to_owned(), mode }) }
}

/// Removes a file; one that is not there is fine.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The folder that this one stands in.
fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a folder and its missing parents, each 0755 whatever the umask, each durable in its parent.
fn make(path: &Path) -> Result<(), OpenError> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    let parent = parent_of(path);
    make(parent)?;
    let made = DirBuilder::new().mode(0o755).create(path);
    made.and_then(|()| fs::set_permissions(path, Permissions::from_mode(0o755)))
        .and_then(|()| File::open(parent)?.sync_all())
        .map_err(OpenError::io(path))
}
