//! Refusals that name the value that was given, and the exact command that does what was meant.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::place::*;

#[test]
fn rules_that_are_no_code_are_told_as_they_were_given() {
    let place = Place::paper();
    for given in ["foo", "rules.toml"] {
        place.refuses(&["config", "set", "rules", given], &format!("config set rules @{given}`"));
    }
    place.refuses(&["config", "set", "stop", "3"], "config set rules stop=3`");
    let mut set_up = Place::empty().command(&["init", "--non-interactive", "--account", ACCOUNT]);
    let said = set_up.env("SVC_GUARD_RULES", "x.toml").output().unwrap();
    refused(&said, "SVC_GUARD_RULES=@x.toml");
}

#[test]
fn a_variable_that_cannot_stand_is_shown() {
    let place = Place::paper();
    for (name, value) in [
        ("SVC_GUARD_LISTEN", "foo"),
        ("SVC_GUARD_NETWORK", "main"),
        ("SVC_GUARD_IP_SHARE", "3"),
        ("SVC_GUARD_ACCOUNT", "0x1"),
        ("SVC_GUARD_CONTAINER", "maybe"),
    ] {
        let said = place.command(&["run"]).env(name, value).output().unwrap();
        refused(&said, &format!("{name}: {value:?} "));
    }
    let said = place.run(&["health", "--url", "foo"]);
    assert!(text(&said.stderr).contains("--url \"foo\" must be http://host:port"), "{said:?}");
    let said = place.run(&["kill", "--reason", "x", "--wait", "1.5"]);
    let said = text(&said.stderr);
    assert!(said.contains("NOT pulled") && said.contains("'1.5'") && said.contains("whole seconds"), "{said}");
}

#[test]
fn a_journal_of_another_mode_and_one_that_is_there_are_named() {
    let place = Place::paper();
    place.refuses(&["journal-init", "--mode", "paper", "--note", "x"], "journal-show --mode paper`");
    place.refuses(
        &["journal-init", "--mode", "testnet", "--note", "x"],
        "--mode testnet is not the config's mode, paper",
    );
    let home = place.home().display().to_string();
    for command in ["journal-init", "journal-resume"] {
        // Neither would work there: it has a journal, and no halt.
        let way = format!("`svc-guard --home {home} journal-show --mode paper` prints that one's");
        place.refuses(&[command, "--mode", "testnet", "--note", "x"], &way);
    }
}

#[test]
fn a_home_that_is_a_file_names_the_folder_that_it_is_in() {
    let place = Place::paper();
    let file = place.home().join("guard.toml").display().to_string();
    let way = format!(
        "{file} is a file, and a home is the folder that one is in: `svc-guard --home {} check-config`",
        place.home().display()
    );
    for words in
        [&["check-config"][..], &["run"], &["report", "--mode", "paper"], &["config", "set", "rules", "stop=1"]]
    {
        place.refuses(&[&["--home", file.as_str()], words].concat(), &way);
    }
}

#[test]
fn a_file_of_rules_that_cannot_stand_is_named() {
    let place = Place::paper();
    let file = place.path("wrong.toml");
    fs::write(&file, "stop = '80'\n").unwrap();
    let given = format!("@{}", file.display());
    place.refuses(&["config", "set", "rules", &given], &format!("config set rules {given}: stop = "));
}

#[test]
fn a_command_is_quoted_for_a_shell_whatever_the_path_is() {
    for name in ["sp ace", "svc-guard copy", "it's svc-guard too"] {
        let place = Place::paper();
        let home = place.path(name);
        fs::rename(place.home(), &home).unwrap();
        let config = home.join("guard.toml");
        let check = || ended(&mut bare(&["--home", home.to_str().unwrap(), "check-config"]));
        fs::set_permissions(&config, fs::Permissions::from_mode(0o666)).unwrap();
        let said = check();
        refused(&said, "run `chmod go-w '");
        let said = text(&said.stderr);
        let typed = said.split('`').nth(1).unwrap();
        let status = std::process::Command::new("sh").args(["-c", typed]).status().unwrap();
        assert!(status.success(), "{typed}");
        succeeded(&check());
        // The home of a suggested command is that one, as one word.
        let again = ended(&mut bare(&[&["--home", home.to_str().unwrap()], &init(&[])[..]].concat()));
        let shown =
            format!("`svc-guard --home '{}' config set --help`", home.display().to_string().replace('\'', r"'\''"));
        refused(&again, &shown);
    }
}

#[test]
fn the_unit_of_another_rule_is_refused() {
    let place = Place::paper();
    let set = |rule: &str| ["config", "set", "rules", rule].map(str::to_owned);
    for (rule, said) in [
        ("daily_loss=50 USDC", "daily_loss takes percent, not USDC; daily_loss=5 is the default"),
        ("order_value=50%", "order_value takes USDC, not percent"),
        ("markets=none", "markets is never none; markets=all is the default"),
    ] {
        place.refuses(&set(rule).each_ref().map(String::as_str), said);
    }
}

#[test]
fn a_command_that_is_named_can_be_typed() {
    let place = Place::paper();
    place.refuses(&init(&[]), "config set --help`");
    // Paper mode has no key to replace, and refuses to.
    assert!(!text(&place.run(&init(&[])).stderr).contains("key replace"));
    succeeded(&place.run(&["config", "set", "--help"]));
    place.write_config(&place.config().replace("\"paper\"", "\"testnet\"").replace("\"mainnet\"", "\"testnet\""));
    place.refuses(&init(&[]), "key replace --key-stdin < FILE`");
    place.refuses(&["mcp"], "client add --out FILE`");
    let file = place.path("nofile").display().to_string();
    place.refuses(&["mcp", "--key-file", &file], &format!("client add --out {file}`"));
}

#[test]
fn what_is_not_there_is_said_not_to_be() {
    let place = Place::paper();
    let (config, home) = (place.path("nofile").display().to_string(), place.home());
    place.refuses(&["--config", &config, "check-config"], "nofile does not exist; `svc-guard");
    let out = place.path("nodir").join("x").display().to_string();
    place.refuses(&["client", "add", "--out", &out], &format!("there is no folder {}", place.path("nodir").display()));
    let file = home.join("guard.toml").display().to_string();
    let said = bare(&["--home", &file, "check-config"]).output().unwrap();
    refused(&said, &format!("{file} is a file, and a home is the folder that one is in"));
}

#[test]
fn an_open_address_is_reached_by_that_of_this_machine() {
    let said = Place::empty().run(&init(&["--listen", "0.0.0.0:25112"]));
    let (told, warned) = (succeeded(&said), text(&said.stderr));
    assert!(told.contains("give the bot http://127.0.0.1:25112 as its base URL"), "{told}");
    assert!(warned.contains("0.0.0.0:25112 is not this machine's alone"), "{warned}");
}
