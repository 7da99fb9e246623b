//! Other users of the machine and a home: reads that they may, links and files of theirs that its owner is kept from.
//!
//! Needs a user to become: run by anyone but root these tests say so and check nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nix::unistd::Uid;

use crate::place::*;

/// Nobody in particular, and certainly not root.
const SOMEBODY: u32 = 65_534;

fn can_become_somebody() -> bool {
    let root = Uid::effective().is_root();
    if !root {
        eprintln!("skipped: only root can become another user");
    }
    root
}

/// A place that others can reach, with the program beside it.
fn open_place(place: Place) -> Place {
    let mode = |path: &Path, bits| fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
    mode(place.folder.path(), 0o755);
    fs::copy(env!("CARGO_BIN_EXE_svc-guard"), place.path("svc-guard")).unwrap();
    mode(&place.path("svc-guard"), 0o755);
    place
}

/// A testnet home that keeps no key, and a key file with these permissions beside it.
fn testnet_with_a_key_of_mode(bits: u32) -> (Place, PathBuf) {
    let place = Place::with(&venue(AGENT));
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    let key = place.path("key");
    fs::write(&key, format!("{FAKE_KEY}\n")).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(bits)).unwrap();
    (place, key)
}

/// The program run by somebody else on this place's home.
fn as_somebody(place: &Place, args: &[&str]) -> Output {
    let mut command = Command::new(place.path("svc-guard"));
    command.args(args).env_clear().env("SVC_GUARD_HOME", place.home()).uid(SOMEBODY).gid(SOMEBODY).current_dir("/");
    ended(command.stdin(std::process::Stdio::null()))
}

fn give(path: &Path) {
    chown(path, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
}

/// The switch is pulled, and no guard runs here that reads it; what was said.
fn unheard(output: &Output) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the kill switch ") && said.contains("no running guard reads"), "{said}");
    said
}

#[test]
fn anyone_may_read_config_and_journals_and_pull_the_switch() {
    if !can_become_somebody() {
        return;
    }
    let place = open_place(Place::paper());
    assert_eq!(succeeded(&as_somebody(&place, &["config", "get", "mode"])), "paper\n");
    assert_eq!(succeeded(&as_somebody(&place, &["config", "get", "rules"])).trim(), rules());
    assert!(succeeded(&as_somebody(&place, &["check-config"])).contains("is valid"));
    assert_eq!(succeeded(&as_somebody(&place, &["journal-show", "--mode", "paper"])).lines().count(), 1);
    unheard(&as_somebody(&place, &["kill", "--reason", "somebody saw something"]));
    assert!(place.home().join("kill").exists());
    // The first reason stands, and the owner is told it too.
    unheard(&as_somebody(&place, &["kill", "--reason", "x"]));
    assert!(unheard(&place.run(&["kill", "--reason", "x"])).contains("somebody saw something"));
}

#[test]
fn nobody_else_changes_what_the_service_may_do() {
    if !can_become_somebody() {
        return;
    }
    let place = open_place(Place::paper());
    let out = place.path("key-of-somebody");
    let before = place.listing();
    for args in [
        &["pair"][..],
        &["client", "add", "--out", out.to_str().unwrap()],
        &["run"],
        &["key", "check", "--key-stdin"],
        &["journal-init", "--mode", "paper", "--note", "x"],
        &["journal-resume", "--mode", "paper", "--note", "x"],
        &init(&["--force"]),
    ] {
        refused(&as_somebody(&place, args), "belongs to root; run the command as that user");
        assert!(place.listing() == before, "{args:?}");
    }
    // Nor can they take the switch's file away or put another config in place.
    unheard(&place.run(&["kill", "--reason", "x"]));
    let take_away = |what: &str, args: &[&str]| {
        let mut command = Command::new(args[0]);
        let done = command.args(&args[1..]).uid(SOMEBODY).gid(SOMEBODY).output().unwrap();
        assert!(!done.status.success(), "{what}");
    };
    let path = |name: &str| place.home().join(name).to_str().unwrap().to_owned();
    take_away("the kill file", &["rm", "-f", &path("kill")]);
    take_away("the config", &["mv", "-f", &path("guard.toml"), &path("other.toml")]);
    take_away("a listing of the home", &["ls", place.home().to_str().unwrap()]);
    take_away("the service's own folder", &["ls", &path("run")]);
}

