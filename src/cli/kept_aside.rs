//! The name under which an earlier key is kept beside its place, and the way back where a command that was cut off left nothing
//! there but that.

use std::fs;
use std::path::{Path, PathBuf};

use crate::base::address::Address;
use crate::base::shell::word;
use crate::home::read_key_file;

/// Most names that are looked at for one that is there.
const MAX_LOOKED_AT: u32 = 1_000;

/// The first name of the form `path.old-N` that is free. The home is locked meanwhile.
pub(super) fn free_name(path: &Path) -> PathBuf {
    (1..u32::MAX).map(|number| name(path, number)).find(|name| !is_there(name)).unwrap_or_else(|| name(path, u32::MAX))
}

/// The command that puts a key that is kept aside back into its place, as the first part of an advice: the newest one, of this
/// wallet where that is known; nothing where there is none.
pub(super) fn way_back(path: &Path, wallet: Option<Address>) -> String {
    let is_its = |aside: &PathBuf| {
        wallet.is_none_or(|wallet| read_key_file(aside, true).is_ok_and(|there| there.key.address() == wallet))
    };
    let newest = (1..=MAX_LOOKED_AT).rev().map(|number| name(path, number)).find(|name| is_there(name) && is_its(name));
    let which =
        if wallet.is_some() { "its key, which was kept aside, back" } else { "the one back that was kept aside last" };
    newest.map_or_else(String::new, |aside| format!("`mv {} {}` puts {which}, or ", word(aside), word(path)))
}

fn name(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".old-{number}"));
    PathBuf::from(name)
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
