//! The ways that are left to whoever pulls the kill switch where its file cannot be written or nobody reads it.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::unistd::Uid;

use super::kill_elsewhere::pulled_by_folder;
use super::kill_typed::Typed;
use crate::base::denied::user_name;
use crate::base::disk_fault::disk_fault;
use crate::base::shell::{place, word};

/// The other homes on which guards run, as far as they are found; and the kill as it was typed.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The homes.
    pub(super) homes: Vec<PathBuf>,
    /// What was typed.
    pub(super) typed: Typed,
}

/// The guards that may be meant by who cannot write a kill file.
#[derive(Debug, Default)]
pub(super) struct Ways {
    /// Where the home's guard is looked for.
    pub(super) url: Option<String>,
    /// Another home, on which one runs.
    pub(super) runs: Runs,
    /// Where the one of this home answers, though the home is gone.
    pub(super) alone: Option<String>,
}

/// What can be done where the kill file cannot be written.
pub(super) fn way_to_pull(file: &Path, error: &io::Error, ways: &Ways) -> String {
    let home = file.parent().unwrap_or(Path::new("/"));
    let folder = word(home);
    let (url, runs) = (ways.url.as_deref(), &ways.runs);
    let kill = runs.typed.command(home);
    if let Some(alone) = &ways.alone {
        return format!(
            "there is no folder {}, and the guard that started there answers at {alone}. It looks for the file at that path too: \
             `mkdir -p {folder} && {kill}` kills it. {}",
            place(home),
            by_client(Some(alone))
        );
    }
    let is_none = matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::NotFound);
    match is_none.then(|| meant_by_file(home)) {
        Some(Some(meant)) => format!(
            "{} is the place of a file, and a home is the folder that its files are in: `{}` kills the guard of that one. {}",
            place(home),
            runs.typed.command(meant),
            running(runs)
        ),
        Some(None) => format!(
            "there is no folder {}. A guard that started there before it was moved or removed may still run: move it back, or name its \
             place of today; where it was removed, `mkdir -p {folder} && {kill}` reaches one that still looks there, and what cannot wait is \
             closed at the venue's own page. {}",
            place(home),
            running(runs)
        ),
        None => match disk_fault(error, file).or_else(|| to_be_let_in(home, error, &kill)) {
            Some(way) => format!("{way}. {}", by_client(url)),
            None => {
                format!(
                    "write that file yourself, as who may, or name the home of the guard that runs. {}",
                    running(runs)
                )
            }
        },
    }
}

/// The home that is meant where a file of it was named, or the place of its kill file: a folder that is made there pulls that one's switch.
fn meant_by_file(named: &Path) -> Option<&Path> {
    pulled_by_folder(named).or_else(|| named.parent().filter(|_| named.is_file()))
}

