//! Mainnet: every gate of `run` and `init`, missing one at a time, and the key left where it is until all stand open.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use svc_guard::journal::{self, Options};
use svc_guard::rules::Rules;

use crate::place::*;

const OTHER: &str = "0x2222222222222222222222222222222222222222";

/// Runs a command with the key waiting on standard input, and returns what is left of it there.
fn with_waiting_key(command: &mut Command) -> (Output, String) {
    let (read, write) = nix::unistd::pipe().unwrap();
    let given: OwnedFd = read.try_clone().unwrap();
    File::from(write).write_all(FAKE_KEY.as_bytes()).unwrap();
    let output = ended(command.stdin(Stdio::from(given)));
    let mut left = String::new();
    File::from(read).read_to_string(&mut left).unwrap();
    (output, left)
}

/// Refused for this one reason alone, before the key was read.
fn refused_unread(command: &mut Command, reason: &str) {
    let (output, left) = with_waiting_key(command);
    refused(&output, reason);
    assert_eq!(text(&output.stderr).matches("; ").count(), 1, "one gate alone: {}", text(&output.stderr));
    assert_eq!(left, FAKE_KEY, "the key was read: {reason}");
}

/// A mainnet home in which nothing is missing but the service.
fn mainnet() -> Place {
    let place = Place::with(&venue(AGENT));
    let (output, left) = with_waiting_key(&mut place.command(&init(&SET_UP)));
    succeeded(&output);
    assert_eq!(left, "", "the key was taken");
    begin_journal(&place, "mainnet");
    place
}

const SET_UP: [&str; 9] = [
    "--network",
    "mainnet",
    "--key-stdin",
    "--key-store",
    "file",
    "--equity-cap",
    "1000",
    "--confirm-mainnet",
    ACCOUNT,
];

fn journal_dir(place: &Place) -> PathBuf {
    place.home().join("journals").join(format!("mainnet-{ACCOUNT}"))
}

/// Starts a journal where mainnet's stands, as one of `mode`.
fn begin_journal(place: &Place, mode: &str) {
    let record = format!(
        r#"{{"kind":"init","at_ms":1,"mode":"{mode}","account":"{ACCOUNT}","account_network":"mainnet","equity":"1000"}}"#
    );
    journal::create_risk(&journal_dir(place), &record, None).unwrap();
}

fn run(place: &Place) -> Command {
    let mut command = place.command(&["run", "--network", "mainnet", "--listen", "127.0.0.1:0", "--key-stdin"]);
    command.env("SVC_MAINNET_CONFIRM", ACCOUNT);
    command
}

fn edited(place: &Place, from: &str, to: &str) {
    let config = place.config();
    assert!(config.contains(from), "{from} is not in {config}");
    place.write_config(&config.replace(from, to));
}

#[test]
fn set_up_for_mainnet_has_every_guard_and_no_journal() {
    let place = Place::with(&venue(AGENT));
    let (output, _) = with_waiting_key(&mut place.command(&init(&SET_UP)));
    let out = succeeded(&output);
    for line in ["mode = \"mainnet\"", "allow_mainnet = true", "equity_cap = \"1000\"", "account_network = \"mainnet\""]
    {
        assert!(place.config().contains(line), "{}", place.config());
    }
    assert!(place.config().contains(&format!("api_wallet = \"{WALLET}\"")));
    assert!(!journal_dir(&place).exists(), "a person starts the mainnet journal");
    for step in ["journal-init --mode mainnet", &format!("SVC_MAINNET_CONFIRM={ACCOUNT}"), "--key-stdin < "] {
        assert!(out.contains(step), "{out}");
    }
    assert!(!out.contains(&FAKE_KEY[2..]));
}

