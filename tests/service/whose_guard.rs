//! Which guard is a home's: whoever kills or asks for its health is told of no other one, and of one that hangs too.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;

use crate::stand::{Mode, Stand, command, finished, run_with, until};
use crate::watched::{held, hold_covered, until_flat};

fn said(home: &Path, args: &[&str]) -> (Option<i32>, String) {
    let done = run_with(home, args, "");
    let text = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8(text).unwrap())
}

/// A container's guard on a disk that is shared, and one of this machine at the same address of its own: what that one answers is
/// none of the first one's.
#[test]
fn what_another_guard_answers_at_the_same_address_is_not_told_as_this_ones() {
    let (hangs, other) = (Stand::up(Mode::Testnet, ""), Stand::up(Mode::Paper, ""));
    hold_covered(&hangs, "ETH", "0.4");
    let word = hangs.home().join("journals/listening");
    let life = fs::read_to_string(&word).unwrap().lines().nth(1).unwrap().to_owned();
    assert_eq!(hangs.status()["life"], life.as_str());
    assert_ne!(other.status()["life"], life.as_str());
    hangs.signal(Signal::SIGSTOP);
    fs::write(&word, format!("{}\n{life}\n", other.address())).unwrap();
    let (code, told) = said(&hangs.home(), &["health"]);
    let named = format!("the guard of {}", other.home().display());
    assert!(code == Some(1) && told.contains(&named) && told.contains("`kill -9 "), "{told}");
    let (code, told) = said(&hangs.home(), &["kill", "--reason", "enough", "--wait", "1"]);
    assert!(code == Some(1) && !told.contains("flat:") && told.contains("whose kill file is"), "{told}");
    assert!(held(&hangs, "ETH").is_some());
    assert!(other.status()["killed"].is_null());
    hangs.signal(Signal::SIGCONT);
    until_flat(&hangs);
}

/// Copies that spare room are made of links, and a lock on a file is on each of its names.
#[test]
fn a_copy_made_of_links_is_not_the_home_of_its_originals_guard() {
    let stand = Stand::up(Mode::Testnet, "");
    hold_covered(&stand, "ETH", "0.4");
    let copy = stand.home().with_file_name("copy");
    let copied = Command::new("cp").arg("-al").args([stand.home(), copy.clone()]).status().unwrap();
    assert!(copied.success());
    let (code, told) = said(&copy, &["kill", "--reason", "test"]);
    let named = format!("`svc-guard --home {} kill --reason test`", stand.home().display());
    assert!(code == Some(1) && told.contains("no guard runs on this home") && told.contains(&named), "{told}");
    assert!(stand.status()["killed"].is_null());
    let (code, told) = said(&stand.home(), &["kill", "--reason", "enough", "--wait", "20"]);
    assert!(code == Some(0) && told.contains("flat: 0 positions, 0 orders"), "{told}");
}

/// One that hangs puts its mark back once it goes on, and closes then.
#[test]
fn a_guard_that_hangs_without_its_mark_is_seen_by_its_journal() {
    let stand = Stand::up(Mode::Testnet, "");
    hold_covered(&stand, "ETH", "0.4");
    stand.signal(Signal::SIGSTOP);
    fs::remove_file(stand.home().join("kill.watched")).unwrap();
    let ends = format!("`kill -9 {}` ends it", stand.pid());
    for (args, is_right) in [(&["health"][..], Some(1)), (&["kill", "--reason", "enough"], Some(0))] {
        let (code, told) = said(&stand.home(), args);
        assert!(code == is_right && told.contains(&ends) && !told.contains("no guard runs"), "{args:?}: {told}");
    }
    stand.signal(Signal::SIGCONT);
    until_flat(&stand);
}

/// Sets the home up for paper under its guard; its account.
fn set_up_on_paper(stand: &Stand) -> String {
    let rules = format!("@{}", stand.home().with_file_name("rules.toml").display());
    let account = stand.status()["account"].as_str().unwrap().to_owned();
    let paper =
        ["init", "--force", "--non-interactive", "--account", &account, "--network", "paper", "--rules", &rules];
    let (code, told) = said(&stand.home(), &paper);
    assert_eq!(code, Some(0), "{told}");
    account
}

