//! `config get`, `check-config`, and names: what reads and changes nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use svc_guard::rules::Rules;

use crate::place::*;

#[test]
fn config_get_prints_one_value() {
    let place = Place::paper();
    for (name, value) in [
        ("network", "paper"),
        ("mode", "paper"),
        ("account", ACCOUNT),
        ("listen", "127.0.0.1:8547"),
        ("rules", &rules()),
    ] {
        assert_eq!(succeeded(&place.run(&["config", "get", name])), format!("{value}\n"));
    }
    assert_eq!(place.run(&["config", "get", "key"]).status.code(), Some(2));
    Place::empty().refuses(&["config", "get", "mode"], "holds no set-up");
}

#[test]
fn check_config_prints_the_rules_in_words() {
    let place = Place::paper();
    let out = succeeded(&place.run(&["check-config"]));
    assert!(out.contains(&rules()) && out.contains("a market's stop loses at most 2% of equity"), "{out}");
    assert!(!out.contains("looser"));
    let looser = Rules::from_toml("leverage = 6").unwrap().to_code();
    place.write_config(&place.config().replace(&rules(), &looser));
    let out = succeeded(&place.run(&["check-config"]));
    assert_eq!(out.matches("(looser than the default)").count(), 1, "{out}");
    place.write_config(&format!("{}\nspeed = 1\n[watch]\nprices_ms = 1\n", place.config().replace("paper", "live")));
    let said = text(&place.run(&["check-config"]).stderr);
    assert!(said.contains("mode = ") && said.contains("speed") && said.contains("watch.prices_ms"), "{said}");
}

#[test]
fn another_config_file_may_be_named() {
    let place = Place::paper();
    let other = place.path("other.toml");
    fs::copy(place.home().join("guard.toml"), &other).unwrap();
    let out = succeeded(&place.run(&["--config", other.to_str().unwrap(), "check-config"]));
    assert!(out.contains("other.toml is valid"));
    fs::set_permissions(&other, fs::Permissions::from_mode(0o666)).unwrap();
    place.refuses(&["check-config", "--config", other.to_str().unwrap()], "others can write it");
    let link = place.path("link.toml");
    symlink(place.home().join("guard.toml"), &link).unwrap();
    place.refuses(&["check-config", "--config", link.to_str().unwrap()], "symbolic link");
}

#[test]
fn key_check_records_the_wallet_once() {
    let place = Place::with(&venue(AGENT));
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    let check = ["key", "check", "--key-stdin"];
    let out = succeeded(&place.run_with(&check, FAKE_KEY));
    assert_eq!(out, format!("{WALLET} is an API wallet of {ACCOUNT}; recorded as api_wallet in the config\n"));
    assert!(place.config().contains(&format!("api_wallet = \"{WALLET}\"")));
    let before = place.listing();
    assert_eq!(succeeded(&place.run_with(&check, FAKE_KEY)), format!("{WALLET} is an API wallet of {ACCOUNT}\n"));
    refused(&place.run_with(&check, "0x12"), "standard input holds no key");
    assert!(place.listing() == before, "the key is not stored");
    place.write_config(&place.config().replace(WALLET, "0x3333333333333333333333333333333333333333"));
    refused(&place.run_with(&check, FAKE_KEY), "the config's api_wallet is 0x3333");
    let paper = Place::paper();
    paper.refuses(&check, "paper mode uses no API wallet key");
    let away = Place::empty();
    succeeded(&away.run(&init(&["--network", "testnet", "--no-key"])));
    refused(&away.run_with(&check, FAKE_KEY), "the venue could not be asked");
}

#[test]
fn journal_show_prints_the_records() {
    let place = Place::paper();
    let out = succeeded(&place.run(&["journal-show", "--mode", "paper"]));
    assert_eq!(out.lines().count(), 1, "{out}");
    let record: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((record["kind"].as_str(), record["account"].as_str()), (Some("init"), Some(ACCOUNT)));
    assert!(record["at_ms"].as_u64().unwrap() > 1_700_000_000_000);
    place.refuses(&["journal-show", "--mode", "mainnet"], "there is no risk journal");
    Place::empty().refuses(&["journal-show", "--mode", "paper"], "holds no set-up");
}

