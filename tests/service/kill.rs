//! The kill switch: pulled by a client, by the command, by the file; released by nobody but a person and a restart.

use std::fs;
use std::process::Stdio;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use svc_guard::base::key::SecretKey;
use svc_guard::base::kill_file::KillFile;
use svc_guard::base::kill_watch::KillWatch;

use crate::events::{is_clients_veto, is_error};
use crate::signing::{BTC, ETH, closing, limit, place, resting, signed};
use crate::stand::{Mode, Stand, command, run_with, until};
use crate::watched::{is_flat, trades};

fn pull(reason: &str) -> Value {
    json!({"type": "guardKill", "reason": reason})
}

/// Entries are refused, exits are not, and the service is not ill.
fn is_killed(stand: &Stand, reason: &str) {
    assert_eq!(stand.status()["killed"], json!(reason));
    let entry = place(&limit(ETH, true, "2400", "0.2"));
    for body in [&entry, &resting()] {
        let event = is_clients_veto(stand, &stand.post("/exchange", &signed(&stand.client, body)), "killed");
        assert!(event["text"].as_str().unwrap().contains(reason), "{event}");
    }
    let cancel = json!({"type": "cancel", "cancels": [{"a": BTC, "o": 1}]});
    for exit in [cancel, json!({"type": "noop"})] {
        assert_eq!(stand.send(&exit)["guard"]["verdict"], "allow", "{exit}");
    }
    // Nothing is left to reduce, once that is read; the switch itself refuses no exit.
    let exit = stand.send(&closing(ETH, "2000", "0.1"));
    assert!(["reduces", "nothing_to_reduce"].contains(&exit["guard"]["code"].as_str().unwrap()), "{exit}");
    trades(stand, Some(reason));
}

/// Whoever cannot be told what becomes of it is told in the refusal that it is pulled.
#[test]
fn a_kill_that_cannot_be_told_is_one() {
    let stand = Stand::up(Mode::Paper, "");
    let file = KillFile::new(stand.home().join("kill"));
    until("the switch to be watched", || KillWatch::is_watched(&file).filter(|is_watched| *is_watched));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let done = command(&stand.home(), &["kill", "--reason", "unheard"]).stdout(full).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("the kill switch is pulled (unheard); only the report of it is missing"), "{said}");
    until("the switch to be found", || stand.status()["killed"].as_str().map(str::to_owned));
}

#[test]
fn a_client_pulls_it_for_good() {
    let mut stand = Stand::up(Mode::Testnet, "");
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    let response = stand.post("/guard/kill", &signed(&stand.client, &pull("enough of this")));
    assert_eq!((response.status, response.json()), (200, json!({"killed": "enough of this"})));
    is_killed(&stand, "enough of this");
    let events = stand.events_of("kill");
    assert_eq!(events.len(), 1);
    let told = events[0]["reason"].as_str().unwrap();
    assert!(told.contains("enough of this") && told.contains(&stand.client.address().to_string()), "{told}");
    let file = stand.home().join("kill");
    assert_eq!(fs::read_to_string(&file).unwrap().lines().next(), Some("enough of this"));

    // Pulling twice changes nothing, and there is no way to release.
    let again = stand.post("/guard/kill", &signed(&stand.client, &pull("again")));
    assert_eq!(again.json(), json!({"killed": "enough of this"}));
    assert_eq!(stand.events_of("kill").len(), 1);

    // Found pulled at start: one event a latch, also then.
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.start();
    until("the switch to be found", || stand.status()["killed"].as_str().map(str::to_owned));
    is_killed(&stand, "enough of this");
    assert_eq!(stand.events_of("kill").len(), 2);

    // Taking the file away does nothing to a running service; a restart then finds the switch unpulled.
    fs::remove_file(&file).unwrap();
    is_killed(&stand, "enough of this");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.start();
    assert_eq!(stand.status()["killed"], Value::Null);
    trades(&stand, None);
    assert_ne!(stand.send(&resting())["guard"]["verdict"], "veto");
}

#[test]
fn nobody_else_pulls_it_over_http() {
    let stand = Stand::up(Mode::Paper, "");
    let stranger = SecretKey::parse(&format!("0x{}", "77".repeat(32))).unwrap();
    is_error(&stand.post("/guard/kill", &signed(&stranger, &pull("mine"))), 401, "bad_signature");
    let mut forged = signed(&stand.client, &pull("one"));
    forged["action"]["reason"] = json!("two");
    is_error(&stand.post("/guard/kill", &forged), 401, "bad_signature");
    for body in [
        json!({}),
        json!({"reason": "x"}),
        signed(&stand.client, &resting()),
        signed(&stand.client, &pull("")),
        signed(&stand.client, &pull(&"x".repeat(201))),
    ] {
        is_error(&stand.post("/guard/kill", &body), 422, "malformed");
    }
    // On /exchange it is an action like any other that the guard never forwards.
    let event =
        is_clients_veto(&stand, &stand.post("/exchange", &signed(&stand.client, &pull("x"))), "action_not_allowed");
    assert_eq!(event["action"], "guardKill");
    assert_eq!(stand.status()["killed"], Value::Null);
    assert!(!stand.home().join("kill").exists());
    assert!(stand.events_of("kill").is_empty());
}

