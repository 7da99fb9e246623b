//! Odd arguments, variables and config files, thrown at every command by a seeded hand: each is refused in one line or
//! served, none breaks the program, and a refusal leaves everything as it was.
//!
//! Nothing here can reach a venue: no rules that hold are ever given, so nothing is set up but what names a venue that is
//! not there.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Output;

use crate::place::*;

const ROUNDS: usize = 220;
const SEED: u64 = 0x6f64_6420_7661_6c75;

/// Every command with its flags; `run` is made to refuse by asking for another mode than the config's.
const COMMANDS: [(&[&str], &[&str]); 15] = [
    (
        &["init", "--non-interactive"],
        &[
            "--rules",
            "--account",
            "--network",
            "--account-network",
            "--confirm-mainnet",
            "--equity-cap",
            "--key-stdin",
            "--no-key",
            "--listen",
            "--ip-share",
            "--key-store",
            "--force",
            "--client-key-out",
            "--refuse-mainnet",
        ],
    ),
    (&["init"], &["--interactive", "--force"]),
    (&["config", "get"], &[]),
    (&["key", "check"], &["--key-stdin"]),
    (&["pair"], &[]),
    (&["client", "add"], &["--out"]),
    (
        &["run", "--network", "testnet"],
        &["--listen", "--ip-share", "--key-stdin", "--key-file", "--container", "-v", "-q"],
    ),
    (&["health"], &["--listen", "--url"]),
    (&["journal-init"], &["--mode", "--note"]),
    (&["journal-resume"], &["--mode", "--note"]),
    (&["journal-show"], &["--mode"]),
    (&["kill"], &["--reason"]),
    (&["check-config"], &[]),
    (
        &["mcp"],
        &["--network", "--key-file", "--key-stdin", "--guard-url", "--confirm-account", "--kill-file", "--read-only"],
    ),
    (&["completions"], &[]),
];

/// Flags that stand alone.
const ALONE: [&str; 9] = [
    "--key-stdin",
    "--no-key",
    "--force",
    "--interactive",
    "--container",
    "--read-only",
    "-v",
    "-q",
    "--non-interactive",
];

const VARIABLES: [&str; 9] = [
    "SVC_GUARD_HOME",
    "SVC_GUARD_RULES",
    "SVC_GUARD_ACCOUNT",
    "SVC_GUARD_NETWORK",
    "SVC_GUARD_LISTEN",
    "SVC_GUARD_IP_SHARE",
    "SVC_GUARD_KEY_FILE",
    "SVC_GUARD_CONTAINER",
    "SVC_MAINNET_CONFIRM",
];

/// Values that are right for some flag, wrong for most, or wrong for all. Paths among them lead nowhere but below the
/// folder that the program is run in.
const VALUES: [&[u8]; 40] = [
    b"",
    b" ",
    b"-",
    b"--",
    b"---x",
    b"0",
    b"-1",
    b"1",
    b"1/2",
    b"1/0",
    b"1e9",
    b"NaN",
    b"99999999999999999999999999",
    b"0x",
    b"0x12",
    ACCOUNT.as_bytes(),
    b"0x1111111111111111111111111111111111111111 ",
    b"0xGGGG111111111111111111111111111111111111",
    b"sr1_",
    b"sr1_AAAA",
    b"sr1_!!!!",
    b"@",
    b"@nothing-here",
    b"nothing-here",
    b"no/such/folder/file",
    b".",
    b"a\nb\r\n\x1b[31mc",
    b"\xff\xfe",
    "\u{202e}\u{200b}\u{e9}".as_bytes(),
    b"%s%n{}$HOME",
    b"127.0.0.1",
    b"127.0.0.1:0",
    b"127.0.0.1:99999",
    b"[::1]:0",
    b"http://",
    b"http://127.0.0.1:9",
    b"http://127.0.0.1:9/x?y",
    b"paper",
    b"testnet",
    b"mainnet",
];

