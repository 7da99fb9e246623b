//! `--key-store`: a key sealed for the host by systemd-creds, a file where that does not work.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::place::*;

const TESTNET: [&str; 3] = ["--network", "testnet", "--key-stdin"];

/// A stand-in for systemd-creds that gives back another key than it was given.
const SWAPS: &str = r#"#!/bin/sh
[ "$2" = --name=api-wallet-key ] && [ "$3" = - ] && [ "$4" = - ] || { echo "unexpected arguments $*" >&2; exit 1; }
cat >/dev/null
[ "$1" = encrypt ] && echo sealed || echo 0x3333333333333333333333333333333333333333333333333333333333333333
"#;
/// A stand-in that seals by turning letters round, and opens by turning them back.
const SEALS: &str = "#!/bin/sh\ncase $1 in encrypt) tr 0-9a-f 6-9a-f0-5;; decrypt) tr 6-9a-f0-5 0-9a-f;; esac\n";
const FAILS: &str = "#!/bin/sh\ncat >/dev/null\necho 'no host secret' >&2\nexit 1\n";
const LOSES: &str = "#!/bin/sh\ncat >/dev/null\necho nothing\n";

/// A place where systemd-creds is this script.
fn with_tool(place: &Place, script: &str) {
    let tool = place.path("bin/systemd-creds");
    fs::create_dir_all(tool.parent().unwrap()).unwrap();
    fs::write(&tool, script).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(place: &Place, args: &[&str], stdin: &str) -> Output {
    let mut command = place.command(args);
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap());
    fed(command.env("PATH", path), stdin)
}

fn fed(command: &mut Command, stdin: &str) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that refuses before it reads leaves the pipe broken; that is its right.
    _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin.as_bytes());
    finished(child)
}

fn sealed_file(place: &Place) -> std::path::PathBuf {
    place.home().join("api-wallet-key.cred")
}

fn no_key_lies_open(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            no_key_lies_open(&path);
        } else {
            assert!(!text(&fs::read(&path).unwrap()).contains(&FAKE_KEY[2..20]), "{}", path.display());
        }
    }
}

#[test]
fn auto_seals_where_it_works_and_run_opens_it() {
    let place = Place::with(&venue(AGENT));
    with_tool(&place, SEALS);
    let output = run(&place, &init(&TESTNET), FAKE_KEY);
    let out = succeeded(&output);
    assert!(
        out.contains("(sealed for this host)") && out.contains("systemd-creds decrypt --name=api-wallet-key"),
        "{out}"
    );
    assert!(place.config().contains("key_store = \"host-creds\""));
    assert_eq!(mode(&sealed_file(&place)), 0o600);
    no_key_lies_open(&place.home());
    // Opened, it is the wallet's key: the config's other wallet is what refuses it.
    let other = "0x3333333333333333333333333333333333333333";
    place.write_config(&place.config().replace(WALLET, other));
    refused(&run(&place, &["run", "--network", "testnet", "--listen", "127.0.0.1:0"], ""), WALLET);
    with_tool(&place, FAILS);
    refused(&run(&place, &["run", "--network", "testnet", "--listen", "127.0.0.1:0"], ""), "no host secret");
}

#[test]
fn auto_takes_a_file_where_it_does_not_work_and_says_so() {
    for (script, why) in [(FAILS, "no host secret"), (LOSES, "does not give back"), (SWAPS, "does not give back")] {
        let place = Place::with(&venue(AGENT));
        with_tool(&place, script);
        let output = run(&place, &init(&TESTNET), FAKE_KEY);
        succeeded(&output);
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
        assert!(place.config().contains("key_store = \"file\"") && !sealed_file(&place).exists());
        assert_eq!(mode(&place.home().join("api-wallet-key")), 0o600);
    }
}

#[test]
fn host_creds_is_refused_where_it_does_not_work() {
    let place = Place::with(&venue(AGENT));
    let args = init(&[&TESTNET[..], &["--key-store", "host-creds"]].concat());
    for (script, why) in [(FAILS, "no host secret"), (LOSES, "does not give back")] {
        with_tool(&place, script);
        let before = place.listing();
        let output = run(&place, &args, FAKE_KEY);
        refused(&output, why);
        assert!(text(&output.stderr).contains("--key-store file"));
        assert!(place.listing() == before);
    }
    let mut command = place.command(&args);
    refused(&fed(command.env("PATH", "/nonexistent-folder"), FAKE_KEY), "systemd-creds cannot be run");
}

