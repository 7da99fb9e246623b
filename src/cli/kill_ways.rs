//! The ways that are left to whoever pulls the kill switch where its file cannot be written or nobody reads it.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::Uid;

use crate::base::disk_fault::disk_fault;
use crate::base::files::user_name;
use crate::base::shell::{place, word};

/// What can be done where the kill file cannot be written.
pub(super) fn way_to_pull(file: &Path, error: &io::Error, url: Option<&str>, runs: Option<&Path>) -> String {
    let home = file.parent().unwrap_or(Path::new("/"));
    let folder = word(home);
    match error.kind() {
        io::ErrorKind::NotADirectory if home.is_file() => format!(
            "{} is a file, and a home is the folder that its files are in: `svc-guard --home {} kill --reason TEXT` kills the \
             guard of that one. {}",
            place(home),
            word(home.parent().unwrap_or(Path::new("/"))),
            running(runs)
        ),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => format!(
            "there is no folder {}. A guard that started there before it was moved or removed may still run: move it back, or name its place of today. {}",
            place(home),
            running(runs)
        ),
        kind => match (disk_fault(error, file), owner(home).filter(|_| kind == io::ErrorKind::PermissionDenied)) {
            (Some(fault), _) => format!("{fault}. {}", by_client(url)),
            (None, Some(user)) => format!(
                "it is the home of {user}: `sudo -u {user} svc-guard --home {folder} kill --reason TEXT` pulls it. {}",
                by_client(url)
            ),
            (None, None) => {
                format!(
                    "write that file yourself, as who may, or name the home of the guard that runs. {}",
                    running(runs)
                )
            }
        },
    }
}

/// The owner of the folder, or of the nearest one above it that can be looked at, where that is another user.
fn owner(home: &Path) -> Option<String> {
    let uid = home.ancestors().find_map(|place| Some(place.metadata().ok()?.uid()))?;
    (uid != Uid::effective().as_raw()).then(|| user_name(uid))
}

/// How a client pulls the switch of the guard at `url`, without the disk.
pub(super) fn by_client(url: Option<&str>) -> String {
    let at = if url.is_some() { "" } else { " (where the guard listens elsewhere, its log says so at its start)" };
    format!(
        "Whoever has a client key, in FILE, pulls it without the disk, by POST /guard/kill: `echo '{CALL}' | svc-guard mcp --key-file FILE \
         --guard-url {}`{at}. Or close at the venue's own page",
        url.unwrap_or(USUAL_URL)
    )
}

/// An agent's call of the tool that kills.
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pull_kill_switch","arguments":{"reason":"TEXT"}}}"#;
/// The address of a guard with the default listen address.
const USUAL_URL: &str = "http://127.0.0.1:8547";

/// How to pull the switch of a guard that runs.
pub(super) fn running(home: Option<&Path>) -> String {
    match home {
        Some(home) => {
            let home = word(home);
            format!("A guard runs on {home}: `svc-guard --home {home} kill --reason TEXT` kills that one")
        }
        None => "`svc-guard --home DIR kill --reason TEXT` names the home of a guard that runs".to_owned(),
    }
}

/// What is left where nobody heard: another guard that runs, or a start of this home's, by this command, and the venue's page.
pub(super) fn unheard(runs: Option<&Path>, start: Option<&str>) -> String {
    let Some(start) = start.filter(|_| runs.is_none()) else { return running(runs) };
    format!(
        "{}; `{start}` starts this home's, which closes everything then. Stops that rest at the venue stay meanwhile, and what \
         cannot wait is closed at the venue's own page",
        running(None)
    )
}

#[cfg(test)]
mod tests {
    use super::super::refusal::Refusal;
    use super::*;

    #[test]
    fn a_kill_that_cannot_be_written_says_what_can_be_done() {
        let not_pulled =
            |kind: io::ErrorKind| Refusal::NotPulled("/my home/kill".into(), kind.into(), None, None).to_string();
        let said = not_pulled(io::ErrorKind::ReadOnlyFilesystem);
        assert!(said.starts_with("the kill switch is NOT pulled: cannot write /my home/kill: "), "{said}");
        assert!(said.contains("`mount -o remount,rw \"$(findmnt -no TARGET --target '/my home')\"`"), "{said}");
        assert!(said.contains("POST /guard/kill") && !said.contains("write that file yourself"), "{said}");
        assert!(not_pulled(io::ErrorKind::StorageFull).contains("make space, see `df '/my home'`"));
        let said = not_pulled(io::ErrorKind::PermissionDenied);
        assert!(said.contains("write that file yourself") && said.contains("--home DIR kill --reason TEXT`"), "{said}");
        let said = not_pulled(io::ErrorKind::NotFound);
        assert!(
            said.contains("there is no folder /my home. A guard that started there") && !said.contains("yourself"),
            "{said}"
        );
        let runs = Some("/other".into());
        let said = Refusal::NotPulled("/x/kill".into(), io::ErrorKind::NotFound.into(), None, runs).to_string();
        assert!(said.ends_with("`svc-guard --home /other kill --reason TEXT` kills that one"), "{said}");
    }
}