#[test]
fn a_place_that_may_not_be_written_names_who_may() {
    if !can_become_somebody() {
        return;
    }
    let place = open_place(Place::paper());
    let there = place.path("mine");
    let args = init(&["--home", there.to_str().unwrap()]);
    for said in ["to nobody", "belongs to root: `sudo -u root` before the command"] {
        refused(&as_somebody(&place, &args), said);
    }
}

#[test]
fn files_of_others_are_not_believed() {
    if !can_become_somebody() {
        return;
    }
    let place = Place::paper();
    give(&place.home().join("guard.toml"));
    for args in [&["run"][..], &["check-config"], &["pair"], &["config", "get", "mode"]] {
        place.refuses(args, "belongs to the user with uid 65534");
    }
    give(&place.home());
    place.refuses(&["run"], "run the command as that user");
    place.refuses(&["pair"], "run the command as that user");
}

#[test]
fn a_key_of_others_is_not_taken() {
    if !can_become_somebody() {
        return;
    }
    let (place, key) = testnet_with_a_key_of_mode(0o600);
    give(&key);
    let run = ["run", "--network", "testnet", "--listen", "127.0.0.1:0", "--key-file", key.to_str().unwrap()];
    refused(&place.run(&run), "belongs to the user with uid 65534");
    refused(&place.run(&[&run[..], &["--container"]].concat()), "belongs to the user with uid 65534");
}

/// A plain user's own home is whole: what root can do nowhere shows here.
#[test]
fn a_plain_user_has_a_home_of_his_own() {
    if !can_become_somebody() {
        return;
    }
    let place = open_place(Place::empty());
    give(&place.home());
    give(&place.home().join("guard.toml"));
    let out = succeeded(&as_somebody(&place, &init(&[])));
    assert!(out.contains("Set up for paper"), "{out}");
    succeeded(&as_somebody(&place, &["pair"]));
    // A folder that he may not write: refused, nothing left.
    let before = place.listing();
    let file = place.path("nowhere");
    refused(&as_somebody(&place, &["client", "add", "--out", file.to_str().unwrap()]), "Permission denied");
    assert!(place.listing() == before);
}

