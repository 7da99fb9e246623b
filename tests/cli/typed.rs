//! Refusals name the words that were typed and the place, and propose commands that work as they stand.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output, Stdio};

use crate::place::*;

/// The program with its standard output closed, as a shell closes it.
fn closed(place: &Place, args: &[&str]) -> Output {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "exec \"$0\" \"$@\" >&-", env!("CARGO_BIN_EXE_svc-guard")]).args(args);
    shell.env("SVC_GUARD_HOME", place.home()).stdin(Stdio::null());
    ended(&mut shell)
}

#[test]
fn a_secret_that_nobody_would_see_is_never_made() {
    let place = Place::paper();
    let before = place.listing();
    refused(&closed(&place, &["pair"]), "nobody would see the client key, which is shown once; nothing was done");
    refused(&closed(&place, &["pair"]), "client add --out FILE` writes the key to a new file");
    assert!(place.listing() == before, "a client was left behind");
    let null = place.command(&["pair"]).stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    refused(&null, "nobody would see the client key");
    assert!(place.listing() == before, "a client was left behind");
    let place = Place::empty();
    let before = place.listing();
    refused(&closed(&place, &init(&[])), "init --client-key-out FILE` writes the key to a new file");
    assert!(place.listing() == before);
    // What shows no secret needs nobody to look.
    let out = place.path("bot");
    assert_eq!(closed(&place, &init(&["--client-key-out", out.to_str().unwrap()])).status.code(), Some(0));
    assert_eq!(closed(&place, &["client", "add", "--out", place.path("b2").to_str().unwrap()]).status.code(), Some(0));
}

#[test]
fn what_was_changed_is_told_also_where_standard_output_is_closed() {
    let place = Place::paper();
    let set = closed(&place, &["config", "set", "listen", "127.0.0.1:9"]);
    assert_eq!(set.status.code(), Some(0));
    let told = text(&set.stderr);
    assert!(told.contains("standard output is closed: listen") && told.contains("-> 127.0.0.1:9\n"), "{told}");
    // Who sends it nowhere wants none of it.
    let null = place.command(&["config", "set", "listen", "127.0.0.1:8"]).stdout(Stdio::null()).output().unwrap();
    assert_eq!((null.status.code(), text(&null.stderr).as_str()), (Some(0), ""));
    // So does a program that starts this one with nowhere to write to, which looks the same as a closed one: nothing is refused for it.
    for asked in
        [&["config", "get", "listen"][..], &["journal-show", "--mode", "paper"], &["report", "--mode", "paper"]]
    {
        let nowhere = fs::OpenOptions::new().read(true).write(true).open("/dev/null").unwrap();
        let done = place.command(asked).stdout(nowhere).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{asked:?}: {}", text(&done.stderr));
    }
}

/// A path that no command could name is refused at the first one, and what it would have made is not there.
#[test]
fn a_home_whose_path_is_no_text_is_refused() {
    let place = Place::empty();
    let home = place.folder.path().join(OsStr::from_bytes(b"b\xffd"));
    fs::create_dir(&home).unwrap();
    fs::write(home.join("guard.toml"), NO_VENUE).unwrap();
    let before = place.listing();
    let by_flag = |args: &[&str]| {
        let mut command = bare(&[]);
        command.arg("--home").arg(&home).args(args);
        ended(&mut command)
    };
    for args in [&init(&[])[..], &["check-config"], &["run"], &["pair"], &["notify", "test"]] {
        refused(&by_flag(args), "b\\xffd\" is no UTF-8 text, so no command that names it could be typed again");
        refused(&ended(bare(args).env("SVC_GUARD_HOME", &home)), "--home DIR");
    }
    let config: OsString = home.join("guard.toml").into();
    let output = ended(place.command(&["check-config"]).arg("--config").arg(config));
    refused(&output, "guard.toml\" is no UTF-8 text");
    assert!(place.listing() == before);
    // Who pulls the switch of such a home is heard all the same.
    let killed = by_flag(&["kill", "--reason", "x"]);
    assert!(killed.status.code() == Some(1) && home.join("kill").exists(), "{}", text(&killed.stderr));
}

