//! Results that nobody can be told: the command does not end as if they had been, and nothing that is shown once is lost.

use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::place::*;

fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

#[test]
fn what_cannot_be_written_is_no_success() {
    let place = Place::paper();
    for args in [
        &["--help"][..],
        &["--version"],
        &["help", "run"],
        &["report", "--help"],
        &["report", "--mode", "paper"],
        &["report", "--mode", "paper", "--format", "json"],
        &["journal-show", "--mode", "paper"],
        &["config", "get", "rules"],
        &["check-config"],
        &["completions", "bash"],
    ] {
        let mut command = place.command(args);
        let output = finished(command.stdout(full()).stderr(Stdio::piped()).spawn().unwrap());
        refused(&output, "cannot write to standard output: No space left on device");
        // A reader that has seen enough is no failure.
        let (read, write) = std::io::pipe().unwrap();
        drop(read);
        let output = finished(place.command(args).stdout(write).stderr(Stdio::piped()).spawn().unwrap());
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(0) && !said.contains("standard output"), "{args:?}: {said}");
    }
}

#[test]
fn an_answer_that_nobody_sees_is_said() {
    let place = Place::paper();
    let line = format!("exec '{}' \"$@\" >&-", env!("CARGO_BIN_EXE_svc-guard"));
    for args in [&["report", "--mode", "paper"], &["journal-show", "--mode", "paper"]] {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &line, "sh"]).args(args).env("SVC_GUARD_HOME", place.home()).stdin(Stdio::null());
        let said = text(&ended(&mut shell).stderr);
        assert!(said.contains("standard output is closed, so nobody sees the answer"), "{said}");
    }
}

/// The client's key is shown once: a set-up whose key could not be shown is none.
#[test]
fn a_set_up_that_cannot_be_told_leaves_nothing_behind() {
    let place = Place::empty();
    let before = place.listing();
    let (read, write) = std::io::pipe().unwrap();
    drop(read);
    for nowhere in [OwnedFd::from(full()), OwnedFd::from(write)] {
        let output = finished(place.command(&init(&[])).stdout(nowhere).stderr(Stdio::piped()).spawn().unwrap());
        refused(&output, "; nothing is set up");
        assert!(place.listing() == before, "something was left behind");
    }
    succeeded(&place.run(&init(&[])));
    // What was there before is there again.
    let before = place.listing();
    let anew = init(&["--force", "--network", "testnet", "--no-key"]);
    let output = finished(place.command(&anew).stdout(full()).stderr(Stdio::piped()).spawn().unwrap());
    assert!(text(&output.stderr).contains("; nothing is set up"));
    assert!(place.listing() == before, "the earlier set-up is gone");
}

/// A command that waits for room on its standard output, which is full, and the end from which that is read.
fn held_up(mut command: Command) -> (Child, PipeReader) {
    let (read, mut write) = std::io::pipe().unwrap();
    write.write_all(&[b'.'; FULL]).unwrap();
    (command.stdout(write).stderr(Stdio::piped()).spawn().unwrap(), read)
}

/// What a pipe holds.
const FULL: usize = 65_536;

/// Waits until this is so, and a moment more; then asks the program to end.
fn ask_to_end(child: &Child, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(200));
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
    [Signal::SIGTERM, Signal::SIGHUP].iter().for_each(|signal| kill(pid, *signal).unwrap());
    std::thread::sleep(Duration::from_millis(200));
}

/// All that was written behind what filled the pipe.
fn told(mut read: PipeReader) -> String {
    read.read_exact(&mut vec![0; FULL]).unwrap();
    let mut told = String::new();
    read.read_to_string(&mut told).unwrap();
    told
}

/// Whoever reads one line of what is shown once has the key.
#[test]
fn the_key_of_a_set_up_is_in_its_first_line() {
    let place = Place::empty();
    let told = succeeded(&place.run(&init(&[])));
    let key = labelled(&told, "client key (shown once)");
    assert!(key.starts_with("0x") && told.lines().next().unwrap().contains(&key), "{told}");
}

/// A signal does not come between the key that is shown and the set-up that takes it.
#[test]
fn a_set_up_that_is_ended_has_shown_its_key_or_is_none() {
    let place = Place::empty();
    let (child, read) = held_up(place.command(&init(&[])));
    ask_to_end(&child, || place.home().join("journals").exists());
    assert_eq!(place.config(), NO_VENUE, "it counts before its key was shown");
    let told = told(read);
    finished(child);
    let client = labelled(&told, "client address");
    assert!(told.contains("client key (shown once)") && place.config().contains(&client), "{told}");
}

#[test]
fn a_client_that_is_listed_has_a_key_that_was_shown() {
    let place = Place::paper();
    let before = place.config();
    let (child, read) = held_up(place.command(&["pair"]));
    ask_to_end(&child, || place.config() != before);
    let told = told(read);
    finished(child);
    assert!(told.contains("client key (shown once)"), "{told}");
    assert!(place.config().contains(&labelled(&told, "client address")));
}

/// No signal comes between a key's file and the config that lists its client, nor between a value and its report.
#[test]
fn a_change_that_is_ended_is_whole_or_none() {
    let place = Place::paper();
    let (before, key) = (place.config(), place.path("new.key"));
    let (child, read) = held_up(place.command(&["client", "add", "--out", key.to_str().unwrap()]));
    ask_to_end(&child, || place.config() != before);
    let told = told(read);
    finished(child);
    assert!(place.config().contains(&labelled(&told, "client address")) && key.exists(), "{told}");
    let before = place.config();
    let (child, read) = held_up(place.command(&["config", "set", "equity_cap", "5000"]));
    ask_to_end(&child, || place.config() != before);
    let told = self::told(read);
    finished(child);
    assert!(told.contains("none -> 5000 USDC"), "{told}");
}

/// Most of what is left holds a key. What another command writes at this moment is its own.
#[test]
fn what_a_command_that_was_cut_off_left_goes_with_the_next_one() {
    let place = Place::paper();
    let left = |name: &str| place.home().join(format!(".{name}.0123456789abcdef"));
    let names = ["guard.toml", "api-wallet-key", "api-wallet-key.cred", "client-key"];
    names.iter().for_each(|name| std::fs::write(left(name), "left").unwrap());
    let (out, beside) = (place.path("bot.key"), place.path(".bot.key.00000000000000aa"));
    std::fs::write(&beside, "left").unwrap();
    let written = place.path(".bot.key.00000000000000bb");
    let held = Flock::lock(std::fs::File::create(&written).unwrap(), FlockArg::LockExclusive).unwrap();
    succeeded(&place.run(&["client", "add", "--out", out.to_str().unwrap()]));
    names.iter().for_each(|name| assert!(!left(name).exists(), "{name}"));
    assert!(!beside.exists() && written.exists());
    drop(held);
    std::fs::remove_file(out).unwrap();
    // Of a set-up that was cut off, the journal's and the kill file's go with the next one.
    let journal = place.home().join("journals").read_dir().unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        path.is_dir().then_some(path)
    });
    let journal = journal.unwrap();
    std::fs::remove_file(journal.join("risk.jsonl")).unwrap();
    let others = [journal.join(".risk.jsonl.0123456789abcdef"), left("kill.ready")];
    others.iter().for_each(|path| std::fs::write(path, "left").unwrap());
    succeeded(&place.run(&init(&["--force"])));
    others.iter().for_each(|path| assert!(!path.exists(), "{}", path.display()));
}
