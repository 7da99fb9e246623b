//! The mark that a journal's folder and its fallback folder share: by it a start tells the fallback folder from the empty one that
//! a disk which is not mounted leaves in its place, and from that of another journal. It stands in both from the start on that
//! sets the fallback up: when that takes over, the journal's own folder cannot be written any more.

use super::error::OpenError;
use super::folder::{Folder, REDO, remove};
use crate::base::files::fill_random;
use crate::base::hex::to_hex;

pub(super) const NAME: &str = "fallback-mark";

/// More than a mark and its end of line.
const LIMIT: u64 = 64;

/// Why a folder is not the one that `main` has shared its mark with; none where it is, or where `main` has no mark.
pub(super) fn refusal(main: &Folder, fallback: &Folder) -> Result<Option<String>, OpenError> {
    let Some(own) = main.read_small(NAME, LIMIT)? else { return Ok(None) };
    Ok(match fallback.read_small(NAME, LIMIT)? {
        Some(mark) if mark == own => None,
        Some(_) => Some(format!("its {NAME} is that of another journal")),
        None => Some(gone()),
    })
}

/// The same for one that is to be written to and has perhaps no mark yet: an earlier version, or a disk without any room, left
/// none, but the redo file was made there in any case.
pub(super) fn refusal_unmarked(fallback: &Folder) -> Result<Option<String>, OpenError> {
    let is_known = fallback.open(NAME, false)?.is_some() || fallback.open(REDO, false)?.is_some();
    Ok((!is_known).then(gone))
}

fn gone() -> String {
    "the files that this journal has put there are gone: is its disk mounted?".to_owned()
}

/// The mark in the fallback folder, made where there is none; none where its disk has no room for it, until the next start.
pub(super) fn of(fallback: &Folder) -> Result<Option<Vec<u8>>, OpenError> {
    if let Some(mark) = fallback.read_small(NAME, LIMIT)?.filter(|mark| !mark.is_empty()) {
        return Ok(Some(mark));
    }
    let mut token = [0; 16];
    fill_random(&mut token).map_err(OpenError::io(&fallback.join(NAME)))?;
    let mark = format!("{}\n", to_hex(&token)).into_bytes();
    Ok(put(fallback, &mark)?.then_some(mark))
}

/// Keeps it in the journal's own folder as well.
pub(super) fn keep(main: &Folder, mark: Option<&[u8]>) -> Result<(), OpenError> {
    match mark {
        Some(mark) if main.read_small(NAME, LIMIT)?.is_none() => put(main, mark).map(|_there_is_room| ()),
        _ => Ok(()),
    }
}

/// Lets the journal's own folder forget the mark of a fallback folder that it has no more.
pub(super) fn forget(main: &Folder) -> Result<(), OpenError> {
    remove(&main.join(NAME)).and_then(|()| main.sync()).map_err(OpenError::io(&main.join(NAME)))
}

/// Whether there was room for it. A disk without any is no reason not to start.
fn put(folder: &Folder, mark: &[u8]) -> Result<bool, OpenError> {
    let written = folder.replace(NAME, mark).map_err(OpenError::io(&folder.join(NAME)));
    match written {
        Err(error) if error.is_for_want_of_room() => Ok(false),
        written => written.map(|()| true),
    }
}