/// A config that names another mode by now starts another guard, which closes nothing of what that one holds.
#[test]
fn a_guard_that_hangs_is_not_started_again_by_a_config_of_another_mode() {
    let stand = Stand::up(Mode::Testnet, "");
    hold_covered(&stand, "ETH", "0.4");
    let account = set_up_on_paper(&stand);
    stand.signal(Signal::SIGSTOP);
    for args in [&["health"][..], &["kill", "--reason", "enough", "--wait", "1"]] {
        let (_, told) = said(&stand.home(), args);
        let ends = format!("`kill -9 {}` ends it; it was started for testnet of {account}, and ", stand.pid());
        assert!(told.contains(&ends) && !told.contains("closes everything then"), "{args:?}: {told}");
    }
    stand.signal(Signal::SIGCONT);
    until_flat(&stand);
}

/// A second start is told what was changed, and not that something was moved.
#[test]
fn a_guard_of_another_mode_than_the_configs_is_named_to_who_starts_beside_it() {
    let stand = Stand::up(Mode::Testnet, "");
    let account = set_up_on_paper(&stand);
    let started =
        format!("a guard runs on {} already, which was started for testnet of {account}", stand.home().display());
    let config = format!("{} says paper of {account} by now", stand.home().join("guard.toml").display());
    let journal = stand.home().join(format!("journals/paper-{account}"));
    for args in [&["run", "--listen", "127.0.0.1:0"][..], &["journal-init", "--mode", "paper", "--note", "x"]] {
        let (code, told) = said(&stand.home(), args);
        assert!(code == Some(2) && told.contains(&started) && told.contains(&config), "{args:?}: {told}");
        assert!(told.contains(&format!("`kill {}`", stand.pid())) && !told.contains("moved"), "{args:?}: {told}");
        _ = fs::remove_dir_all(&journal);
    }
}

/// Whoever names a config and no home may mean the home that it lies in, and that one's guard.
#[test]
fn a_config_of_another_home_leaves_no_doubt_whose_guard_is_killed() {
    let (own, other) = (Stand::up(Mode::Paper, ""), Stand::up(Mode::Testnet, ""));
    let user = tempfile::tempdir().unwrap();
    let (default, config) = (user.path().join(".svc-guard"), other.home().join("guard.toml"));
    std::os::unix::fs::symlink(own.home(), &default).unwrap();
    let told = |home: &[&str], args: &[&str]| {
        let config = ["--config", config.to_str().unwrap()];
        let mut typed = Command::new(env!("CARGO_BIN_EXE_svc-guard"));
        typed.args(home).args(config).args(args).env("HOME", user.path()).env_remove("SVC_GUARD_HOME");
        let done = typed.stdin(Stdio::null()).output().unwrap();
        (done.status.code(), String::from_utf8([done.stdout, done.stderr].concat()).unwrap())
    };
    let (code, said) = told(&[], &["kill", "--reason", "oh no"]);
    assert!(code == Some(2) && said.contains("NOT pulled by this") && said.contains("not certain"), "{said}");
    for home in [&default, &other.home()] {
        let kill = format!("`svc-guard --home {} kill --reason 'oh no'`", home.display());
        assert!(said.contains(&kill), "{said}");
    }
    assert!(own.status()["killed"].is_null() && other.status()["killed"].is_null());
    let (code, said) = told(&[], &["health"]);
    assert!(code == Some(1) && said.contains("not certain"), "{said}");
    for home in [&default, &other.home()] {
        assert!(said.contains(&format!("`svc-guard --home {} health`", home.display())), "{said}");
    }
    // Who names the home is sure of it, and is told of the other one all the same.
    let (code, said) = told(&["--home", default.to_str().unwrap()], &["kill", "--reason", "oh no"]);
    let goes_on = format!("the guard of {} runs too and is NOT killed", other.home().display());
    assert!(code == Some(0) && said.contains(&goes_on), "{said}");
    assert!(!own.status()["killed"].is_null() && other.status()["killed"].is_null());
}

