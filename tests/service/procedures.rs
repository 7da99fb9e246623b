//! The procedures of svc-guard-procedures(7), typed as they stand there: what a person does to a home by hand, and a service
//! that comes up on it again.

use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::json;
use svc_guard::base::key::SecretKey;

use crate::signing::signed;
use crate::stand::{Mode, Stand, WALLET_KEY, run_with};

/// A shell's line, typed in a folder.
fn shell(folder: &Path, line: &str) {
    let done = Command::new("sh").args(["-c", line]).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Whether a client's request is taken.
fn is_taken(stand: &Stand, client: &SecretKey) -> bool {
    let response = stand.post("/exchange", &signed(client, &json!({"type": "noop"})));
    assert!(response.status == 200 || response.body.contains("names no client"), "{response:?}");
    response.status == 200 && response.json()["guard"]["verdict"] == "allow"
}

/// The folder of a stand whose home has served, and is at rest.
fn served() -> (Stand, std::path::PathBuf) {
    let mut stand = Stand::up(Mode::Testnet, "");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let folder = stand.home().parent().unwrap().to_owned();
    (stand, folder)
}

#[test]
fn a_restored_home_starts() {
    let (mut stand, folder) = served();
    shell(&folder, "mkdir backup && cp -a home/guard.toml home/journals backup/");
    // A new machine: nothing but the copy, in a home that is made by hand.
    for made in ["mkdir -m 1733 home", "mkdir -m 755 home"] {
        shell(&folder, &format!("rm -rf home && {made} && cp -a backup/guard.toml backup/journals home/"));
        let done = run_with(&stand.home(), &["key", "replace", "--key-stdin"], WALLET_KEY);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        stand.start();
        assert!(is_taken(&stand, &stand.client));
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
        shell(&folder, "test $(stat -c %a home/run) = 700");
    }
    // An older copy beside what this guard knows: it names the file that says so.
    shell(&folder, "rm -rf home/journals && cp -a backup/journals home/");
    assert_eq!(stand.try_launch().unwrap_err().code(), Some(2), "{}", stand.log());
    let log = stand.log();
    let (_, told) = log.rsplit_once(" remove ").unwrap_or_else(|| panic!("{log}"));
    let file = told.split(' ').next().unwrap();
    assert!(file.contains("/run/journal-end-testnet-"), "{log}");
    shell(&folder, &format!("rm {file}"));
    stand.start();
}

#[test]
fn a_moved_home_starts() {
    let (mut stand, folder) = served();
    shell(
        &folder,
        "tar --numeric-owner -cpf home.tar home && mv home old && tar --numeric-owner -xpf home.tar && rm -r old",
    );
    stand.start();
    assert!(is_taken(&stand, &stand.client));
}

#[test]
fn a_lost_client_is_taken_out_and_another_put_in() {
    let (mut stand, folder) = served();
    // The last one: a guard without clients still covers what is held.
    shell(&folder, &format!("sed -i '/\"{}\"/d; s/\"{0}\"//' home/guard.toml", stand.client.address()));
    let check = run_with(&stand.home(), &["check-config"], "");
    assert!(String::from_utf8_lossy(&check.stdout).contains("clients  0, so nobody is served: "), "{check:?}");
    stand.start();
    assert!(!is_taken(&stand, &stand.client));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let another = crate::clients::another(&stand);
    stand.start();
    assert!(is_taken(&stand, &another) && !is_taken(&stand, &stand.client));
}

/// The page as a person reads it: each command of the program in it.
fn commands() -> Vec<String> {
    let page = include_str!("../../man/svc-guard-procedures.7").replace("\\-", "-");
    let shown = |line: &str| {
        let text = line.strip_prefix(".B ").or_else(|| line.strip_prefix(".BR \""))?;
        let text = text.split('"').next()?.trim_matches(',');
        text.starts_with("svc-guard ").then(|| text.to_owned())
    };
    page.lines().filter_map(shown).collect()
}

/// Each command of the page, typed into a shell as it stands there beside a guard that runs, but for what its large letters
/// stand for. One that only a halted guard takes says so.
#[test]
fn every_command_of_the_page_is_typed() {
    let stand = Stand::up(Mode::Testnet, "");
    let folder = stand.home().parent().unwrap().to_owned();
    std::fs::write(folder.join("rules.toml"), "stop = \"3\"\n").unwrap();
    std::fs::write(folder.join("key"), WALLET_KEY).unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_svc-guard")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let commands = commands();
    assert!(commands.len() >= 9, "{commands:?}");
    for command in commands {
        let file = match &command {
            rules if rules.contains("@FILE") => "rules.toml",
            key if key.contains("< FILE") => "key",
            _ => "another.key",
        };
        let line = command.replace("MODE", "testnet").replace("TEXT", "'looked into it'").replace("FILE", file);
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(&folder).env("PATH", &path).env("SVC_GUARD_HOME", stand.home());
        let done = shell.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        let is_halt = line.contains("journal-resume");
        assert_eq!(done.status.code(), Some(if is_halt { 2 } else { 0 }), "{line}: {said}");
        assert!(!is_halt || said.contains("there is no drawdown halt to clear"), "{line}: {said}");
    }
}