#[test]
fn set_up_for_mainnet_needs_each_gate() {
    let without = |flag: &str| -> Vec<&str> {
        let place = SET_UP.iter().position(|arg| *arg == flag).unwrap();
        let width = if flag == "--key-stdin" { 1 } else { 2 };
        [&SET_UP[..place], &SET_UP[place + width..]].concat()
    };
    let with = |more: &[&'static str]| [&SET_UP[..], more].concat();
    let other: Vec<&str> = [&SET_UP[..8], &[OTHER]].concat();
    for (args, reason) in [
        (without("--equity-cap"), "mainnet is not set up; missing: --equity-cap USDC"),
        (without("--confirm-mainnet"), "missing: --confirm-mainnet 0x1111"),
        (other, "--confirm-mainnet must be the account 0x1111"),
        (with(&["--refuse-mainnet", "a test machine"]), "mainnet is refused here (a test machine)"),
        (with(&["--account-network", "testnet"]), "account_network"),
    ] {
        let place = Place::with(&venue(AGENT));
        let before = place.listing();
        let (output, left) = with_waiting_key(&mut place.command(&init(&args)));
        refused(&output, reason);
        assert_eq!(left, FAKE_KEY, "the key was read: {reason}");
        assert!(place.listing() == before, "{reason}");
    }
    let place = Place::with(&venue(AGENT));
    place.refuses(&init(&without("--key-stdin")), "--key-stdin");
    let looser = Rules::from_toml("leverage = 6").unwrap().to_code();
    let args: Vec<String> = init(&SET_UP).iter().map(|arg| arg.replace(&rules(), &looser)).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    refused_unread_as_said(&place, &args, "rules no looser than the defaults (looser: leverage, whose default is 5)");
    // A venue in plain text on another machine would see and change what is sent.
    place.write_config("[venue]\nurl = \"http://venue.test\"\n");
    refused_unread_as_said(&place, &init(&SET_UP), "venue.url");
}

fn refused_unread_as_said(place: &Place, args: &[&str], reason: &str) {
    let (output, left) = with_waiting_key(&mut place.command(args));
    refused(&output, reason);
    assert_eq!(left, FAKE_KEY, "the key was read: {reason}");
}

#[test]
fn setting_up_anew_is_no_way_around_a_refusal() {
    let place = Place::with(&venue(AGENT));
    succeeded(&place.run(&init(&["--refuse-mainnet", "a test machine"])));
    assert!(place.config().contains("refuse_mainnet = \"a test machine\""));
    let args = init(&[&SET_UP[..], &["--force"]].concat());
    refused_unread_as_said(&place, &args, "mainnet is refused here (a test machine)");
    succeeded(&place.run(&init(&["--force"])));
    assert!(place.config().contains("refuse_mainnet = \"a test machine\""), "it stays");
}

#[test]
fn run_needs_each_guard_in_the_config() {
    let looser = Rules::from_toml("leverage = 6").unwrap().to_code();
    let api_wallet = format!("api_wallet = \"{WALLET}\"\n");
    for (from, to, reason) in [
        ("allow_mainnet = true", "allow_mainnet = false", "mainnet does not start; missing: allow_mainnet = true"),
        ("equity_cap = \"1000\"\n", "", "missing: equity_cap in the config (`svc-guard --home "),
        (api_wallet.as_str(), "", "missing: api_wallet in the config (`svc-guard --home "),
        (
            rules().as_str(),
            looser.as_str(),
            "missing: rules no looser than the defaults (looser: leverage, whose default is 5)",
        ),
        ("allow_mainnet", "refuse_mainnet = \"not yet\"\nallow_mainnet", "mainnet is refused here (not yet)"),
    ] {
        let place = mainnet();
        edited(&place, from, to);
        let command = &mut run(&place);
        let (output, left) = with_waiting_key(command);
        let said = text(&output.stderr);
        refused(&output, reason);
        assert_eq!(said.matches("; ").count(), 1, "one gate alone: {said}");
        assert_eq!(left, FAKE_KEY, "the key was read: {reason}");
    }
}

/// The gates of one start, the config being right.
fn run_refused(place: &Place, change: impl FnOnce(&mut Command), reason: &str) {
    let mut command = run(place);
    change(&mut command);
    let (output, left) = with_waiting_key(&mut command);
    refused(&output, reason);
    assert!(text(&output.stderr).matches("; ").count() <= 1, "one gate alone: {}", text(&output.stderr));
    assert_eq!(left, FAKE_KEY, "the key was read: {reason}");
}

#[test]
fn run_needs_a_persons_word_at_every_start() {
    let place = mainnet();
    let set = |value: &'static str| move |command: &mut Command| _ = command.env("SVC_MAINNET_CONFIRM", value);
    run_refused(
        &place,
        |command| _ = command.env_remove("SVC_MAINNET_CONFIRM"),
        &format!("SVC_MAINNET_CONFIRM={ACCOUNT}"),
    );
    run_refused(&place, set(""), &format!("SVC_MAINNET_CONFIRM={ACCOUNT}"));
    // A person who wrote it before sudo finds it missing.
    let by_sudo = |command: &mut Command| _ = command.env_remove("SVC_MAINNET_CONFIRM").env("SUDO_USER", "who");
    run_refused(&place, by_sudo, &format!("it stands behind it, `sudo SVC_MAINNET_CONFIRM={ACCOUNT} ...`"));
    run_refused(&place, set(OTHER), "SVC_MAINNET_CONFIRM must be the account 0x1111");
    run_refused(&place, set("yes"), "SVC_MAINNET_CONFIRM: \"yes\" must be an address");
}

#[test]
fn run_needs_the_mainnet_journal_of_this_account() {
    let place = mainnet();
    let dir = journal_dir(&place);
    let whole = fs::read(dir.join("risk.jsonl")).unwrap();
    fs::remove_dir_all(&dir).unwrap();
    run_refused(&place, |_| (), " journal-init --mode mainnet");
    begin_journal(&place, "paper");
    run_refused(&place, |_| (), "the one there was started for paper and 0x1111");
    // Damaged, it stays refused until a person looks at it.
    fs::write(dir.join("risk.jsonl"), [&whole[..whole.len() - 20], b"x\n"].concat()).unwrap();
    run_refused(&place, |_| (), "risk.jsonl, line 1, byte 0");
    fs::write(dir.join("risk.jsonl"), whole).unwrap();
    // Held by another service.
    let held = journal::open(&dir, &Options::default()).unwrap();
    run_refused(&place, |_| (), &std::process::id().to_string());
    drop(held);
}

#[test]
fn run_takes_the_mainnet_key_on_standard_input_only() {
    let place = mainnet();
    let args = ["run", "--network", "mainnet", "--listen", "127.0.0.1:0"];
    let start = |more: &[&str]| {
        let mut command = place.command(&[&args[..], more].concat());
        command.env("SVC_MAINNET_CONFIRM", ACCOUNT);
        command
    };
    // The key file in the home is right, and is not for mainnet.
    refused_unread(&mut start(&[]), "--key-stdin: on mainnet the key comes on standard input only");
    refused_unread(&mut start(&["--key-file", "/nonexistent-folder/key"]), "--key-stdin: on mainnet");
    refused_unread(start(&[]).env("SVC_GUARD_KEY_FILE", "/nonexistent-folder/key"), "--key-stdin: on mainnet");
}

#[test]
fn run_settles_everything_else_before_the_key() {
    let place = mainnet();
    let small = ["run", "--network", "mainnet", "--key-stdin", "--ip-share", "1/9"];
    refused_unread_as_said(&place, &small, "leaves 133 of the venue's 1200 weight");
    let (output, left) = with_waiting_key(run(&place).env("SVC_GUARD_IP_SHARE", "0.1"));
    refused(&output, "SVC_GUARD_IP_SHARE: \"0.1\" leaves 120");
    assert_eq!(left, FAKE_KEY);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    edited(&place, "127.0.0.1:8547", &listen);
    let mut command = place.command(&["run", "--network", "mainnet", "--key-stdin"]);
    let (output, left) = with_waiting_key(command.env("SVC_MAINNET_CONFIRM", ACCOUNT));
    refused(&output, &format!("cannot listen on {listen}"));
    refused(
        &output,
        "names another address for one start, before SVC_GUARD_LISTEN and the config, and `svc-guard --home ",
    );
    assert_eq!(left, FAKE_KEY);
    fs::set_permissions(place.home(), fs::Permissions::from_mode(0o777)).unwrap();
    run_refused(&place, |_| (), "chmod 1733");
    fs::set_permissions(place.home(), fs::Permissions::from_mode(0o1733)).unwrap();
    for network in [&["--network", "testnet"][..], &["--network", "paper"], &[]] {
        let (output, left) = with_waiting_key(&mut place.command(&[&["run", "--key-stdin"], network].concat()));
        refused(&output, "the config's mode");
        assert_eq!(left, FAKE_KEY);
    }
}

/// With every gate open the key is read, and the venue has the last word.
#[test]
fn run_asks_the_venue_when_all_gates_stand_open() {
    let place = mainnet();
    let config = place.config();
    let venue_of = |answer| venue(answer).split('"').nth(1).unwrap().to_owned();
    let url = config.split("url = \"").nth(1).unwrap().split('"').next().unwrap();
    edited(&place, url, &venue_of(r#"{"role":"missing"}"#));
    let (output, left) = with_waiting_key(&mut run(&place));
    refused(&output, "is no API wallet");
    assert_eq!(left, "", "the key was taken in");
    for (key, reason) in [("0x0123", "standard input holds no key"), ("", "standard input holds no key")] {
        let mut command = run(&place);
        let (read, write) = nix::unistd::pipe().unwrap();
        File::from(write).write_all(key.as_bytes()).unwrap();
        refused(&command.stdin(Stdio::from(read)).output().unwrap(), reason);
    }
}

#[test]
fn a_mainnet_journal_needs_a_persons_word_too() {
    let place = mainnet();
    fs::remove_dir_all(journal_dir(&place)).unwrap();
    for command in ["journal-init", "journal-resume"] {
        let args = [command, "--mode", "mainnet", "--note", "x"];
        let before = place.listing();
        refused(&place.run(&args), "the mainnet risk journal is left as it is");
        refused(&place.command(&args).env("SVC_MAINNET_CONFIRM", OTHER).output().unwrap(), "must be the account");
        assert!(place.listing() == before);
    }
    // With it, the next gate is the venue's word on the equity, which this one does not have.
    let args = ["journal-init", "--mode", "mainnet", "--note", "x"];
    let url = place.config().split("url = \"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    edited(&place, &url, "http://127.0.0.1:9");
    refused(&place.command(&args).env("SVC_MAINNET_CONFIRM", ACCOUNT).output().unwrap(), "equity could not be read");
}
