//! Refusals to a person who cannot go on: what was done, what was not, and the command that mends it.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};

use crate::place::*;

/// Runs a command whose result cannot be written, as to a full disk.
fn unheard(place: &Place, args: &[&str], stdin: Option<&str>) -> Output {
    let mut command = place.command(args);
    if let Some(text) = stdin {
        let file = place.path("stdin");
        fs::write(&file, text).unwrap();
        command.stdin(File::open(file).unwrap());
    }
    let full = File::options().write(true).open("/dev/full").unwrap();
    finished(command.stdout(full).stderr(Stdio::piped()).spawn().unwrap())
}

#[test]
fn a_change_that_cannot_be_told_is_taken_back() {
    let place = Place::paper();
    let before = place.listing();
    let out = place.path("new.key");
    for args in [
        &["pair"][..],
        &["client", "add", "--out", out.to_str().unwrap()],
        &["config", "set", "rules", "stop=1.5"],
        &["config", "set", "listen", "127.0.0.1:25113"],
    ] {
        refused(&unheard(&place, args, None), "cannot write to standard output");
        assert!(place.listing() == before, "{args:?} left something behind");
    }
}

#[test]
fn a_change_that_stays_is_told_in_the_refusal() {
    let said = |output: &Output| {
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let place = Place::with(&venue(AGENT));
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    let told = said(&unheard(&place, &["key", "replace", "--key-stdin"], Some(FAKE_KEY)));
    assert!(told.contains(&format!("The API wallet is {WALLET} from now on")), "{told}");
    assert!(place.config().contains(WALLET) && !told.contains(&FAKE_KEY[2..20]));
}

#[test]
fn a_kill_that_cannot_be_read_says_that_it_is_not_pulled() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::paper();
    for (args, reason) in [
        (&["kill"][..], "TEXT"),
        (&["kill", "--reason"], "TEXT"),
        (&["kill", "--reason", "x", "--wait", "abc"], "x"),
        (&["kill", "--reason", "x", "--wait", "-3"], "x"),
        (&["kill", "--reason", "x", "--wait", "99999999"], "x"),
        (&["kill", "because"], "because"),
        (&["kill", "oh", "no"], "'oh no'"),
        (&["kill", "a `b`"], "TEXT"),
        (&["kill", "--raeson", "x"], "x"),
        (&["kill", "--raeson=y", "x", "--reason=it is wrong"], "'x it is wrong'"),
    ] {
        place.refuses(args, "the kill switch is NOT pulled by this: ");
        place.refuses(args, &format!(" kill --reason {reason}` pulls it"));
    }
    for args in [&["kill", "--reason", "x", "--wait", "7", "--now"][..], &["kil", "--wait=7", "--reason=x"]] {
        place.refuses(args, " kill --reason x --wait 7` pulls it");
        assert!(!text(&place.run(args).stderr).contains("with --wait"));
    }
    place.refuses(&["kill", "--reason", "x", "--wait", "--now"], " kill --reason x --wait 60` pulls it");
    let address = ["kill", "--reason", "x", "--wait", "7", "--port", "9"];
    place.refuses(&address, "the kill switch is NOT pulled by this: ");
    let mut odd = place.command(&["kill", "--reason"]);
    refused(&ended(odd.arg(OsStr::from_bytes(b"no \xff text"))), "the kill switch is NOT pulled by this: ");
    assert!(!place.home().join("kill").exists());
    // No other command speaks of it.
    let output = place.run(&["journal-init", "--note", "kill"]);
    assert!(!text(&output.stderr).contains("NOT pulled"), "{}", text(&output.stderr));
}

#[test]
fn what_is_not_there_is_named_with_the_way_out() {
    let place = Place::paper();
    for args in [&["notify"][..], &["notify", "test"]] {
        place.refuses(args, "home/notify.toml does not exist; write it as notify.toml(5) shows");
        place.refuses(args, "--file FILE");
    }
    place.write_config(&place.config().replace("127.0.0.1:8547", "127.0.0.1:9"));
    let health = place.run(&["health"]);
    assert_eq!(health.status.code(), Some(1));
    let said = text(&health.stderr);
    assert!(said.contains("no answer from http://127.0.0.1:9") && said.contains(" run` starts the service"), "{said}");
    assert!(said.contains("--listen L or --url URL"), "{said}");
    place.refuses(&["config", "set", "rules", "@/no/such.toml"], "there is no file /no/such.toml");
    place.refuses(
        &["init", "--force", "--non-interactive", "--rules", "@no.toml", "--account", ACCOUNT],
        "guard.toml(5)",
    );
    for mode in ["paper", "testnet"] {
        let place = Place::empty();
        succeeded(&place.run(&init(if mode == "paper" { &[] } else { &["--network", "testnet", "--no-key"] })));
        fs::remove_dir_all(place.home().join("journals")).unwrap();
        let way =
            format!("`svc-guard --home {} journal-init --mode {mode} --note TEXT` starts one", place.home().display());
        place.refuses(&["run", "--network", mode, "--key-stdin"], &way);
        place.refuses(&["journal-show", "--mode", mode], &way);
    }
}

