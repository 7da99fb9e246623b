//! Slips of a person: each refusal names the command that was meant, and that command is taken as it stands.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use crate::place::*;

/// The first command that a refusal proposes, as words behind the home that it names.
fn proposed(place: &Place, args: &[&str]) -> Vec<String> {
    let output = place.run(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    let said = text(&output.stderr);
    let (_, behind) = said.split_once("`svc-guard --home ").unwrap_or_else(|| panic!("{args:?}: {said}"));
    let (home, command) = behind.split('`').next().unwrap().split_once(' ').unwrap();
    assert_eq!(home, place.home().to_str().unwrap(), "{said}");
    command.split(' ').map(|word| word.replace("TEXT", "looked")).collect()
}

#[test]
fn what_is_proposed_for_a_slip_is_taken_as_it_stands() {
    let place = Place::paper();
    for (args, wanted) in [
        (&["config", "set", "rules", "stop:3"][..], "config set rules stop=3"),
        (&["config", "set", "rules", "stop", "3"], "config set rules stop=3"),
        (&["config", "set", "stop", "3"], "config set rules stop=3"),
        (&["config", "rules", "stop=3"], "config set rules stop=3"),
        (&["config", "get"], "config get rules"),
        (&["config", "set"], "config set rules stop=1.5"),
        (&["journal-show"], "journal-show --mode paper"),
        (&["report"], "report --mode paper"),
        (&["journal-init", "--mode", "testnet", "--note", "x"], "journal-show --mode paper"),
        (&["journal-resume", "--mode", "mainnet", "--note", "x"], "journal-show --mode paper"),
    ] {
        let words = proposed(&place, args);
        assert_eq!(words.join(" "), wanted, "{args:?}");
        succeeded(&place.run(&words.iter().map(String::as_str).collect::<Vec<_>>()));
    }
}

#[test]
fn another_modes_journal_is_no_reason_to_resume_or_begin_what_needs_none() {
    let place = Place::paper();
    place.refuses(&["journal-init", "--mode", "testnet", "--note", "x"], "prints that one's, which needs none of it");
    fs::remove_dir_all(place.home().join("journals")).unwrap();
    let begun = "journal-init --mode paper --note TEXT` is for that one";
    place.refuses(&["journal-init", "--mode", "testnet", "--note", "x"], begun);
    let begun = "that one has no journal yet: `svc-guard --home";
    place.refuses(&["journal-resume", "--mode", "testnet", "--note", "x"], begun);
}

#[test]
fn a_command_that_is_not_whole_is_told_with_one_that_is() {
    let place = Place::paper();
    for (args, whole) in [
        (&["key", "replace"][..], "key replace --key-stdin < FILE`"),
        (&["key"], "key check --key-stdin < FILE`"),
        (&["client", "add"], "client add --out FILE`"),
        (&["journal-init", "--note", "x"], "journal-init --mode paper --note 'first start'`"),
        (&["journal-show"], "journal-show --mode paper`"),
        (&["report"], "report --mode paper`"),
    ] {
        place.refuses(args, &format!("; a whole one is `svc-guard --home {} {whole}", place.home().display()));
    }
}

#[test]
fn whoever_meant_to_kill_hears_that_nothing_was_pulled() {
    let place = Place::paper();
    for args in
        [&["kil", "--reason", "x"][..], &["Kill", "--reason", "x"], &["stop", "--reason", "x"], &["--reason", "x"]]
    {
        place.refuses(args, "the kill switch is NOT pulled by this: ");
        place.refuses(args, "kill --reason x` pulls it");
    }
    let nowhere = place.path("nowhere");
    let said = ended(bare(&["--home", nowhere.to_str().unwrap(), "kill", "--reason", "x"]).env_remove("HOME"));
    refused(&said, &format!("there is no folder {}. A guard that started there", nowhere.display()));
    assert!(!text(&said.stderr).contains("write that file yourself"), "{}", text(&said.stderr));
}

/// Without the variable a person's own folder is the one of the user database, and is named.
#[test]
fn an_own_folder_needs_no_variable() {
    let id = text(&Command::new("id").arg("-u").output().unwrap().stdout);
    let entry = text(&Command::new("getent").args(["passwd", id.trim()]).output().unwrap().stdout);
    let own = entry.split(':').nth(5).unwrap();
    for variable in [None, Some("")] {
        let mut command = bare(&["--home", "~/of-no-guard", "check-config"]);
        command.env_remove("HOME");
        variable.into_iter().for_each(|value| _ = command.env("HOME", value));
        refused(&ended(&mut command), &format!("{own}/of-no-guard"));
    }
}

#[test]
fn a_key_that_is_typed_as_a_word_is_told_to_stand_in_the_history() {
    let place = Place::paper();
    let bare_key = FAKE_KEY.trim_start_matches("0x");
    for args in [&["key", "replace", FAKE_KEY][..], &["key", "check", "--key-stdin", bare_key]] {
        place.refuses(
            args,
            "there is no argument (64 hex digits, as of a key): what is typed there stands in the shell's history",
        );
        assert!(!text(&place.run(args).stderr).contains(bare_key));
    }
    let long = format!("{ACCOUNT}1");
    place.refuses(&["init", "--account", &long], "(41 hex digits, more than an address has)");
    place.refuses(&["init", "--account", &format!(" {ACCOUNT}")], "without the blanks around it");
}

/// From a folder whose name is no text another one is named as it can be from anywhere.
#[test]
fn a_home_is_named_from_a_folder_whose_name_is_no_text() {
    let place = Place::paper();
    let odd = place.folder.path().join(OsStr::from_bytes(b"b\xffd"));
    fs::create_dir(&odd).unwrap();
    let from_there = |home: &str, args: &[&str]| {
        let mut command = bare(&["--home", home]);
        ended(command.args(args).current_dir(&odd))
    };
    let home = format!("../{}", place.home().file_name().unwrap().to_str().unwrap());
    succeeded(&from_there(&home, &["config", "get", "mode"]));
    let said = from_there(&home, &["config", "set", "stop", "3"]);
    refused(
        &said,
        &format!("`svc-guard --home {} config set rules stop=3`", place.home().canonicalize().unwrap().display()),
    );
    // One that is to be made.
    let real = place.folder.path().canonicalize().unwrap();
    refused(&from_there("../new", &["check-config"]), &format!("{}/new/guard.toml does not exist", real.display()));
    // What is in there is named by no command, also where it is only asked for.
    let said = from_there(".", &["health"]);
    assert_eq!(said.status.code(), Some(1));
    assert!(text(&said.stderr).contains("b\\xffd\" is no UTF-8 text"), "{}", text(&said.stderr));
    let mut add = place.command(&["client", "add", "--out"]);
    refused(&ended(add.arg(odd.join("key"))), "is no UTF-8 text, so no command that names it could be typed again");
    assert!(fs::read_dir(&odd).unwrap().next().is_none(), "a key was left there");
}

/// Open to be read, as by a slip in a redirection: what is written there goes nowhere, and the system says nothing of it.
#[test]
fn a_standard_output_that_is_only_read_shows_nothing() {
    let place = Place::paper();
    let before = place.listing();
    for (args, said) in [
        (&["pair"][..], "nobody would see the client key"),
        (&["config", "get", "rules"], "standard output cannot be written"),
        (&["check-config"], "standard output cannot be written"),
        (&["journal-show", "--mode", "paper"], "standard output cannot be written"),
        (&["report", "--mode", "paper"], "standard output cannot be written"),
    ] {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "exec \"$0\" \"$@\" 1</dev/zero", env!("CARGO_BIN_EXE_svc-guard")]).args(args);
        shell.env("SVC_GUARD_HOME", place.home()).stdin(Stdio::null());
        refused(&ended(&mut shell), said);
    }
    assert!(place.listing() == before);
}