#[test]
fn journal_show_names_a_line_that_is_no_text_and_shows_what_is_behind_it() {
    let place = Place::paper();
    let file = place.home().join(format!("journals/paper-{ACCOUNT}/risk.jsonl"));
    let mut stored = std::fs::read(&file).unwrap();
    let byte = stored.len();
    stored.extend(b"{\"kind\":\"peak\",\"at\":\"\xff\"}\n{\"kind\":\"line\"}\n");
    std::fs::write(&file, stored).unwrap();
    let output = place.run(&["journal-show", "--mode", "paper"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.lines().count() == 2 && shown.ends_with("\n{\"kind\":\"line\"}\n"), "{shown}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains(&format!("{}, line 2, byte {byte}: the line is no UTF-8 text", file.display())), "{said}");
}

#[test]
fn a_risk_journal_is_neither_replaced_nor_resumed_without_a_halt() {
    let place = Place::paper();
    let before = succeeded(&place.run(&["journal-show", "--mode", "paper"]));
    place.refuses(&["journal-init", "--mode", "paper", "--note", "x"], "it is never replaced");
    place.refuses(&["journal-resume", "--mode", "paper", "--note", "x"], "there is no drawdown halt to clear");
    place.refuses(&["journal-resume", "--mode", "testnet", "--note", "x"], "not the config's mode");
    assert_eq!(succeeded(&place.run(&["journal-show", "--mode", "paper"])), before);
}

/// The halt that is not there may have been taken out.
#[test]
fn a_risk_journal_that_was_changed_is_told_of_before_its_halt_is_missed() {
    let place = Place::paper();
    let file = place.home().join(format!("journals/paper-{ACCOUNT}/risk.jsonl"));
    let changed = fs::read_to_string(&file).unwrap().replace("set up", "set UP");
    fs::write(&file, &changed).unwrap();
    let resume = ["journal-resume", "--mode", "paper", "--note", "x"];
    let edited = "risk.jsonl, line 1, byte 0: the line does not follow from the one before it: it was edited";
    place.refuses(&resume, edited);
    // It is shown, and told of as well.
    let shown = place.run(&["journal-show", "--mode", "paper"]);
    assert!(text(&shown.stdout).contains("set UP") && text(&shown.stderr).contains(edited), "{shown:?}");
    assert_eq!(shown.status.code(), Some(2));
    // The good one of another mode than the home's by now is called nothing else.
    fs::write(&file, changed.replace("set UP", "set up")).unwrap();
    let bot = place.path("another");
    let anew = ["--force", "--network", "testnet", "--no-key", "--client-key-out", bot.to_str().unwrap()];
    succeeded(&place.run(&init(&anew)));
    succeeded(&place.run(&["journal-show", "--mode", "paper"]));
    let bot = place.path("third");
    succeeded(&place.run(&init(&["--force", "--network", "paper", "--client-key-out", bot.to_str().unwrap()])));
    // A last line that was cut off is what a start makes whole.
    fs::write(&file, &changed.replace("set UP", "set up")[..changed.len() - 20]).unwrap();
    place.refuses(&resume, "there is no drawdown halt to clear");
}

#[test]
fn mcp_reads_no_variable() {
    let mut command = bare(&["mcp", "--key-stdin"]);
    // Each of these would be refused by a command that reads it.
    for name in ["SVC_GUARD_NETWORK", "SVC_GUARD_ACCOUNT", "SVC_GUARD_CONTAINER", "SVC_GUARD_LISTEN", "SVC_GUARD_HOME"]
    {
        command.env(name, "\u{1}");
    }
    // What is wrong is the key that is not there.
    refused(&command.output().unwrap(), "standard input");
}

#[test]
fn names_that_do_not_exist_name_what_does() {
    let place = Place::empty();
    place.refuses(&["status"], "GET /guard/status");
    place.refuses(&["resume"], "journal-resume");
    place.refuses(&["journal", "show"], "journal-show");
    place.refuses(&["rules", "export"], "config get rules");
    place.refuses(&["guard-mcp"], " mcp`");
    place.refuses(&["client", "list"], "[auth]");
    place.refuses(&["client", "revoke", "0x1"], "restart the service");
    assert_eq!(place.run(&["nonsense"]).status.code(), Some(2));
    assert_eq!(place.run(&[]).status.code(), Some(2));
}

#[test]
fn version_and_help_are_printed() {
    assert_eq!(
        succeeded(&bare(&["--version"]).output().unwrap()),
        format!("svc-guard {}\n", env!("CARGO_PKG_VERSION"))
    );
    let help = succeeded(&bare(&["--help"]).output().unwrap());
    for command in
        ["init", "config", "key", "pair", "client", "run", "health", "journal-init", "kill", "check-config", "mcp"]
    {
        assert!(help.contains(command), "{command}");
    }
}

/// A command line that cannot be read is refused like everything else: one line, what is wrong and what to do.
#[test]
fn a_command_line_that_cannot_be_read_is_one_reason() {
    let place = Place::empty();
    for (args, reason) in [
        (&["nonsense"][..], "unrecognized subcommand 'nonsense'"),
        (&["init", "--forec"], "a similar argument exists: '--force'"),
        (&["init", "--ip-share", "1/9"], "leaves 133 of the venue's 1200 weight a minute"),
        (&["init", "--listen", "8547"], "must be IP:PORT"),
        (&["init", "--account", "0x1"], "0x and 40 hex digits"),
        (&["init", "--equity-cap", "0"], "must be USDC above 0"),
        (&["init", "--network", "live"], "possible values: paper, testnet, mainnet"),
        (&["init", "--interactive", "--non-interactive"], "cannot be used with"),
        (&["init", "--key-stdin", "--no-key"], "cannot be used with"),
        (&["run", "--key-stdin", "--key-file", "x"], "cannot be used with"),
        (&["run", "-v", "-q"], "cannot be used with"),
        (&["health", "--listen", "127.0.0.1:1", "--url", "http://x"], "cannot be used with"),
        (&["key", "check"], "--key-stdin"),
        (&["client", "add"], "--out <FILE>"),
        (&["kill"], "--reason <TEXT>"),
        (&["journal-init", "--mode", "paper"], "--note <TEXT>"),
        (&["journal-init", "--note", "x"], "--mode <MODE>"),
        (&["journal-resume", "--mode", "paper"], "--note <TEXT>"),
        (&["journal-resume", "--note", "x"], "--mode <MODE>"),
        (&["journal-show"], "--mode <MODE>"),
        (&["config", "get", "key"], "possible values: network, mode, account, listen, rules"),
    ] {
        place.refuses(args, reason);
        let said = text(&place.run(args).stderr);
        // Behind it a kill's says how the switch is pulled.
        let (line, _) = said.trim_end().split_once(". `svc-guard ").unwrap_or((said.trim_end(), ""));
        assert!(line.ends_with("--help shows what is allowed"), "{said}");
    }
}

#[test]
fn completions_are_printed_for_each_shell_and_hidden() {
    for (shell, mark) in [("bash", "complete -F"), ("zsh", "#compdef svc-guard"), ("fish", "complete -c svc-guard")] {
        let script = succeeded(&bare(&["completions", shell]).output().unwrap());
        assert!(
            script.contains(mark) && script.contains("journal-resume") && script.contains("refuse-mainnet"),
            "{shell}"
        );
        // Where the shell is there, it takes the script.
        if let Ok(mut child) = std::process::Command::new(shell).arg("-n").stdin(std::process::Stdio::piped()).spawn() {
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), script.as_bytes()).unwrap();
            assert!(child.wait().unwrap().success(), "{shell}");
        }
    }
    assert!(!succeeded(&bare(&["--help"]).output().unwrap()).contains("completions"));
    assert_eq!(bare(&["completions", "csh"]).output().unwrap().status.code(), Some(2));
}