#[test]
fn the_command_and_the_file_pull_it() {
    let stand = Stand::up(Mode::Paper, "");
    let done = run_with(&stand.home(), &["kill", "--reason", "pulled by hand"], "");
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(
        said.contains("is pulled: pulled by hand\nkilled; paper mode sends nothing: 0 positions, 0 orders"),
        "{said}"
    );
    until("the kill event", || stand.events_of("kill").pop());
    is_killed(&stand, "pulled by hand");

    // Whatever it is, its being there pulls the switch.
    let other = Stand::up(Mode::Paper, "");
    fs::create_dir(other.home().join("kill")).unwrap();
    until("the kill event", || other.events_of("kill").pop());
    let reason = other.status()["killed"].as_str().unwrap().to_owned();
    is_killed(&other, &reason);
}

fn holding() -> Stand {
    let stand = Stand::up(Mode::Testnet, "");
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    until("the position", || stand.status()["positions"].as_array().filter(|found| !found.is_empty()).map(|_| ()));
    stand
}

/// What `kill` says on standard output, with its exit status.
fn said(stand: &Stand, more: &[&str]) -> (Option<i32>, String, String) {
    let done = run_with(&stand.home(), &[&["kill", "--reason", "enough"], more].concat(), "");
    (done.status.code(), String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
}

/// The one who kills hears what the guard does, and with `--wait` that it is done.
#[test]
fn the_command_says_what_becomes_of_it() {
    let stand = holding();
    stand.venue.control(&json!({"op": "fault", "on": "exchange", "kind": "http_502", "times": 1_000_000})).unwrap();
    let (code, out, _) = said(&stand, &[]);
    assert!(code == Some(0) && out.contains("is pulled: enough\nkilled; closing 1 position, "), "{out}");
    let (code, out, err) = said(&stand, &["--wait", "1"]);
    assert!(code == Some(1) && out.contains("pulled before: enough\nkilled; closing 1 position"), "{out}");
    assert!(err.contains("not flat after 1 s: 1 position"), "{err}");
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    let (code, out, err) = said(&stand, &["--wait"]);
    assert!(code == Some(0) && out.ends_with("flat: 0 positions, 0 orders\n"), "{out}{err}");
    assert!(is_flat(&stand));
}

/// A guard that cannot say anything has been told all the same.
#[test]
fn a_guard_that_hangs_makes_no_kill_fail() {
    let stand = holding();
    stand.signal(Signal::SIGSTOP);
    let (code, out, _) = said(&stand, &[]);
    let (waited, _, err) = said(&stand, &["--wait", "1"]);
    let health = run_with(&stand.home(), &["health"], "");
    stand.signal(Signal::SIGCONT);
    // Whoever asks for its health is not told to start another one beside it.
    let health = (health.status.code(), String::from_utf8(health.stderr).unwrap());
    assert!(
        health.0 == Some(1) && health.1.contains("a guard runs on this home; where it hangs, `kill -9 "),
        "{}",
        health.1
    );
    assert!(code == Some(0) && out.contains("a guard runs on this home, and did not say within 2 s"), "{out}");
    // What is left is told, whether somebody waits or not.
    let home = stand.home();
    assert!(out.contains(&format!("`svc-guard --home {} kill --reason enough --wait`", home.display())), "{out}");
    assert_eq!(waited, Some(1), "{err}");
    for told in [&out, &err] {
        let (_, pid) = told.split_once("where it hangs, `kill -9 ").unwrap_or_else(|| panic!("{told}"));
        let pid: i32 = pid.split('`').next().unwrap().parse().unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).unwrap();
        let start = format!("`svc-guard --home {} run --listen 127.0.0.1:0 --network testnet", home.display());
        assert!(told.contains(&start) && told.contains("closed at the venue's own page"), "{told}");
    }
    until("the kill event", || stand.events_of("kill").pop());
}