#[test]
fn a_listen_address_says_what_it_means() {
    let place = Place::paper();
    let set = |value: &str| succeeded(&place.run(&["config", "set", "listen", value]));
    let said = set("127.0.0.1:0");
    assert!(!said.contains("http://") && said.contains("chooses a free port at each start"), "{said}");
    // No URL and no code is made of a port that is none, and where nothing runs nobody is called.
    for words in [&["check-config"][..], &["pair"]] {
        let said = succeeded(&place.run(words)).replace("http://127.0.0.1:9", "");
        assert!(
            !said.contains("http://") && !said.contains("sp1_") && said.contains("a free port at each start"),
            "{said}"
        );
    }
    let home = place.home().display().to_string();
    let way = format!("`svc-guard --home {home} config set listen 127.0.0.1:8547`");
    let target = "[[target]]\nname = 'x'\nform = 'json'\nurl = 'http://127.0.0.1:9'\n";
    for words in [&["mcp", "--read-only"][..], &["notify"]] {
        fs::write(place.home().join("notify.toml"), target).unwrap();
        let words = [&["--home", home.as_str()], words].concat();
        place.refuses(&words, "where the guard answers is not known: its config says 127.0.0.1:0");
        place.refuses(&words, &way);
    }
    for open in ["0.0.0.0:25114", "[::]:25114", "192.0.2.1:25114"] {
        let said = set(open);
        assert!(said.contains(&format!("Warning: {open} is not this machine's alone")), "{said}");
    }
    let said = set("[::1]:25114");
    assert!(said.contains("base URL is http://[::1]:25114 from then on") && !said.contains("Warning"), "{said}");
    // The bot's URL and the venue's are told, and that the one is no https.
    let checked = succeeded(&place.run(&["check-config"]));
    assert!(checked.contains("base URL http://[::1]:25114, without https"), "{checked}");
    assert!(checked.contains("venue    http://127.0.0.1:9\n"), "{checked}");
    place.write_config(&place.config().replace("http://127.0.0.1:9", "https://127.0.0.1:9"));
    assert!(succeeded(&place.run(&["check-config"])).contains("venue    https://127.0.0.1:9\n"));
}

#[test]
fn coins_in_another_form_are_refused_with_the_right_one() {
    let place = Place::paper();
    place.refuses(&["config", "set", "rules", "markets=[\"ETH\",\"BTC\"]"], "as in markets=ETH,BTC");
    let output = place.run(&["config", "set", "rules", "stop=80"]);
    assert!(!text(&output.stderr).contains("markets"), "{}", text(&output.stderr));
}

#[test]
fn a_config_that_cannot_be_read_is_named_and_left_alone() {
    let place = Place::paper();
    let whole = place.config();
    for (broken, said) in [
        (format!("{whole}\nwhat"), "is not valid TOML: line "),
        (format!("unknown = 1\n{whole}"), "unknown: is not a key of guard.toml(5)"),
        (whole.replace("\"paper\"", "\"plastic\""), "mode = \"plastic\""),
        (String::new(), "holds no set-up"),
    ] {
        place.write_config(&broken);
        for args in
            [&["config", "set", "rules", "stop=1.5"][..], &["config", "set", "listen", "127.0.0.1:1"], &["pair"]]
        {
            place.refuses(args, said);
        }
    }
    place.write_config(&whole);
    let file = place.home().join("guard.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    place.refuses(&["config", "set", "rules", "stop=1.5"], "chmod go-w");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    place.refuses(&["config", "set", "rules", "stop=1.5"], "guard.toml is a folder, and a file belongs there: `mv ");
}

/// A start says its mode, and on mainnet a person's word and the key come with it.
#[test]
fn health_names_a_command_that_starts_this_home() {
    let modes = [
        (&["--network", "testnet"][..], "`svc-guard --home ".to_owned()),
        (
            &["--network", "mainnet", "--equity-cap", "1000", "--confirm-mainnet", ACCOUNT],
            format!("`SVC_MAINNET_CONFIRM={ACCOUNT} svc-guard --home "),
        ),
    ];
    for (mode, begin) in modes {
        let place = Place::empty();
        succeeded(&place.run(&init(&[mode, &["--no-key", "--listen", "127.0.0.1:9"]].concat())));
        let said = text(&place.run(&["health"]).stderr);
        let run =
            format!("{} run --network {} --key-stdin < FILE` starts the service", place.home().display(), mode[1]);
        assert!(said.contains(&format!("{begin}{run}")), "{said}");
    }
}
