//! Mistakes that people make: each refusal names what was given, what is wrong with it, and what mends it.

use std::fs;

use crate::place::*;

/// `init` for the test network with these words on standard input; what it says.
fn key_given(place: &Place, account: &str, typed: &str) -> String {
    let args =
        ["init", "--non-interactive", "--rules", &rules(), "--account", account, "--network", "testnet", "--key-stdin"];
    let output = place.run_with(&args, typed);
    refused(&output, "");
    text(&output.stderr)
}

#[test]
fn what_is_no_key_is_named_by_its_kind() {
    let place = Place::empty();
    let words = ["word"; 12].join(" ");
    for (typed, found) in [
        ("\n", "holds no key but an empty line"),
        ("0x0123\n", "but 4 hex digits"),
        (ACCOUNT, "but an address (40 hex digits)"),
        (words.as_str(), "but 12 words, as a seed phrase"),
        ("two words", "but 2 words"),
        ("xyz", "but a text that is not hex"),
    ] {
        let said = key_given(&place, ACCOUNT, typed);
        assert!(said.contains(found) && said.contains("0x and 64 hex digits"), "{said}");
        assert!(!said.contains("word word") && !said.contains("0123"), "{said}");
    }
}

#[test]
fn an_api_wallet_named_as_the_account_is_told_apart() {
    let said = key_given(&Place::empty(), WALLET, FAKE_KEY);
    for part in
        [WALLET, "if 0x14791697260e4c9a71f18484c9f997b308e59325 is your API wallet, name the main account", "--account"]
    {
        assert!(said.contains(part), "{said}");
    }
}

/// Once the home is set up its account is no flag any more: each command that takes the key says what to do for this home.
#[test]
fn an_api_wallet_that_a_home_names_as_its_account_is_told_apart() {
    let place = Place::empty();
    let account = ["--account", WALLET, "--network", "testnet", "--no-key"];
    succeeded(&place.run(&[&["init", "--non-interactive", "--rules", &rules()][..], &account].concat()));
    for command in [&["run", "--network", "testnet"][..], &["key", "check"], &["key", "replace"]] {
        let output = place.run_with(&[command, &["--key-stdin"]].concat(), FAKE_KEY);
        refused(&output, &format!("if {WALLET} is your API wallet, the account is another one"));
        let said = text(&output.stderr);
        for part in ["main account that approved it", " init --force`", " key replace --key-stdin < FILE`"] {
            assert!(said.contains(part), "{command:?}: {said}");
        }
        assert!(!said.contains("--account"), "{command:?} has no such flag: {said}");
    }
}

#[test]
fn a_key_on_the_command_line_is_not_repeated() {
    let place = Place::empty();
    for flag in ["--key", "--private-key"] {
        place.refuses(&["init", flag, FAKE_KEY], "the shell's history");
    }
    place.refuses(&["init", &format!("--key={FAKE_KEY}")], "--key-stdin < FILE");
    for command in [&["init"][..], &["key", "replace"], &["run"]] {
        let typed = format!("--key-stdin={FAKE_KEY}");
        place.refuses(&[command, &[typed.as_str()]].concat(), "the shell's history");
    }
    place.refuses(&["init", FAKE_KEY], "64 hex digits, as of a key");
    place.refuses(&["init", "--account", FAKE_KEY], "64 are a key");
}

/// Whatever a command is refused for, a key among its words is known to everybody on the machine.
#[test]
fn a_key_as_a_value_is_called_burnt() {
    let place = Place::paper();
    for args in [
        &["config", "set", "listen", FAKE_KEY][..],
        &["config", "set", "equity_cap", FAKE_KEY],
        &["config", "set", "api_wallet", FAKE_KEY],
        &["config", "get", FAKE_KEY],
        &["run", "--key-file", FAKE_KEY, "--network", "testnet"],
        &["run", "--network", FAKE_KEY],
        &["init", "--account", FAKE_KEY],
        &["health", "--url", FAKE_KEY],
    ] {
        let output = place.run(args);
        let told = text(&output.stderr);
        assert!(output.status.code() != Some(0) && !told.contains(&FAKE_KEY[2..]), "{told}");
        assert_eq!(told.matches("stands in the shell's history").count(), 1, "{args:?}: {told}");
        assert!(told.contains("approve a new API wallet at the venue in its place"), "{told}");
    }
    let config = place.config();
    for key in ["mode", "listen", "account", "ip_share", "key_store", "rules"] {
        let line = config.lines().find(|line| line.starts_with(&format!("{key} = "))).unwrap();
        place.write_config(&config.replace(line, &format!("{key} = \"{FAKE_KEY}\"")));
        let told = text(&place.run(&["check-config"]).stderr);
        assert!(told.contains(&format!("{key} = ")) && !told.contains(&FAKE_KEY[2..]), "{told}");
        assert!(told.contains("take it out, approve a new API wallet"), "{told}");
        assert!(told.contains(" key replace --key-stdin < FILE`"), "{told}");
    }
}

