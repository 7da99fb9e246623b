//! Advice that leads somewhere: nothing that was typed is dropped from it, what it names is there, and it does not lead back to
//! where it was given.

use std::fs;

use crate::place::*;

fn said(place: &Place, args: &[&str]) -> String {
    let done = place.run(args);
    assert_eq!(done.status.code(), Some(2), "{args:?}: {}", text(&done.stderr));
    text(&done.stderr)
}

#[test]
fn no_word_of_a_change_of_rules_is_dropped() {
    let place = Place::paper();
    for (line, told) in [
        ("config set rules markets=BTC ETH SOL", "config set rules markets=BTC,ETH,SOL` changes it"),
        ("config set markets BTC ETH", "config set rules markets=BTC,ETH` changes it"),
        ("rules set stop=2", "config set rules stop=2` changes it"),
        ("rules set stop 2", "config set rules stop=2` changes it"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        assert!(said(&place, &args).contains(told), "{line}: {}", said(&place, &args));
    }
    let two = said(&place, &["config", "set", "stop", "3", "leverage", "2"]);
    assert!(two.contains("config set rules stop=3`, then `") && two.contains("config set rules leverage=2`"), "{two}");
}

#[test]
fn a_group_that_there_is_not_is_named_as_it_was_typed() {
    let place = Place::paper();
    for (line, told) in [
        ("journal resume", "journal-resume --mode paper --note TEXT`"),
        ("journal init", "journal-init --mode paper --note TEXT`"),
        ("journal show", "journal-show --mode paper`"),
        ("rules show", "config get rules`"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let said = said(&place, &args);
        assert!(said.contains(&format!("there is no `{line}`")) && said.contains(told), "{line}: {said}");
    }
}

#[test]
fn a_config_in_the_folder_at_hand_is_looked_for_there() {
    let place = Place::paper();
    let mut command = place.command(&["--config", "nofile.toml", "check-config"]);
    let output = ended(command.current_dir(place.folder.path()));
    refused(&output, "nofile.toml does not exist; ");
    assert!(!text(&output.stderr).contains("nor does its folder"), "{}", text(&output.stderr));
}

/// A config that cannot be read is mended by hand: the commands that would write it read it first.
#[test]
fn no_advice_for_a_broken_config_reads_it_first() {
    let place = Place::paper();
    let whole = place.config();
    let mode = whole.lines().find(|line| line.starts_with("mode")).unwrap();
    place.write_config(&whole.replace(mode, ""));
    let told = said(&place, &["check-config"]);
    assert!(told.contains("mode: is missing") && told.contains("guard.toml(5)"), "{told}");
    assert!(told.contains("move the file away"), "{told}");
    fs::rename(place.home().join("guard.toml"), place.path("aside")).unwrap();
    succeeded(&place.run(&init(&["--client-key-out", place.path("again").to_str().unwrap()])));
    let rules = whole.lines().find(|line| line.starts_with("rules")).unwrap();
    place.write_config(&whole.replace(rules, "rules = { stop = 2 }"));
    let told = said(&place, &["check-config"]);
    let code = told.split('"').find(|part| part.starts_with("sr1_")).unwrap().to_owned();
    place.write_config(&whole.replace(rules, &format!("rules = \"{code}\"")));
    fs::write(place.path("table"), "stop = \"2\"\n").unwrap();
    let file = format!("@{}", place.path("table").display());
    succeeded(&place.run(&["config", "set", "rules", &file]));
    assert!(told.contains("config set rules @FILE"), "{told}");
}

#[test]
fn a_set_up_over_another_mode_tells_of_it() {
    let place = Place::empty();
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    let done = place.run(&init(&["--force"]));
    succeeded(&done);
    let told = text(&done.stderr);
    assert!(told.contains("mode was testnet and is paper now") && told.contains("guarded by nobody"), "{told}");
    assert!(told.contains("init --force --network testnet`"), "{told}");
}

/// A key that was put aside by a command that was cut off is named, not only missed.
#[test]
fn a_key_that_stands_aside_is_named() {
    let place = Place::empty();
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    let aside = place.home().join("api-wallet-key.old-2");
    fs::write(&aside, "x\n").unwrap();
    let told = said(&place, &["run", "--network", "testnet"]);
    let key = place.home().join("api-wallet-key");
    assert!(told.contains(&format!("`mv {} {}`", aside.display(), key.display())), "{told}");
}

/// Mainnet's commands are whole: with the person's word, and with the key where it is not at hand.
#[test]
fn what_starts_or_resumes_mainnet_is_told_with_what_it_needs() {
    let place = Place::empty();
    let flags = ["--network", "mainnet", "--no-key", "--confirm-mainnet", ACCOUNT, "--equity-cap", "1000"];
    succeeded(&place.run(&init(&flags)));
    let confirmed = format!("`SVC_MAINNET_CONFIRM={ACCOUNT} svc-guard --home {} ", place.home().display());
    for args in [&["start"][..], &["restart"], &["run", "mainnet"], &["run", "--mainnet"]] {
        let told = said(&place, args);
        assert!(told.contains(&format!("{confirmed}run --network mainnet --key-stdin < FILE`")), "{args:?}: {told}");
    }
    for args in [&["resume"][..], &["reset"], &["journal-resume", "--mode", "mainnet"], &["journal-init"]] {
        let told = said(&place, args);
        assert!(told.contains(&format!("{confirmed}journal-")), "{args:?}: {told}");
    }
}

/// Where only one word is wrong, the rest of the command is neither dropped nor taken for something else.
#[test]
fn a_word_that_is_not_taken_is_no_other_word() {
    let place = Place::paper();
    for (line, told) in [
        ("key replace --key-stdin --nostore", "--no-store"),
        ("client add --name bob --out b.key", "client add --out b.key`"),
        ("check-config explain", "check-config --explain`"),
        ("config set rules --stop 3", "config set rules stop=3` changes it"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        assert!(said(&place, &args).contains(told), "{line}: {}", said(&place, &args));
    }
    let told = said(&place, &["config", "set", "rules", "stop=1", "--dry-run"]);
    assert!(told.contains("--dry-run") && !told.contains("is meant"), "{told}");
    let told = said(&place, &["key", "replace", "--key-stdin", "--nostore"]);
    assert!(!told.contains("key replace --key-stdin < FILE`"), "{told}");
}