#[test]
fn a_key_of_either_form_is_kept_aside_by_force_only() {
    let place = Place::with(&venue(AGENT));
    with_tool(&place, SEALS);
    let file = [&TESTNET[..], &["--key-store", "file"]].concat();
    succeeded(&run(&place, &init(&file), FAKE_KEY));
    place.write_config(&venue(AGENT));
    refused(&run(&place, &init(&TESTNET), FAKE_KEY), "api-wallet-key stands there already");
    let output = run(&place, &init(&[&TESTNET[..], &["--force"]].concat()), FAKE_KEY);
    succeeded(&output);
    assert!(text(&output.stderr).contains("api-wallet-key.old-1"), "{}", text(&output.stderr));
    assert!(sealed_file(&place).exists() && !place.home().join("api-wallet-key").exists());
    assert!(place.home().join("api-wallet-key.old-1").exists());
}

/// With the real tool, where it works.
#[test]
fn a_key_is_sealed_by_the_real_tool() {
    let place = Place::with(&venue(AGENT));
    let output = place.run_with(&init(&[&TESTNET[..], &["--key-store", "host-creds"]].concat()), FAKE_KEY);
    if output.status.code() == Some(2) {
        refused(&output, "--key-store host-creds: systemd-creds");
        eprintln!("skipped: {}", text(&output.stderr));
        return;
    }
    succeeded(&output);
    no_key_lies_open(&place.home());
    let opened = Command::new("systemd-creds")
        .args(["decrypt", "--name=api-wallet-key"])
        .arg(sealed_file(&place))
        .arg("-")
        .output()
        .unwrap();
    assert_eq!(text(&opened.stdout), FAKE_KEY);
}

/// The README's mainnet: a person sealed the key by hand, and the config knows of no store.
fn sealed_by_hand(mode: &[&str]) -> Place {
    let place = Place::with(&venue(AGENT));
    succeeded(&place.run(&init(&[mode, &["--no-key"]].concat())));
    succeeded(&place.run_with(&["key", "check", "--key-stdin"], FAKE_KEY));
    fs::write(sealed_file(&place), "sealed by hand").unwrap();
    place
}

#[test]
fn a_key_that_a_person_sealed_is_replaced_by_a_sealed_one() {
    let mainnet = ["--network", "mainnet", "--equity-cap", "1000", "--confirm-mainnet", ACCOUNT];
    for mode in [&mainnet[..], &TESTNET[..2]] {
        let place = sealed_by_hand(mode);
        with_tool(&place, FAILS);
        let before = place.listing();
        let output = run(&place, &["key", "replace", "--key-stdin"], OTHER_KEY);
        refused(
            &output,
            "could not be: systemd-creds encrypt ended with exit status: 1: no host secret; nothing is changed",
        );
        let said = text(&output.stderr);
        let by_hand = format!("`systemd-creds encrypt --name=api-wallet-key FILE {}`", sealed_file(&place).display());
        assert!(said.contains(&by_hand) && said.contains("key replace --key-stdin --no-store < FILE`"), "{said}");
        assert!(place.listing() == before, "no key lies open");
        // What that says, done.
        let out = succeeded(&run(&place, &["key", "replace", "--key-stdin", "--no-store"], OTHER_KEY));
        assert!(out.contains("must be this one by then") && out.contains(&by_hand), "{out}");
        // Where it can be sealed, it is.
        with_tool(&place, SEALS);
        let out = succeeded(&run(&place, &["key", "replace", "--key-stdin"], FAKE_KEY));
        assert!(out.contains(&format!("its key in {}", sealed_file(&place).display())), "{out}");
        no_key_lies_open(&place.home());
        assert!(place.home().join("api-wallet-key.cred.old-1").exists());
    }
}

#[test]
fn a_key_that_mainnet_gets_at_each_start_is_stored_nowhere() {
    let place = Place::with(&venue(AGENT));
    let mainnet = ["--network", "mainnet", "--equity-cap", "1000", "--confirm-mainnet", ACCOUNT, "--no-key"];
    succeeded(&place.run(&init(&mainnet)));
    let home = place.home();
    let start = format!("`SVC_MAINNET_CONFIRM={ACCOUNT} svc-guard --home {} run --network mainnet", home.display());
    for key in [FAKE_KEY, OTHER_KEY] {
        let out = succeeded(&place.run_with(&["key", "replace", "--key-stdin"], key));
        assert!(out.contains("stored nowhere") && out.contains(&format!("{start} --key-stdin < FILE`")), "{out}");
        assert!(!place.home().join("api-wallet-key").exists());
    }
    // One whose key init stored keeps it there, and is started with it.
    let place = Place::with(&venue(AGENT));
    let stores = [&mainnet[..6], &["--key-stdin", "--key-store", "file"]].concat();
    succeeded(&place.run_with(&init(&stores), FAKE_KEY));
    let out = succeeded(&place.run_with(&["key", "replace", "--key-stdin"], OTHER_KEY));
    let file = place.home().join("api-wallet-key");
    assert!(out.contains(&format!(" run --network mainnet --key-stdin < {}`", file.display())), "{out}");
    assert!(fs::read_to_string(file).unwrap().contains(&OTHER_KEY[2..]));
}
