//! Commands in messages, typed as they stand.

use std::fs;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use svc_guard::base::clock::now_ms;

use super::hook::Hook;
use super::notifier::Notifier;
use crate::stand::{ACCOUNT, Mode, Stand, until};

const DAY_MS: u64 = 86_400_000;

/// A shell in which the program is found by its name, with a command whose `FILE` is this one.
fn shell(command: &str, file: &Path) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_svc-guard")).parent().unwrap().display();
    let line = command.replace("FILE", &file.display().to_string());
    let mut shell = Command::new("sh");
    // The program takes the shell's place, and with it the signals.
    shell.args(["-c", &format!("exec env {line}")]);
    shell.env("PATH", format!("{program}:{}", std::env::var("PATH").unwrap()));
    shell.env("SVC_GUARD_LISTEN", "127.0.0.1:0");
    shell
}

/// A guard whose key no file of its home holds: the words for a wallet that ends, and those for a guard that stopped.
#[test]
fn a_mainnet_guard_is_brought_back_by_what_is_told() {
    let mut stand = Stand::set_up(Mode::Mainnet, "");
    stand.venue.setting("agent_valid_until_ms", now_ms() + 2 * DAY_MS).unwrap();
    stand.start();
    let file = stand.log_file().with_file_name("wallet.key");
    fs::rename(stand.home().join("api-wallet-key"), &file).unwrap();
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    notifier.start(&stand);
    let told = hook.hears("wallet_ending")["todo"].as_str().unwrap().to_owned();
    let replace = told.split(['(', ')']).find(|part| part.contains(" key replace ")).unwrap();
    let done = shell(replace, &file).output().unwrap();
    assert!(done.status.success(), "{replace}: {}", String::from_utf8_lossy(&done.stderr));
    assert!(!stand.home().join("api-wallet-key").exists(), "no key lies open");
    let restart = told.split('`').find(|part| part.contains(" run ")).unwrap();
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let stopped = hook.hears("service_stopped")["todo"].as_str().unwrap().to_owned();
    assert!(stopped.contains(&format!("start `{restart}`")) && restart.contains(ACCOUNT), "{stopped}");
    stand.launch_as(shell(restart, &file));
    until("a healthy service", || (stand.get("/healthz").status == 200).then_some(()));
}