/// `--home`, its variable, and the default in the user's own folder.
#[test]
fn the_home_is_the_flags_then_the_variables_then_the_users_own() {
    let (flagged, named) = (Place::paper(), Place::paper());
    flagged.write_config(&flagged.config().replace("8547", "8548"));
    let listen = ["config", "get", "listen"];
    let home = flagged.home();
    let by_flag = [&["--home", home.to_str().unwrap()], &listen[..]].concat();
    assert_eq!(succeeded(&named.run(&by_flag)), "127.0.0.1:8548\n");
    assert_eq!(succeeded(&named.run(&listen)), "127.0.0.1:8547\n");
    let user = Place::empty();
    fs::rename(user.home(), user.path(".svc-guard")).unwrap();
    let mut command = bare(&init(&["--client-key-out", user.path("bot").to_str().unwrap()]));
    succeeded(&command.env("HOME", user.folder.path()).output().unwrap());
    assert!(user.path(".svc-guard/guard.toml").exists());
    assert_eq!(succeeded(&bare(&listen).env("HOME", user.folder.path()).output().unwrap()), "127.0.0.1:8547\n");
}

/// A shell makes a `~` the user's own folder only where a word begins with it.
#[test]
fn a_folder_of_the_users_own_is_meant_by_its_sign() {
    let user = Place::empty();
    let run = |args: &[&str]| {
        let mut command = bare(args);
        command.env("HOME", user.folder.path()).env("SVC_GUARD_HOME", "~/of its own").current_dir(user.home());
        ended(&mut command)
    };
    fs::create_dir(user.path("of its own")).unwrap();
    succeeded(&run(&init(&["--client-key-out", "~/bot"])));
    assert!(user.path("of its own/guard.toml").exists() && user.path("bot").exists());
    succeeded(&run(&[&["--home=~/another"], &init(&["--client-key-out", "~/bot2"])[..]].concat()));
    let told = text(&run(&["--home=~/none", "check-config"]).stderr);
    let none = user.path("none").display().to_string();
    assert!(told.contains(&format!("`svc-guard --home {none} init`")), "{told}");
    fs::write(user.path("rules.toml"), "[rules]\nleverage = 2\n").unwrap();
    succeeded(&run(&["--home=~/another", "config", "set", "rules", "@~/rules.toml"]));
    // What the other home's rules are printed as can be read there too.
    fs::write(user.path("code"), run(&["--home=~/another", "config", "get", "rules"]).stdout).unwrap();
    succeeded(&run(&["config", "set", "rules", "@~/code"]));
    assert!(succeeded(&run(&["check-config"])).contains("at most 2\n"));
    assert!(!user.home().join("~").exists(), "nothing is named ~");
}

