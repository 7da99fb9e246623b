//! The kill file that `mcp` is to write where the guard does not take a kill: one that a guard looks for. Written anywhere else it
//! stops nothing, and the agent must not be told that all is closed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::refusal::Refusal;
use crate::base::files::in_own_folder;
use crate::base::kill_file::KillFile;
use crate::base::shell::place;
use crate::home::{Home, system_home};

/// A home has one of these from its set-up on; its config may be elsewhere.
const SIGNS: [&str; 2] = ["guard.toml", "journals"];

/// The file, if a guard of the home that it is in would look at it, and why that is not sure; `named` is the home that was typed.
pub(super) fn checked(typed: &Path, named: Option<&Home>) -> Result<(KillFile, Option<String>), Refusal> {
    let file = std::path::absolute(in_own_folder(typed.to_owned(), system_home))
        .map_err(|error| Refusal::Io("resolve --kill-file", error))?;
    let own = named.map(|home| home.kill_file().path().to_owned());
    let refused = |why: &str, way: &str| {
        let way = own.as_deref().map_or_else(|| way.to_owned(), |own| format!("give {}", place(own)));
        Refusal::Given(format!("--kill-file {} {why}; {way}", place(&file)))
    };
    if file.file_name().is_none_or(|name| name != "kill") {
        if file.is_dir() {
            return Err(refused("is a folder", &format!("give the file in it: {}", place(&file.join("kill")))));
        }
        return Err(refused(
            "is none: a guard looks at the file `kill` in its home",
            "give HOME/kill, where HOME is the guard's",
        ));
    }
    let home = file.parent().unwrap_or(Path::new("/"));
    let doubt = check_home(home, named, &refused)?;
    match fs::symlink_metadata(&file) {
        Ok(found) if found.is_file() => {}
        Ok(_) => {
            return Err(refused("is no regular file", "a person must look at what stands there, and take it away"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(refused(&format!("cannot be looked at: {error}"), "let this user into that folder")),
    }
    Ok((KillFile::new(file), doubt))
}

/// Refuses another home than was typed, and tells of a folder that looks like none: what is mounted for an agent may show the kill
/// file alone.
fn check_home(
    folder: &Path,
    named: Option<&Home>,
    refused: &impl Fn(&str, &str) -> Refusal,
) -> Result<Option<String>, Refusal> {
    const WAY: &str = "give HOME/kill, where HOME is the guard's";
    match named {
        Some(home) if real(home.dir()) == real(folder) => return Ok(None),
        Some(home) => {
            let (dir, own) = (place(home.dir()), home.kill_file());
            let why = format!("is another home's: --home names {dir}, whose kill file is {}", place(own.path()));
            return Err(refused(&why, WAY));
        }
        None => {}
    }
    if !folder.is_dir() {
        return Err(refused("cannot be written: its folder does not exist", WAY));
    }
    let is_home = SIGNS.iter().any(|sign| folder.join(sign).exists());
    Ok((!is_home).then(|| format!("{} looks like no home of a guard; {WAY}", place(folder))))
}

fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