/// Config files; those that can be read name a venue that is not there.
const CONFIGS: [&[u8]; 12] = [
    b"",
    b"\0\0\0",
    b"\xff\xfe\xfd",
    b"mode",
    b"mode = \"live\"\n",
    b"mode = 7\naccount = []\nlisten = {}\n",
    b"[auth]\nclients = [\"0x1\"]\n[auth]\n",
    b"[venue]\nurl = \"ftp://127.0.0.1:9\"\n",
    b"[venue]\nurl = \"http://127.0.0.1:9\"\nspeed = 1\n",
    b"rules = \"sr1_AAAA\"\nmode = \"paper\"\naccount = \"0x1111111111111111111111111111111111111111\"\n",
    b"\xef\xbb\xbf# only a mark and a word\n",
    b"a = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

/// Numbers that look random and are the same in every run.
struct Hand(u64);

impl Hand {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    fn value(&mut self) -> OsString {
        if self.one_in(25) {
            return "x".repeat(9_000).into();
        }
        OsStr::from_bytes(self.of(&VALUES)).to_owned()
    }

    /// A command line: a command, some of its flags, odd values, and now and then a word too many.
    fn line(&mut self) -> Vec<OsString> {
        let (command, flags) = COMMANDS[self.below(COMMANDS.len())];
        let mut line: Vec<OsString> = command.iter().map(OsString::from).collect();
        for _ in 0..self.below(5).min(flags.len() * 2) {
            let flag = self.of(flags);
            line.push(flag.into());
            if !ALONE.contains(&flag) || self.one_in(12) {
                line.push(self.value());
            }
        }
        if self.one_in(4) || ["get", "completions"].contains(&command[command.len() - 1]) {
            line.push(self.value());
        }
        if self.one_in(10) {
            line.push(self.of(&["--config", "--home"]).into());
            line.push(self.value());
        }
        line
    }
}

/// What holds for every end of the program.
fn sound(line: &[OsString], output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code().unwrap_or_else(|| panic!("{line:?} ended by a signal: {said}"));
    for word in ["panicked", "RUST_BACKTRACE", "overflow", "unwrap"] {
        assert!(!said.contains(word), "{line:?}: {said}");
    }
    if code != 2 {
        let may_fail = code == 1 && line.first().is_some_and(|command| command == "health" || command == "kill");
        assert!(code == 0 || may_fail, "{line:?} ended with {code}: {said}");
        return true;
    }
    let shown = said.trim_end();
    // Called with no command at all it prints its help, which is longer.
    assert!(shown.starts_with("svc-guard: ") && shown.lines().count() == 1, "{line:?}: {said:?}");
    assert!(!shown.chars().any(char::is_control), "{line:?}: {said:?}");
    assert!(output.stdout.is_empty() && shown.len() < 4_000, "{} bytes: {}", shown.len(), &shown[..400]);
    false
}

fn throw(seed: u64, rounds: usize) {
    let mut hand = Hand(seed);
    let (mut place, mut refusals) = (Place::paper(), 0);
    for round in 0..rounds {
        let line = hand.line();
        let mut command = place.command(&[]);
        command.args(&line).current_dir(place.folder.path()).env("HOME", place.folder.path());
        for variable in VARIABLES {
            if hand.one_in(20) {
                command.env(variable, hand.value());
            }
        }
        let is_config_odd = hand.one_in(4);
        if is_config_odd {
            fs::write(place.home().join("guard.toml"), hand.of(&CONFIGS)).unwrap();
        }
        let before = place.listing();
        let is_served = sound(&line, &ended(&mut command));
        assert!(is_served || place.listing() == before, "{line:?} was refused and left something behind");
        refusals += usize::from(!is_served);
        if is_served || is_config_odd || round % 20 == 0 {
            place = Place::paper();
        }
    }
    assert!(refusals > rounds / 2, "{refusals} of {rounds}: the hand is too tame");
}

#[test]
fn odd_lines_are_refused_in_one_line_and_leave_nothing() {
    // Two hands at once, for a machine of two cores.
    std::thread::scope(|scope| {
        for hand in 0..2 {
            scope.spawn(move || throw(SEED + hand, ROUNDS / 2));
        }
    });
}
