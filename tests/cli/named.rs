//! Refusals that name the value that was given, and the exact command that does what was meant.

use crate::place::*;

#[test]
fn rules_that_are_no_code_are_told_as_they_were_given() {
    let place = Place::paper();
    for given in ["foo", "rules.toml"] {
        place.refuses(&["config", "set", "rules", given], &format!("config set rules @{given}`"));
    }
    place.refuses(&["config", "set", "stop", "3"], "config set rules stop=VALUE`");
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
}

#[test]
fn a_command_that_is_named_can_be_typed() {
    let place = Place::paper();
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
    refused(&said, &format!("{file} is no folder"));
}

#[test]
fn an_open_address_is_reached_by_that_of_this_machine() {
    let said = Place::empty().run(&init(&["--listen", "0.0.0.0:25112"]));
    let (told, warned) = (succeeded(&said), text(&said.stderr));
    assert!(told.contains("give the bot http://127.0.0.1:25112 as its base URL"), "{told}");
    assert!(warned.contains("0.0.0.0:25112 is not this machine's alone"), "{warned}");
}