/// The later of two would win without a word.
#[test]
fn two_homes_in_one_command_are_refused() {
    let (one, other) = (Place::paper(), Place::paper());
    let (home, second) = (one.home().display().to_string(), other.home().display().to_string());
    let told = format!("--home is given twice, as {home} and as {second}, and one of them is meant");
    for args in [&["config", "set", "listen", "127.0.0.1:8600"][..], &["kill", "--reason", "enough"]] {
        let both = [&["--home", &home], args, &["--home", &second]].concat();
        other.refuses(&both, &told);
        assert!(!one.home().join("kill").exists() || fs::read(one.home().join("kill")).unwrap().is_empty());
    }
    let same = format!("--home={home}");
    assert_eq!(succeeded(&one.run(&[&same, "config", "get", "listen", "--home", &home])), "127.0.0.1:8547\n");
}

/// What was asked of a key that expires, or has expired.
#[test]
fn a_key_whose_approval_ends_is_told_of_and_refused_afterwards() {
    let agents = |until: &str| -> &'static str {
        let list = format!(r#"[{{"name":"bot","address":"{WALLET}","validUntil":{until}}}]"#);
        Box::leak(list.into_boxed_str())
    };
    let check = ["key", "check", "--key-stdin"];
    let asked = |until: &str| {
        let place = Place::with(&venue_with(AGENT, agents(until)));
        succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
        let output = place.run_with(&check, FAKE_KEY);
        (place, output)
    };
    let (place, output) = asked("1700000000000");
    refused(&output, "the approval of the API wallet 0x14791697260e4c9a71f18484c9f997b308e59325 ended on 2023-11-14");
    assert!(!place.config().contains("api_wallet"), "it is not recorded");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let (_, output) = asked(&(now + 3 * 86_400_000).to_string());
    succeeded(&output);
    assert!(text(&output.stderr).contains("warning: the approval of the API wallet"), "{}", text(&output.stderr));
    let (_, output) = asked(&(now + 30 * 86_400_000).to_string());
    succeeded(&output);
    assert_eq!(text(&output.stderr), "");
}