/// How whoever may not write in the home comes to pull its switch by this command: another user's, one that its owner closed to
/// themselves, or one in which nobody may make a file.
fn to_be_let_in(home: &Path, error: &io::Error, kill: &str) -> Option<String> {
    let folder = word(home);
    if error.raw_os_error().map(Errno::from_raw) == Some(Errno::EPERM) {
        return Some(format!(
            "nobody may make a file in {}, as in a folder that is immutable (i or a in what `lsattr -d {folder}` shows): \
             `sudo chattr -ia {folder} && {kill}` opens it and pulls it",
            place(home)
        ));
    }
    let is_denied = error.kind() == io::ErrorKind::PermissionDenied;
    let (seen, uid) =
        home.ancestors().filter(|_| is_denied).find_map(|place| Some((place, place.metadata().ok()?.uid())))?;
    if uid != Uid::effective().as_raw() {
        let user = user_name(uid);
        return Some(format!("it is the home of {user}: `sudo -u {user} {kill}` pulls it"));
    }
    let mode = if seen == home { "1733" } else { "u+x" };
    let seen_word = word(seen);
    Some(format!("{} is closed to its owner: `chmod {mode} {seen_word} && {kill}` opens it and pulls it", place(seen)))
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
fn running(runs: &Runs) -> String {
    let kills = |home: &PathBuf| format!("{}: `{}` kills that one", word(home), runs.typed.command(home));
    match &runs.homes[..] {
        [] => format!("`{}` names the home of a guard that runs", runs.typed.command(Path::new("DIR"))),
        [home] => format!("A guard runs on {}", kills(home)),
        // Who types the first command alone must not take the account of another for closed.
        homes => {
            let all: Vec<String> = homes.iter().map(kills).collect();
            format!("{} guards run, and none of them is killed by this: on {}", homes.len(), all.join("; on "))
        }
    }
}

/// What is left where nobody heard: another guard that runs, or a start of this home's, by this command, and the venue's page.
pub(super) fn unheard(runs: &Runs, start: Option<&str>) -> String {
    let Some(start) = start.filter(|_| runs.homes.is_empty()) else { return running(runs) };
    format!(
        "{}; `{start}` starts this home's, which closes everything once it runs: see that it does not refuse. Stops that rest at the venue stay meanwhile, and what \
         cannot wait is closed at the venue's own page",
        running(runs)
    )
}

#[cfg(test)]
mod tests {
    use super::super::refusal::Refusal;
    use super::*;

    fn typed(reason: &str) -> Typed {
        Typed { reason: Some(reason.to_owned()), wait: None }
    }

    #[test]
    fn a_kill_that_cannot_be_written_says_what_can_be_done() {
        let not_pulled =
            |kind: io::ErrorKind| Refusal::NotPulled("/my home/kill".into(), kind.into(), Ways::default()).to_string();
        let said = not_pulled(io::ErrorKind::ReadOnlyFilesystem);
        assert!(said.starts_with("the kill switch is NOT pulled: cannot write /my home/kill: "), "{said}");
        assert!(
            said.contains("`mount -o remount,rw \"$(findmnt -no TARGET --target '/my home' | tail -n1)\"`"),
            "{said}"
        );
        assert!(said.contains("POST /guard/kill") && !said.contains("write that file yourself"), "{said}");
        assert!(not_pulled(io::ErrorKind::StorageFull).contains("make space, see `df '/my home'`"));
        let said = not_pulled(io::ErrorKind::TimedOut);
        assert!(said.contains("write that file yourself") && said.contains("--home DIR kill --reason TEXT`"), "{said}");
        let said = not_pulled(io::ErrorKind::NotFound);
        assert!(
            said.contains("there is no folder /my home. A guard that started there") && !said.contains("yourself"),
            "{said}"
        );
        let anew = "`mkdir -p '/my home' && svc-guard --home '/my home' kill --reason TEXT` reaches one that still looks there";
        assert!(said.contains(anew) && said.contains("the venue's own page"), "{said}");
        // A folder in the place of a kill file is one, and elsewhere a home may have that name.
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().display();
        let said = |is_home: bool| {
            let runs = Runs { homes: Vec::new(), typed: typed("wrong size") };
            let ways = Ways { runs, ..Ways::default() };
            let said =
                Refusal::NotPulled(home.path().join("kill/kill"), io::ErrorKind::NotFound.into(), ways).to_string();
            let names_it = said.contains(&format!("`svc-guard --home {dir} kill --reason 'wrong size'`"));
            assert!(names_it == is_home && said.contains("mkdir") != is_home, "{said}");
        };
        said(false);
        std::fs::write(home.path().join("kill.ready"), "").unwrap();
        said(true);
        let runs = Runs { homes: vec!["/other".into()], typed: typed("wrong size") };
        let ways = Ways { runs, ..Ways::default() };
        let said = Refusal::NotPulled("/x/kill".into(), io::ErrorKind::NotFound.into(), ways).to_string();
        assert!(said.ends_with("`svc-guard --home /other kill --reason 'wrong size'` kills that one"), "{said}");
        let runs = Runs { homes: vec!["/a".into(), "/b".into()], typed: typed("x") };
        let said = unheard(&runs, Some("svc-guard run"));
        assert_eq!(
            said,
            "2 guards run, and none of them is killed by this: on /a: `svc-guard --home /a kill --reason x` kills that one; on /b: \
             `svc-guard --home /b kill --reason x` kills that one"
        );
    }
}