/// A link to it leads there as well, and the folder itself may be typed; and one whose guard is down is another one all the same.
#[test]
fn a_config_of_another_home_is_known_by_a_link_and_while_its_guard_is_down() {
    let (own, mut other) = (Stand::up(Mode::Paper, ""), Stand::up(Mode::Testnet, ""));
    let user = tempfile::tempdir().unwrap();
    let (default, link) = (user.path().join(".svc-guard"), user.path().join("desk.toml"));
    std::os::unix::fs::symlink(own.home(), &default).unwrap();
    std::os::unix::fs::symlink(other.home().join("guard.toml"), &link).unwrap();
    let told = |config: &Path, args: &[&str]| {
        let mut typed = Command::new(env!("CARGO_BIN_EXE_svc-guard"));
        typed.arg("--config").arg(config).args(args).env("HOME", user.path()).env_remove("SVC_GUARD_HOME");
        let done = typed.stdin(Stdio::null()).output().unwrap();
        (done.status.code(), String::from_utf8([done.stdout, done.stderr].concat()).unwrap())
    };
    let asks = |other: &Path| {
        for config in [&link, other, &other.join("guard.toml")] {
            let (code, said) = told(config, &["kill", "--reason", "-5%", "--wait", "7"]);
            let kill = format!("`svc-guard --home {} kill --reason -5% --wait 7`", other.display());
            assert!(code == Some(2) && said.contains("NOT pulled by this") && said.contains(&kill), "{said}");
            let (code, said) = told(config, &["health", "--trading"]);
            let health = format!("`svc-guard --home {} health --trading`", other.display());
            assert!(code == Some(1) && said.contains("not certain") && said.contains(&health), "{said}");
        }
    };
    asks(&other.home());
    other.stop(Signal::SIGTERM);
    asks(&other.home());
    assert!(own.status()["killed"].is_null() && !other.home().join("kill").exists());
    // What is typed is taken.
    let (code, said) = said(&other.home(), &["kill", "--reason", "-5%"]);
    assert!(code == Some(1) && said.contains("(-5%)"), "{said}");
    // A config that is no home's leaves the default home, whose guard is not the one that is asked for where nobody can read it.
    let none = user.path().join("none.toml");
    let (code, said) = told(&none, &["health"]);
    assert!(code == Some(1) && said.contains("none.toml"), "{said}");
    let (code, said) = told(&none, &["kill", "--reason", "x", "--wait", "7"]);
    let kill = format!("`svc-guard --home {} kill --reason x --wait 7`", default.display());
    assert!(code == Some(2) && said.contains("none.toml cannot be read") && said.contains(&kill), "{said}");
    assert!(own.status()["killed"].is_null());
    // An address says whose health is asked for, wherever it is named.
    let mut typed = Command::new(env!("CARGO_BIN_EXE_svc-guard"));
    typed.arg("--config").arg(&none).arg("health").env("SVC_GUARD_LISTEN", own.address().to_string());
    assert_eq!(typed.output().unwrap().status.code(), Some(0));
}

/// The guard of a home that was taken away looks at a folder that comes in its place now and then.
#[test]
fn a_kill_in_the_place_of_a_home_that_was_removed_waits_until_its_guard_looks_there() {
    let stand = Stand::up(Mode::Testnet, "");
    hold_covered(&stand, "ETH", "0.4");
    fs::remove_dir_all(stand.home()).unwrap();
    let (code, told) = said(&stand.home(), &["kill", "--reason", "enough"]);
    let again = format!("`mkdir -p {0} && svc-guard --home {0} kill --reason enough`", stand.home().display());
    assert!(code == Some(2) && told.contains(&again) && told.contains("the venue's own page"), "{told}");
    fs::create_dir(stand.home()).unwrap();
    let (code, told) = said(&stand.home(), &["kill", "--reason", "enough"]);
    assert!(code == Some(0) && !told.contains("no guard runs"), "{told}");
    assert!(told.contains("killed; clos") || told.contains("flat"), "{told}");
    // Nothing begins beside it, and nobody is told to end it.
    let kill = format!("`svc-guard --home {} kill --reason TEXT`", stand.home().display());
    let account = format!("0x{}", "11".repeat(20));
    let init = ["init", "--non-interactive", "--rules", "@/dev/null", "--account", &account];
    for args in [&init[..], &["health"]] {
        let (code, told) = said(&stand.home(), args);
        assert!(code != Some(0) && told.contains("a guard runs on") && !told.contains("`kill "), "{args:?}: {told}");
        assert!(told.contains(&kill), "{args:?}: {told}");
    }
    let (code, told) = said(&stand.home(), &["kill", "--reason", "enough", "--wait", "20"]);
    assert!(code == Some(0) && told.ends_with("flat: 0 positions, 0 orders\n"), "{told}");
    until_flat(&stand);
    // Where it hangs it alone can still close what it holds.
    stand.signal(Signal::SIGSTOP);
    let (_, told) = said(&stand.home(), &["kill", "--reason", "enough"]);
    assert!(told.contains("did not say within 2 s") && told.contains(&stand.address().to_string()), "{told}");
    assert!(told.contains("do not end it") && told.contains("the venue's own page"), "{told}");
    stand.signal(Signal::SIGCONT);
}

