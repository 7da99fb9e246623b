//! The folder a journal stands in, and its fallback on another disk.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::error::OpenError;
use super::folder::Folder;
use super::mark;

/// Names the fallback folder of a journal, so that readers find it and its absence is noticed.
const FALLBACK: &str = "fallback";

/// The journal's folder and, where one was ever given, its fallback folder. Files have one name over both.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    pub(crate) main: Folder,
    pub(crate) fallback: Option<Folder>,
}

impl Folders {
    /// The folders of an existing journal, for a reader.
    pub(crate) fn of(dir: &Path) -> Result<Folders, OpenError> {
        let main = Folder::at(dir)?;
        let Some(named) = main.read_small(FALLBACK, 4096)? else { return Ok(Folders { main, fallback: None }) };
        let named = PathBuf::from(String::from_utf8_lossy(&named).trim_end_matches('\n'));
        let fallback = Folder::at(&named).map_err(|error| away(&named, &error))?;
        mark::refusal(&main, &fallback)?.map_or(Ok(()), |why| Err(away(&named, &why)))?;
        Ok(Folders { main, fallback: Some(fallback) })
    }

    /// The folders of a journal to write, with the fallback folder as configured now. A fallback folder used before
    /// is never forgotten while it holds a part of the journal.
    pub(crate) fn own(dir: &Path, fallback: Option<&Path>) -> Result<Folders, OpenError> {
        Folder::own(dir)?;
        let Folders { main, fallback: before } = Folders::of(dir)?;
        if let Some(used) = &before {
            mark::refusal_unmarked(used)?.map_or(Ok(()), |why| Err(away(used.path(), &why)))?;
        }
        let other = before.as_ref().filter(|used| fallback.is_some_and(|wanted| used.path() != wanted));
        if let Some(used) = other
            && used.names()?.iter().any(|name| name.ends_with(".jsonl"))
        {
            return Err(away(used.path(), &"another fallback folder is configured now"));
        }
        let is_named = before.is_some() && other.is_none();
        let fallback = match fallback {
            Some(wanted) => Some(Folder::own(wanted)?),
            None => before,
        };
        if let Some(fallback) = &fallback {
            set_up(&main, fallback, is_named)?;
        }
        Ok(Folders { main, fallback })
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Folder> {
        std::iter::once(&self.main).chain(&self.fallback)
    }

    /// Opens a file for reading in whichever folder has it.
    pub(crate) fn open(&self, name: &str) -> Result<Option<(PathBuf, File)>, OpenError> {
        for folder in self.all() {
            if let Some(file) = folder.open(name, false)? {
                return Ok(Some((folder.join(name), file)));
            }
        }
        Ok(None)
    }
}

/// Names the fallback folder in the main one, where that is not so yet, and sees that both have one mark. Wherever this ends, the
/// next start finds a mark of the folder that is named, or none in the main one.
fn set_up(main: &Folder, fallback: &Folder, is_named: bool) -> Result<(), OpenError> {
    if !is_named {
        mark::forget(main)?;
    }
    let mark = mark::of(fallback)?;
    if !is_named {
        let name = format!("{}\n", fallback.path().display());
        main.replace(FALLBACK, name.as_bytes()).map_err(OpenError::io(&main.join(FALLBACK)))?;
    }
    mark::keep(main, mark.as_deref())
}

fn away(folder: &Path, why: &dyn ToString) -> OpenError {
    OpenError::FallbackAway { folder: folder.to_owned(), why: why.to_string() }
}