/// A guard that ends while somebody waits for it: who waits hears that nobody closes anything now.
#[test]
fn a_guard_that_ends_meanwhile_is_told_of() {
    let mut stand = holding();
    stand.venue.control(&json!({"op": "fault", "on": "exchange", "kind": "http_502", "times": 1_000_000})).unwrap();
    let mut waits = command(&stand.home(), &["kill", "--reason", "enough", "--wait", "5"]);
    let waits = waits.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the kill event", || stand.events_of("kill").pop());
    stand.kill();
    let done = waits.wait_with_output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("no guard runs on this home") && said.contains("it holds at the next start"), "{said}");
}

/// A person who kills in the wrong home is told where a guard runs.
#[test]
fn a_kill_in_another_home_names_the_one_with_a_guard() {
    let stand = Stand::up(Mode::Paper, "");
    let other = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(stand.home(), other.path().join(".svc-guard")).unwrap();
    let home = other.path().join("empty");
    fs::create_dir(&home).unwrap();
    let mut kill = command(&home, &["kill", "--reason", "oh no", "--wait", "7"]);
    let done = kill.env("HOME", other.path()).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    let right = format!(
        "`svc-guard --home {} kill --reason 'oh no' --wait 7` kills that one",
        other.path().join(".svc-guard").display()
    );
    assert!(said.contains("no guard runs on this home") && said.contains(&right), "{said}");
    assert_eq!(stand.status()["killed"], Value::Null);
}

/// A machine with a guard on paper in the default home and one that sends in another: who kills without naming a home hears
/// whose guard is killed, and that the other one goes on.
#[test]
fn a_kill_names_its_guard_and_the_one_that_goes_on() {
    let (paper, other) = (Stand::up(Mode::Paper, ""), Stand::up(Mode::Testnet, ""));
    let user = tempfile::tempdir().unwrap();
    let (own, second) = (user.path().join(".svc-guard"), user.path().join(".svc-guard-testnet"));
    std::os::unix::fs::symlink(paper.home(), &own).unwrap();
    std::os::unix::fs::symlink(other.home(), &second).unwrap();
    let kill = |home: Option<&std::path::Path>, reason: &str| {
        let mut kill = command(home.unwrap_or(&own), &["kill", "--reason", reason, "--wait", "20"]);
        let done = kill.env("HOME", user.path()).output().unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap())
    };
    let goes_on = "runs too and is NOT killed: `svc-guard --home";
    let (code, said) = kill(None, "it's wrong");
    let whose = |mode: &str, stand: &Stand, home: &std::path::Path| {
        let account = stand.status()["account"].as_str().unwrap().to_owned();
        format!("This is the {mode} guard of account {account}, home {}\n", home.display())
    };
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&whose("paper", &paper, &own)), "{said}");
    let line = format!("the guard of {0} {goes_on} {0} kill --reason 'it'\\''s wrong' --wait 20`\n", second.display());
    assert!(said.ends_with(&line), "{said}");
    assert_eq!(other.status()["killed"], Value::Null);
    // One that is killed already does not go on.
    let (code, said) = kill(Some(&second), "that one");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&whose("testnet", &other, &second)) && !said.contains(goes_on), "{said}");
}

/// A home on which nothing runs, and whose config names the address at which another home's guard answers: who kills there, or
/// asks how it is, hears whose guard that is.
#[test]
fn a_guard_of_another_home_is_named_as_such() {
    let stand = Stand::up(Mode::Paper, "");
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other home");
    fs::create_dir(&other).unwrap();
    let config = fs::read_to_string(stand.home().join("guard.toml")).unwrap();
    let is_listen = |line: &&str| !line.trim_start().starts_with("listen");
    let kept: Vec<&str> = config.lines().filter(is_listen).collect();
    let listen = format!("listen = \"{}\"\n", stand.address());
    fs::write(other.join("guard.toml"), listen + &kept.join("\n")).unwrap();
    let home = stand.home().display().to_string();
    let asked = |args: &[&str]| {
        let done = run_with(&other, args, "");
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    for trading in [&[][..], &["--trading"]] {
        let health = [&["health"], trading].concat();
        let (code, said) = asked(&health);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("no guard runs on this home: what answers at http://127.0.0.1:"), "{said}");
        let theirs = format!("is the guard of {home}; `svc-guard --home {home} {}`", health.join(" "));
        assert!(said.contains(&theirs), "{said}");
    }
    let (code, said) = asked(&["kill", "--reason", "enough"]);
    assert_eq!(code, Some(1), "{said}");
    let way = format!("A guard runs on {home}: `svc-guard --home {home} kill --reason enough` kills that one");
    assert!(said.contains(&way), "{said}");
    assert_eq!(stand.status()["killed"], Value::Null);
    // Who names the address means that one; and the guard's own home is well.
    assert_eq!(asked(&["health", "--url", &format!("http://{}", stand.address())]).0, Some(0));
    assert_eq!(run_with(&stand.home(), &["health"], "").status.code(), Some(0));
}