/// Word of an earlier life stands in a copy, and the one that says that it lost its home is this home's all the same.
#[test]
fn a_guard_in_whose_place_an_older_copy_was_put_is_not_taken_for_anothers() {
    let stand = Stand::up(Mode::Paper, "");
    let copy = stand.home().with_file_name("copy");
    let copied = Command::new("cp").arg("-a").args([stand.home(), copy.clone()]).status().unwrap();
    assert!(copied.success());
    fs::write(copy.join("journals/listening"), format!("{}\n0x1\n", stand.address())).unwrap();
    fs::remove_dir_all(stand.home()).unwrap();
    fs::rename(&copy, stand.home()).unwrap();
    until("the alert", || (stand.get("/healthz").status == 503).then_some(()));
    let mark = || fs::File::open(stand.home().join("kill.watched")).unwrap();
    until("its mark", || Flock::lock(mark(), FlockArg::LockSharedNonblock).is_err().then_some(()));
    let (code, told) = said(&stand.home(), &["health"]);
    assert!(code == Some(1) && told.contains("is another folder than the one"), "{told}");
}

/// What a start was told by variables, and by a path from where it was made.
#[test]
fn a_guard_that_hangs_is_started_again_with_its_variables_and_its_key() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    let folder = stand.home().with_file_name("keys");
    fs::create_dir(&folder).unwrap();
    fs::rename(stand.home().join("api-wallet-key"), folder.join("key")).unwrap();
    let mut command =
        stand.run_command(&["run", "--network", "testnet", "--key-file", "keys/key", "--ip-share", "1/2"]);
    command.env("SVC_GUARD_LISTEN", "127.0.0.1:0").current_dir(folder.parent().unwrap());
    stand.launch_as(command);
    stand.signal(Signal::SIGSTOP);
    let (_, told) = said(&stand.home(), &["health"]);
    let key = folder.join("key");
    let run = format!(
        " run --listen 127.0.0.1:0 --ip-share 1/2 --key-file {} --network testnet` starts it again",
        key.display()
    );
    assert!(told.contains(&run), "{told}");
}

/// Whoever waits is told how a guard that hangs is ended and started again, and hears of the one that goes on then.
#[test]
fn a_kill_that_waits_hears_the_next_life() {
    let mut stand = Stand::up(Mode::Testnet, "");
    hold_covered(&stand, "ETH", "0.4");
    stand.signal(Signal::SIGSTOP);
    let mut waits = command(&stand.home(), &["kill", "--reason", "enough", "--wait", "40"]);
    let said = stand.home().with_file_name("said");
    let waits = waits.stdout(fs::File::create(&said).unwrap()).stderr(Stdio::piped()).spawn().unwrap();
    let is_waiting = || fs::read_to_string(&said).unwrap().contains("did not say within 2 s").then_some(());
    until("the wait to begin", is_waiting);
    stand.kill();
    stand.launch();
    until_flat(&stand);
    let done = finished(waits);
    let told = format!("{}{}", String::from_utf8(done.stderr).unwrap(), fs::read_to_string(&said).unwrap());
    assert!(done.status.code() == Some(0) && told.ends_with("flat: 0 positions, 0 orders\n"), "{told}");
}

/// The way out is whole: the flags that it was started with, and its journal back where it belongs.
#[test]
fn a_guard_that_hangs_is_started_again_as_it_was() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    let command = stand.run_command(&["run", "--network", "testnet", "--listen", "127.0.0.1:0", "--ip-share=1/2"]);
    stand.launch_as(command);
    hold_covered(&stand, "ETH", "0.4");
    stand.signal(Signal::SIGSTOP);
    let begins = format!("where it hangs, `kill -9 {}` ends it, and `svc-guard --home", stand.pid());
    let (_, told) = said(&stand.home(), &["health"]);
    let run = " run --listen 127.0.0.1:0 --ip-share 1/2 --network testnet` starts it again";
    assert!(told.contains(&begins) && told.contains(run), "{told}");
    let (journals, away) = (stand.home().join("journals"), stand.home().join("away"));
    fs::rename(&journals, &away).unwrap();
    for args in [&["health"][..], &["kill", "--reason", "enough", "--wait", "1"]] {
        let (code, told) = said(&stand.home(), args);
        let back = format!("once its journal, which was moved away, stands at {}", journals.display());
        assert!(code == Some(1) && told.contains(&begins) && told.contains(&back), "{args:?}: {told}");
    }
    // Once it has ended what is missing is named, and not the system's error.
    stand.signal(Signal::SIGCONT);
    stand.stop(Signal::SIGTERM);
    let (_, told) = said(&stand.home(), &["kill", "--reason", "enough"]);
    assert!(told.contains("bring that folder back") && !told.contains("os error"), "{told}");
}
