//! Command lines that are almost right: each refusal names what was given, what is wrong with it, and the whole command, which
//! is taken as it stands.

use std::fs;
use std::process::Command;

use crate::place::*;

/// Types a command that a text names into a shell.
fn typed(place: &Place, said: &str, command: &str, changes: &[(&str, &str)]) -> (Option<i32>, String) {
    let whole = said.split('`').skip(1).step_by(2).find(|text| text.contains(command));
    let mut line = whole.unwrap_or_else(|| panic!("no {command:?} in {said}")).to_owned();
    assert!(line.contains(&format!("svc-guard --home {} ", place.home().display())), "{line}");
    changes.iter().for_each(|(from, to)| line = line.replace(from, to));
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_svc-guard")).parent().unwrap();
    let line = format!("PATH='{}':$PATH; {line}", program.display());
    let output = ended(Command::new("/bin/sh").args(["-c", &line]).current_dir(place.folder.path()));
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

#[test]
fn a_file_or_a_value_in_the_wrong_place_is_put_into_the_right_one() {
    let place = Place::paper();
    for (args, command) in [
        (&["client", "add", "new.key"][..], "client add --out new.key"),
        (&["key", "check", "my key"], "key check --key-stdin < 'my key'"),
        (&["key", "replace", "bot"], "key replace --key-stdin < bot"),
        (&["key", "replace", "--key-file", "bot"], "key replace --key-stdin < bot"),
        (&["key", "check", "--key-file=bot"], "key check --key-stdin < bot"),
        (&["notify", "test", "--state", "x"], "notify test"),
        (&["notify", "test", "--guard-url", "http://127.0.0.1:1"], "notify test"),
        (&["completions", "powershell"], "completions bash"),
    ] {
        let said = said(&place, args);
        let given = args.iter().find(|word| word.starts_with("--")).or(args.last()).unwrap();
        assert!(said.contains(given.split('=').next().unwrap()), "{args:?}: {said}");
        let whole = format!("`svc-guard --home {} {command}`", place.home().display());
        assert!(said.contains(&whole), "{args:?}: {said}");
    }
    let told = said(&place, &["client", "add", "new.key"]);
    assert_eq!(typed(&place, &told, "client add", &[]).0, Some(0));
    let told = said(&place, &["completions", "powershell"]);
    assert_eq!(typed(&place, &told, "completions", &[]).0, Some(0));
}

/// Several rules at once, a comma for a point, a stop beyond the widest, half a command: each with what is typed instead.
#[test]
fn a_rule_that_is_almost_right_is_told_with_the_command() {
    let place = Place::paper();
    let ours = |command: &str| format!("`svc-guard --home {} {command}`", place.home().display());
    for (args, told) in [
        (
            &["config", "set", "rules", "stop=3", "leverage=2"][..],
            format!("{}, then {}", ours("config set rules stop=3"), ours("config set rules leverage=2")),
        ),
        (&["config", "set", "rules", "collar=0,5"], "a point parts the digits: 0.5".to_owned()),
        (
            &["config", "set", "rules", "order_value=1,000"],
            "a thousand is written 1000, and this is 1000 then".to_owned(),
        ),
        (
            &["config", "set", "rules", "stop=6%"],
            format!("change max_stop first: {}", ours("config set rules max_stop=6")),
        ),
        (&["config", "set", "rules", "max_stop=1"], format!("change stop first: {}", ours("config set rules stop=1"))),
        (&["config", "set", "listen"], ours("config set listen 127.0.0.1:8547")),
        (&["config", "set", "ip_share"], ours("config set ip_share 1/2")),
        (&["config", "set", "equity_cap"], ours("config set equity_cap 10000")),
    ] {
        let said = said(&place, args);
        assert!(said.contains(&told), "{args:?}: {said}");
    }
    let wider = said(&place, &["config", "set", "rules", "stop=6"]);
    assert_eq!(typed(&place, &wider, "max_stop=6", &[]).0, Some(0));
    succeeded(&place.run(&["config", "set", "rules", "stop=6"]));
}

#[test]
fn a_value_that_is_kept_elsewhere_is_told_with_the_way() {
    let place = Place::paper();
    for (what, value, command) in [
        ("network", "testnet", "`svc-guard --home DIR init --network testnet`"),
        ("mode", "nonsense", "`svc-guard --home DIR init --network MODE`"),
        ("account", WALLET, "`svc-guard --home DIR init --account 0x14791697260e4c9a71f18484c9f997b308e59325`"),
    ] {
        let said = said(&place, &["config", "set", what, value]);
        assert!(said.contains(&format!("{what:?}")) && said.contains(command), "{said}");
    }
    let told = said(&place, &["config", "set", "clients", "x"]);
    assert_eq!(typed(&place, &told, "client add", &[("FILE", "other.key")]).0, Some(0), "{told}");
    let told = said(&place, &["config", "set", "api_wallet", "x"]);
    assert!(told.contains("key replace --key-stdin < FILE`"), "{told}");
    let told = said(&place, &["config", "set", "allowed_hosts", "x"]);
    assert!(told.contains("guard.toml(5)") && told.contains("guard.toml by hand"), "{told}");
    assert_eq!(typed(&place, &told, "check-config", &[]).0, Some(0));
    // What can be set can be asked for.
    assert_eq!(succeeded(&place.run(&["config", "get", "equity_cap"])), "none\n");
    assert_eq!(succeeded(&place.run(&["config", "get", "ip_share"])), "1\n");
    succeeded(&place.run(&["config", "set", "equity_cap", "5000"]));
    assert_eq!(succeeded(&place.run(&["config", "get", "equity_cap"])), "5000\n");
    succeeded(&place.run(&["config", "set", "equity_cap", "NONE"]));
    assert!(said(&place, &["config", "set", "equity_cap", "much"]).contains("such as 10000, or none"));
    let told = said(&place, &["config", "get", "clients"]);
    assert!(told.contains("\"clients\"") && told.contains("guard.toml"), "{told}");
}

#[test]
fn rules_that_are_nothing_or_two_at_once_name_the_commands() {
    let place = Place::paper();
    let told = said(&place, &["config", "set", "rules", ""]);
    assert_eq!(typed(&place, &told, "config set rules", &[]).0, Some(0), "{told}");
    let told = said(&place, &["config", "set", "rules", "stop=3,max_stop=4"]);
    for command in ["config set rules stop=3", "config set rules max_stop=4"] {
        assert_eq!(typed(&place, &told, command, &[]).0, Some(0), "{told}");
    }
    let told = said(&Place::empty(), &["init", "--non-interactive", "--account", ACCOUNT, "--rules", ""]);
    assert!(told.contains("@/dev/null") && !told.contains("@''"), "{told}");
    assert!(succeeded(&place.run(&["config", "set", "rules", "markets=ETH,BTC"])).contains("markets"));
}

#[test]
fn a_name_that_does_not_exist_names_the_homes_own_mode() {
    let place = Place::paper();
    for (name, command) in [
        ("resume", "journal-resume --mode paper --note TEXT`"),
        ("start", "run --network paper`"),
        ("journal", "journal-show --mode paper`"),
    ] {
        assert!(said(&place, &[name]).contains(command), "{}", said(&place, &[name]));
    }
    let told = said(&Place::empty(), &["resume"]);
    assert!(told.contains("MODE is paper, testnet or mainnet"), "{told}");
}

/// The home of a config that is named is not the one that has no name.
#[test]
fn a_config_without_its_home_is_told_which_home_it_is() {
    let place = Place::paper();
    let user = tempfile::tempdir().unwrap();
    let config = place.home().join("guard.toml");
    let asked = |args: &[&str]| {
        let mut command = bare(&["--config", config.to_str().unwrap()]);
        ended(command.args(args).env("HOME", user.path()))
    };
    let output = asked(&["client", "add", "--out", "b2"]);
    refused(&output, "--config names another config file, and no home");
    refused(&asked(&init(&[])), "--config names another config file, and no home");
    let told = text(&output.stderr);
    assert!(!told.contains("init`") && !told.contains("--force"), "{told}");
    assert_eq!(typed(&place, &told, "client add", &[]).0, Some(0), "{told}");
}

#[test]
fn a_key_in_another_dress_is_told_what_it_wears() {
    let place = Place::empty();
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    for (given, found) in [
        (format!("\"{FAKE_KEY}\""), "a text in quotes; leave them out"),
        (format!("'{FAKE_KEY}'"), "a text in quotes; leave them out"),
        (FAKE_KEY.replacen("0x", "0X", 1), "a text that begins with 0X; write 0x"),
        (format!("\u{feff}{FAKE_KEY}"), "a byte order mark"),
        (format!("{}\u{200b}{}", &FAKE_KEY[..20], &FAKE_KEY[20..]), "a letter that is not seen (U+200B)"),
    ] {
        refused(&place.run_with(&["key", "check", "--key-stdin"], &given), found);
    }
}

#[test]
fn the_owners_command_keeps_the_file_of_its_key() {
    let place = Place::paper();
    if !nix::unistd::Uid::effective().is_root() {
        return;
    }
    let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap();
    std::os::unix::fs::chown(place.home(), Some(nobody.uid.as_raw()), None).unwrap();
    refused(&place.run_with(&["key", "replace", "--key-stdin"], FAKE_KEY), "key replace --key-stdin < FILE`");
}

#[test]
fn a_new_file_for_a_key_may_stand_in_a_persons_own_folder() {
    let place = Place::paper();
    let own = tempfile::tempdir().unwrap();
    succeeded(&ended(place.command(&["client", "add", "--out=~/bot.key"]).env("HOME", own.path())));
    assert_eq!(mode(&own.path().join("bot.key")), 0o600);
}

#[test]
fn a_cap_that_mainnet_needs_stays_with_the_way_to_another() {
    let place = Place::empty();
    let args = ["--network", "mainnet", "--no-key", "--confirm-mainnet", ACCOUNT, "--equity-cap", "1000"];
    succeeded(&place.run(&init(&args)));
    let told = said(&place, &["config", "set", "equity_cap", "none"]);
    assert!(told.contains("mainnet needs an equity_cap"), "{told}");
    assert_eq!(typed(&place, &told, "config set equity_cap 1000", &[]).0, Some(0), "{told}");
}

#[test]
fn a_guard_on_another_address_is_not_blamed_on_a_flag() {
    let place = Place::empty();
    succeeded(&place.run(&init(&["--listen", "10.0.0.1:80"])));
    let told = said(&place, &["--home", place.home().to_str().unwrap(), "mcp", "--read-only"]);
    assert!(!told.contains("--guard-url \"") && told.contains("10.0.0.1:80"), "{told}");
    assert_eq!(typed(&place, &told, "config set listen", &[]).0, Some(0), "{told}");
}

#[test]
fn targets_that_are_wrong_are_named() {
    let place = Place::paper();
    let told = |config: &str| {
        let file = place.path("notify.toml");
        fs::write(&file, config).unwrap();
        said(&place, &["notify", "test", "--file", file.to_str().unwrap()])
    };
    let one = "[[target]]\nname = \"desk\"\nform = \"json\"\nurl = \"http://127.0.0.1:9/\"\n";
    let said = told(&format!("{one}{one}"));
    assert!(said.contains("two targets have the name \"desk\""), "{said}");
    let telegram = "[[target]]\nname = \"a\"\nform = \"telegram\"\ntoken = { file = \"/x\" }\nchat = 12345\n";
    let said = told(telegram);
    assert!(said.contains("chat must be a text in quotes") && !said.contains("telegram needs chat"), "{said}");
}