/// Outside of a container a key that others can read is refused. Where these tests run in one, its marker would be
/// found: the program is given a root folder of its own, without.
#[test]
fn outside_a_container_a_key_that_others_can_read_is_refused() {
    if !can_become_somebody() {
        return;
    }
    let (place, _) = testnet_with_a_key_of_mode(0o640);
    let root = place.path("root");
    if let Err(why) = bare_root(&root) {
        eprintln!("skipped: no bare root folder can be made: {why}");
        return;
    }
    for name in ["home", "key"] {
        let done = Command::new("cp").arg("-a").arg(place.path(name)).arg(&root).status().unwrap();
        assert!(done.success());
    }
    let run = |more: &[&str]| {
        // No address of this machine: whatever becomes of the key, no service starts.
        let listen = ["--listen", "203.0.113.1:9"];
        let args = [&["--home", "/home", "run", "--network", "testnet", "--key-file", "/key"][..], &listen].concat();
        ended(Command::new("chroot").arg(&root).arg("/svc-guard").args(args).args(more))
    };
    refused(&run(&[]), "others can read the key; run `chmod 600 /key`");
    // With a word it is taken, and then the listen address that cannot be stands in the way.
    refused(&run(&["--container"]), "cannot listen on 203.0.113.1:9");
    for mode in [0o666, 0o622] {
        fs::set_permissions(root.join("key"), fs::Permissions::from_mode(mode)).unwrap();
        refused(&run(&["--container"]), "others can write it");
    }
    fs::set_permissions(root.join("key"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::write(root.join("key"), "0x0123").unwrap();
    refused(&run(&["--container"]), "holds no key");
    // The engine's marker is as good as the word.
    fs::write(root.join(".dockerenv"), "").unwrap();
    refused(&run(&[]), "holds no key");
}

/// A folder with the program, what it is linked to, and the system's random source.
fn bare_root(root: &Path) -> Result<(), String> {
    let program = env!("CARGO_BIN_EXE_svc-guard");
    let listed = Command::new("ldd").arg(program).output().map_err(|error| error.to_string())?;
    let listed = text(&listed.stdout);
    let libraries = listed.split_whitespace().filter(|word| word.starts_with('/'));
    fs::create_dir_all(root.join("dev")).map_err(|error| error.to_string())?;
    for file in libraries {
        let to = root.join(file.trim_start_matches('/'));
        fs::create_dir_all(to.parent().unwrap()).map_err(|error| error.to_string())?;
        fs::copy(file, to).map_err(|error| format!("{file}: {error}"))?;
    }
    fs::copy(program, root.join("svc-guard")).map_err(|error| error.to_string())?;
    fs::write(root.join("dev/urandom"), [7; 4096]).map_err(|error| error.to_string())?;
    let tried = Command::new("chroot").arg(root).args(["/svc-guard", "--version"]).output();
    let tried = tried.map_err(|error| error.to_string())?;
    if tried.status.success() { Ok(()) } else { Err(text(&tried.stderr)) }
}

/// What may not be opened says who may open it, and how to be that one.
#[test]
fn what_another_user_may_not_open_says_whose_it_is() {
    if !can_become_somebody() {
        return;
    }
    let (place, key) = testnet_with_a_key_of_mode(0o600);
    let place = open_place(place);
    let output = as_somebody(&place, &["mcp", "--key-file", key.to_str().unwrap()]);
    refused(&output, &format!("{} belongs to root: `sudo -u root` before the command", key.display()));
    // One that stands among what is one's own is one's own to be.
    give(&place.home());
    let own = place.home().join("key");
    fs::rename(key, &own).unwrap();
    let output = as_somebody(&place, &["mcp", "--key-file", own.to_str().unwrap()]);
    refused(&output, &format!("`sudo chown nobody {}` gives it to nobody", own.display()));
}

/// A journal that cannot be looked at is not called absent: who believed that would start a new one.
#[test]
fn a_journal_that_another_user_may_not_read_is_not_called_absent() {
    if !can_become_somebody() {
        return;
    }
    let place = open_place(Place::paper());
    fs::set_permissions(place.home().join("journals"), fs::Permissions::from_mode(0o700)).unwrap();
    for command in ["report", "journal-show"] {
        let output = as_somebody(&place, &[command, "--mode", "paper"]);
        refused(&output, "belongs to root: `sudo -u root`");
        assert!(!text(&output.stderr).contains("no risk journal"), "{}", text(&output.stderr));
    }
}

/// An owner may have taken the right to write from themselves.
#[test]
fn a_kill_in_an_own_folder_that_is_closed_to_its_owner_opens_it() {
    if !can_become_somebody() {
        return;
    }
    let place = open_place(Place::paper());
    let (home, inner) = (place.home().display().to_string(), place.home().join("inner").display().to_string());
    give(&place.home());
    for (bits, named, way) in [(0o555, &home, "chmod 1733"), (0o600, &inner, "chmod u+x")] {
        fs::set_permissions(place.home(), fs::Permissions::from_mode(bits)).unwrap();
        let output = as_somebody(&place, &["--home", named, "kill", "--reason", "x", "--wait", "7"]);
        refused(&output, &format!("`{way} {home} && svc-guard --home {named} kill --reason x --wait 7`"));
        assert!(text(&output.stderr).contains("the kill switch is NOT pulled"));
    }
}

/// A folder that only its owner may enter keeps everybody else's hand from the switch.
#[test]
fn a_kill_of_another_users_closed_home_names_that_user() {
    if !can_become_somebody() {
        return;
    }
    let place = open_place(Place::paper());
    fs::set_permissions(place.home(), fs::Permissions::from_mode(0o700)).unwrap();
    let output = as_somebody(&place, &["kill", "--reason", "x"]);
    let way = format!("`sudo -u root svc-guard --home {} kill --reason x` pulls it", place.home().display());
    refused(&output, &way);
    assert!(text(&output.stderr).contains("the kill switch is NOT pulled"));
}