/// No text of a command takes a terminal over, whatever the folder is called.
#[test]
fn a_home_whose_path_has_a_control_character_is_refused() {
    let place = Place::empty();
    for (name, shown) in [("a\u{1b}[31mb", "a\\x1b[31mb"), ("a\nb", "a\\x0ab"), ("a\u{9b}b", "a\\xc2\\x9bb")] {
        let home = place.folder.path().join(name);
        fs::create_dir(&home).unwrap();
        fs::write(home.join("guard.toml"), NO_VENUE).unwrap();
        let run = |args: &[&str]| {
            let mut command = bare(&[]);
            let output = ended(command.arg("--home").arg(&home).args(args));
            for said in [&output.stdout, &output.stderr] {
                assert!(!text(said).trim_end().contains(char::is_control), "{args:?}: {:?}", text(said));
            }
            output
        };
        for args in [&init(&[])[..], &["check-config"], &["run"], &["client", "add", "--out", "k"], &["notify", "test"]]
        {
            refused(
                &run(args),
                &format!("{shown}\" has a control character, so no command that names it could be typed again"),
            );
        }
        // Who pulls its switch is heard, and the way out can be typed.
        let killed = text(&run(&["kill", "--reason", "x"]).stderr);
        assert!(home.join("kill").exists() && killed.contains(&format!("{shown}/kill'")), "{killed}");
        _ = run(&["health"]);
    }
    let out = place.path("k\u{1b}[2J");
    let add = place.command(&["client", "add", "--out"]).arg(&out).output().unwrap();
    refused(&add, "has a control character");
}

#[test]
fn words_that_are_no_text_are_named() {
    let place = Place::paper();
    let mut command = place.command(&["journal-init", "--mode", "paper", "--note"]);
    let said = ended(command.arg(OsStr::from_bytes(b"caf\xe9")));
    refused(&said, "argument 5, \"caf\\xe9\" is no UTF-8 text; write it in UTF-8");
    let mut command = place.command(&["journal-init", "--mode"]);
    let said = ended(command.arg(OsStr::from_bytes(b"\xff")).arg("--note").arg(OsStr::from_bytes(b"\xfe")));
    refused(&said, "argument 3, \"\\xff\" and argument 5, \"\\xfe\" are no UTF-8 text");
}

#[test]
fn a_rule_keeps_the_value_that_was_typed() {
    let place = Place::paper();
    place.refuses(&["config", "set", "stop=3", "x"], "config set rules stop=3` changes it");
    place.refuses(&["config", "set", "stop", "3"], "config set rules stop=3` changes it");
}

/// What is proposed for a journal that is not there is what works in this home.
#[test]
fn another_modes_journal_is_not_proposed_to_be_made_here() {
    let place = Place::paper();
    for command in ["journal-show", "report"] {
        let given = [command, "--mode", "testnet"];
        place.refuses(&given, "this home is set up for paper, whose journal `");
        let said = text(&place.run(&given).stderr);
        assert!(!said.contains("journal-init"), "{said}");
        let (_, proposed) = said.split_once("svc-guard --home ").unwrap();
        let words: Vec<&str> = proposed.split('`').next().unwrap().split(' ').skip(1).collect();
        assert_eq!(words, [command, "--mode", "paper"], "{said}");
        succeeded(&place.run(&words));
    }
    fs::remove_dir_all(place.home().join("journals")).unwrap();
    place.refuses(&["report", "--mode", "testnet"], "this home is set up for paper; --home DIR names another home");
    place.refuses(&["report", "--mode", "paper"], "journal-init --mode paper --note TEXT` starts one");
}

#[test]
fn a_resume_names_the_mode_that_was_given() {
    let place = Place::paper();
    let given = ["journal-resume", "--mode", "paper", "--note", "looked"];
    place.refuses(&given, "there is no drawdown halt to clear");
    place.refuses(&given, "journal-show --mode paper` prints the records");
}

/// The parser takes the first letter of `-home` for a call for help, and would end well without having done anything.
#[test]
fn an_option_with_one_dash_is_no_call_for_help() {
    let place = Place::paper();
    let said = |args: &[&str]| {
        let output = place.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        text(&output.stderr)
    };
    let home = place.home();
    let kill = said(&["-home", home.to_str().unwrap(), "kill", "--reason", "x"]);
    assert!(kill.contains("NOT pulled") && kill.contains("-home") && kill.contains("--home"), "{kill}");
    let health = said(&["-home", home.to_str().unwrap(), "health"]);
    assert!(health.contains("two dashes: --home") && !health.contains("NOT pulled"), "{health}");
    for args in [["-h"], ["--help"], ["--version"]] {
        assert_eq!(place.run(&args).status.code(), Some(0), "{args:?}");
    }
}