/// That nothing is known to be held is not that nothing is.
#[test]
fn a_kill_before_the_account_was_read_says_so() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    stand.without("clearinghouseState");
    stand.launch();
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success() && said.contains("what is held was not read yet"), "{said}");
    assert!(!said.contains("0 positions"), "{said}");
}

/// A home that was moved under its guard: at its new place the command tells what that very guard does, and at the old one that
/// it may still run.
#[test]
fn a_kill_in_a_home_that_was_moved_is_told_by_its_guard() {
    let stand = holding();
    let (old, new) = (stand.home(), stand.home().with_file_name("moved"));
    fs::rename(&old, &new).unwrap();
    let at = |home: &std::path::Path| {
        let done = run_with(home, &["kill", "--reason", "enough", "--wait"], "");
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (done.status.code(), text(done.stdout), text(done.stderr))
    };
    let (code, _, err) = at(&old);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("may still run") && !err.contains("no guard runs"), "{err}");
    assert_eq!(stand.status()["killed"], Value::Null);
    let (code, out, err) = at(&new);
    assert!(code == Some(0) && out.ends_with("flat: 0 positions, 0 orders\n"), "{out}{err}");
    assert!(is_flat(&stand));
}

/// A guard that holds nothing closes nothing, and says so; a folder under the switch's name is removed as one.
#[test]
fn a_kill_of_a_guard_that_holds_nothing_says_so() {
    let stand = Stand::up(Mode::Testnet, "");
    fs::create_dir(stand.home().join("kill")).unwrap();
    let (code, out, err) = said(&stand, &[]);
    assert!(code == Some(0) && !out.contains("closing 0 positions"), "{out}{err}");
    assert!(out.contains("nothing was held") || out.contains("nothing is held"), "{out}");
    let folder = stand.home().join("kill");
    assert!(out.contains(&format!("`rm -r {}`", folder.display())), "{out}");
}

/// A kill just after a fill waits for the read that shows it, and does not say that there is nothing to close.
#[test]
fn a_kill_just_after_a_fill_tells_of_what_it_closes() {
    let stand = Stand::up(Mode::Testnet, "");
    stand.without_feed();
    until("the account to be read", || stand.status()["equity"].is_string().then_some(()));
    // What is held stays, so that whoever asks sees it.
    stand.venue.control(&json!({"op": "fault", "on": "exchange", "kind": "http_502", "times": 1_000_000})).unwrap();
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    let (code, out, err) = said(&stand, &[]);
    assert!(code == Some(0) && out.contains("killed; closing 1 position, "), "{out}{err}");
}

/// A guard that hangs is not taken for the one of another home that answers where its config says.
#[test]
fn the_health_of_a_guard_that_hangs_is_no_others() {
    let (hangs, other) = (Stand::up(Mode::Testnet, ""), Stand::up(Mode::Paper, ""));
    let file = hangs.home().join("guard.toml");
    let config = fs::read_to_string(&file).unwrap();
    let (before, behind) = config.split_once("listen = \"").unwrap();
    let behind = behind.split_once('"').unwrap().1;
    fs::write(&file, format!("{before}listen = \"{}\"{behind}", other.address())).unwrap();
    let health = || run_with(&hangs.home(), &["health"], "").status.code();
    assert_eq!(health(), Some(0));
    hangs.signal(Signal::SIGSTOP);
    let code = health();
    hangs.signal(Signal::SIGCONT);
    assert_eq!(code, Some(1));
}

/// Where another home's guard hangs at the address of this one's, that one is named.
#[test]
fn a_guard_that_hangs_at_the_address_of_another_home_is_named() {
    let hangs = Stand::up(Mode::Paper, "");
    let folder = tempfile::tempdir().unwrap();
    let (home, beside) = (folder.path().join("own"), folder.path().join("beside"));
    std::os::unix::fs::symlink(hangs.home(), &beside).unwrap();
    let account = format!("0x{}", "22".repeat(20));
    let listen = hangs.address().to_string();
    let init = ["init", "--non-interactive", "--rules", "@/dev/null", "--account", &account, "--listen", &listen];
    assert!(run_with(&home, &init, "").status.success());
    hangs.signal(Signal::SIGSTOP);
    let told = [&["health"][..], &["run"]].map(|args| String::from_utf8(run_with(&home, args, "").stderr).unwrap());
    hangs.signal(Signal::SIGCONT);
    let named = format!("; a guard runs on {0}, and `svc-guard --home {0} health` tells of that one", beside.display());
    assert!(told.iter().all(|told| told.contains(&named)), "{told:?}");
}