#[test]
fn an_address_with_a_slip_in_it_is_refused() {
    let place = Place::empty();
    let (right, slip) = ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee");
    let args = ["init", "--non-interactive", "--rules", &rules(), "--account"];
    place.refuses(&[&args[..], &[slip]].concat(), "EIP-55");
    place.refuses(&["init", "--account", &right[2..]], "put 0x before it");
    place.refuses(&["init", "--account", &right[..20]], "it has 18");
    succeeded(&place.run(&[&args[..], &[right]].concat()));
    assert_eq!(succeeded(&place.run(&["config", "get", "account"])).trim(), right.to_lowercase());
    place.write_config(&place.config().replacen(&right.to_lowercase(), slip, 1));
    place.refuses(&["check-config"], "EIP-55");
}

#[test]
fn rules_that_are_no_code_name_the_way() {
    let place = Place::empty();
    let code = rules();
    let broken = format!("{}\n{}", &code[..40], &code[40..]);
    let with = |rules: &str| {
        ["init", "--non-interactive", "--account", ACCOUNT, "--rules"]
            .map(str::to_owned)
            .into_iter()
            .chain([rules.to_owned()])
            .collect::<Vec<_>>()
    };
    for (given, said) in [("rules.toml", "--rules @rules.toml"), (broken.as_str(), "broken by a space or a line's end")]
    {
        let args = with(given);
        place.refuses(&args.iter().map(String::as_str).collect::<Vec<_>>(), said);
    }
    let head = format!("mode = \"paper\"\naccount = \"{ACCOUNT}\"\n");
    place.write_config(&format!("{head}rules = \"{broken}\"\n"));
    place.refuses(&["check-config"], "line 3: a text in quotes does not end on its line");
    place.write_config(&format!("{head}[rules]\nstop = \"1\"\n"));
    place.refuses(&["check-config"], "config set rules @FILE");
}

/// Where a home was named, so do the commands that a text suggests.
#[test]
fn suggested_commands_name_the_home() {
    let place = Place::empty();
    let home = place.home();
    let home = home.to_str().unwrap();
    let exact = |command: &str| format!("`svc-guard --home {home} {command}");
    let by_flag = |args: &[&str]| bare(&[&["--home", home], args].concat()).output().unwrap();
    refused(&by_flag(&["run"]), &exact("init`"));
    refused(&by_flag(&["resume"]), &exact("journal-resume --mode MODE --note TEXT`"));
    refused(&place.run(&["check-config"]), &exact("init`"));
    let out = succeeded(&by_flag(&init(&[])));
    assert!(out.contains(&exact("check-config`")) && out.contains(&exact("run`")), "{out}");
    refused(&by_flag(&init(&[])), &exact("config set --help`"));
    refused(
        &by_flag(&["run", "--network", "testnet"]),
        &format!("{home} is set up for paper, and {} starts it", exact("run`")),
    );
    // The default home needs no flag.
    let user = Place { folder: tempfile::tempdir().unwrap() };
    let mut plain = bare(&["run"]);
    refused(&ended(plain.env("HOME", user.folder.path())), "set it up with `svc-guard init`");
}

#[test]
fn an_empty_home_and_a_missing_key_are_named() {
    let place = Place::empty();
    place.refuses(&["run"], &format!("{} is empty", place.home().display()));
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    let home = place.home();
    let mends = format!("`svc-guard --home {} key replace --key-stdin < FILE`", home.display());
    place.refuses(&["run", "--network", "testnet"], &mends);
    place.refuses(&["run", "--network", "testnet"], &format!("{}/api-wallet-key does not exist", home.display()));
}