#[test]
fn a_mode_and_a_wish_of_other_programs_are_answered_with_the_command() {
    let place = Place::paper();
    for (typed, told) in [
        (&["run", "testnet"][..], " run --network testnet`"),
        (&["run", "--paper"], " run --network paper`"),
        (&["run", "--mode", "testnet"], " run --network testnet`"),
        (&["run", "--mode=mainnet"], " run --network mainnet`"),
        (&["init", "testnet"], " init --network testnet`"),
        (&["run", "-d"], "runs behind it: `systemctl start svc-guard`"),
        (&["run", "--daemon"], "runs at its terminal until SIGTERM or Ctrl-C"),
        (&["run", "elsewhere"], "unexpected argument 'elsewhere' found"),
        (&["init", "-d"], "unexpected argument '-d' found"),
        (&["pair", "--out", "b"], " client add --out b`"),
        (
            &["report", "--mode", "paper", "--day", "2026-11-28"],
            " report --mode paper --from 2026-11-28 --to 2026-11-28`",
        ),
        (&["health", "--json"], "GET /healthz answers in JSON"),
    ] {
        place.refuses(typed, told);
    }
}

/// A reason behind another command is no wish to kill: the answer is about that command.
#[test]
fn a_reason_of_another_command_is_no_kill() {
    let place = Place::paper();
    for (args, told) in [
        (
            &["journal-resume", "--mode", "paper", "--reason", "looked into it"][..],
            "journal-resume --mode paper --note 'looked into it'` is meant",
        ),
        (&["journal-init", "--reason", "x", "--mode", "paper"], "journal-init --note x --mode paper` is meant"),
        (&["resume", "--reason", "x"], "journal-resume --mode paper --note TEXT`"),
        (&["reset", "--reason", "x"], "journal-resume --mode paper --note TEXT`"),
        (&["clear", "--reason=x"], "journal-resume --mode paper --note TEXT`"),
        (&["start", "--reason", "x"], "run --network paper`"),
        (&["restart", "--reason", "x"], "run --network paper` again"),
        (&["unpause", "--reason", "x"], "journal-resume --mode paper --note TEXT`"),
        (&["run", "--reason", "x"], "unexpected argument '--reason'"),
        (&["client", "remove", "0x1", "--reason", "stolen"], "remove the address from `clients`"),
    ] {
        place.refuses(args, told);
        let said = text(&place.run(args).stderr);
        assert!(!said.contains("kill"), "{args:?}: {said}");
    }
}

/// Who wants the switch released is never told how to pull it.
#[test]
fn a_kill_that_was_to_be_undone_names_the_kill_file() {
    let place = Place::paper();
    let released = format!("by `rm {}/kill`", place.home().display());
    for line in [
        "kill off",
        "kill release",
        "kill reset",
        "kill clear",
        "kill undo",
        "kill --release",
        "kill --unkill",
        "kill --off",
        "killswitch reset",
        "kill-switch off",
        "unkil",
        "un-kill",
        "help unkill",
        "Unkill",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        place.refuses(&args, &released);
        let said = text(&place.run(&args).stderr);
        assert!(!said.contains("pulls it") && said.contains(&format!("there is no `{line}`")), "{line}: {said}");
    }
    place.refuses(&["kill", "status"], "/guard/status`");
    assert!(!text(&place.run(&["kill", "status"]).stderr).contains("pulls it"));
    // With a reason it is a kill.
    place.refuses(&["kill", "off", "--reason", "x"], "kill --reason 'off x'` pulls it");
}