#[test]
fn a_venue_that_is_not_there_is_named() {
    let said = key_given(&Place::empty(), ACCOUNT, FAKE_KEY);
    assert!(said.contains("http://127.0.0.1:9 is not reached"), "{said}");
}

/// Who types what there is not hears of what there is, for this home.
#[test]
fn a_command_that_there_is_not_is_told_with_the_one_that_does_it() {
    let place = Place::paper();
    let home = place.home().display().to_string();
    let ours = |command: &str| format!("`svc-guard --home {home} {command}");
    let status =
        "GET /guard/status: `curl -s http://127.0.0.1:8547/guard/status`, or the page at http://127.0.0.1:8547/";
    for (typed, instead) in [
        (&["status"][..], status.to_owned()),
        (&["positions"], status.to_owned()),
        (&["events"], "`curl -s http://127.0.0.1:8547/guard/events`".to_owned()),
        (&["decision", "5"], "`curl -s 'http://127.0.0.1:8547/guard/decision?nonce=N'`".to_owned()),
        (&["logs"], ours("run` printed, or `journalctl -u svc-guard`")),
        (&["version"], ours("--version`")),
        (&["flatten"], ours("kill --reason TEXT`, which closes everything")),
        (&["halt"], "nothing is closed by this".to_owned()),
        (&["reset"], ours("journal-resume --mode paper --note TEXT`")),
        (&["unkill"], format!("remove the kill file, by `rm {home}/kill`, and restart the service")),
        (&["client", "list"], format!("`clients` under [auth] in {home}/guard.toml")),
        (&["client", "remove", "0x1"], format!("under [auth] in {home}/guard.toml, then restart the service")),
        (&["config", "list"], ours("check-config`")),
        (&["config", "show"], ours("config get rules`")),
        (&["config", "edit"], ours("config set rules stop=1.5`")),
        (&["key", "rotate"], ours("key replace --key-stdin < FILE`")),
    ] {
        place.refuses(typed, &instead);
        let name =
            if ["client", "config", "key"].contains(&typed[0]) { typed[..2].join(" ") } else { typed[0].to_owned() };
        place.refuses(typed, &format!("there is no `{name}`; use "));
    }
}

#[test]
fn names_people_try_have_an_answer() {
    let place = Place::empty();
    for (name, instead) in [
        ("start", "run --network MODE`"),
        ("stop", "systemctl stop"),
        ("restart", "run --network MODE`"),
        ("unkill", "remove the kill file"),
    ] {
        place.refuses(&[name], instead);
    }
    for command in ["config", "key", "client"] {
        place.refuses(&[command], "requires a subcommand");
    }
    place.refuses(&["init", "--equity-cap", "-5"], "must be USDC above 0");
    let paper = Place::paper();
    paper.refuses(&["journal-resume", "--mode", "paper", "--note", "x"], "a daily loss stop ends by itself");
}

#[test]
fn a_kill_in_a_home_that_is_none_names_the_way() {
    let place = Place::empty();
    let nowhere = place.path("nowhere");
    place.refuses(&["--home", nowhere.to_str().unwrap(), "kill", "--reason", "x"], "--home DIR kill --reason x`");
    let typed = ["--home", nowhere.to_str().unwrap(), "kill", "--reason", "too wild", "--wait"];
    let anew = format!("`mkdir -p {0} && svc-guard --home {0} kill --reason 'too wild' --wait 60`", nowhere.display());
    place.refuses(&typed, &anew);
}

#[test]
fn the_owner_of_a_home_is_named() {
    let place = Place::paper();
    if !nix::unistd::Uid::effective().is_root() {
        return;
    }
    let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap();
    std::os::unix::fs::chown(place.home(), Some(nobody.uid.as_raw()), None).unwrap();
    let way = format!(
        "belongs to nobody; run the command as that user: `sudo -u nobody svc-guard --home {}",
        place.home().display()
    );
    refused(&place.run(&["pair"]), &format!("{way} pair`"));
    let home = place.home();
    let listen = ["--home", home.to_str().unwrap(), "config", "set", "rules", "markets=\"A B\""];
    refused(&place.run(&listen), &format!("{way} config set rules 'markets=\"A B\"'`"));
    std::os::unix::fs::chown(place.home(), Some(0), None).unwrap();
    assert!(fs::metadata(place.home()).unwrap().is_dir());
}
