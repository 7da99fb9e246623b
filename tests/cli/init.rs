//! `init`: what it sets up, and everything it refuses.

use std::fs;

use svc_guard::base::key::SecretKey;
use svc_guard::base::mode::Mode;
use svc_guard::home::Pairing;

use crate::place::*;

/// A key on standard input, kept in a file.
const TESTNET: [&str; 5] = ["--network", "testnet", "--key-stdin", "--key-store", "file"];

#[test]
fn init_sets_paper_up() {
    let place = Place::empty();
    let out = succeeded(&place.run(&init(&[])));
    let key = SecretKey::parse(&labelled(&out, "client key (shown once)")).unwrap();
    assert_eq!(labelled(&out, "client address"), key.address().to_string());
    let pairing = Pairing::from_code(&labelled(&out, "pairing code")).unwrap();
    assert_eq!((pairing.client, pairing.mode), (key.address(), Mode::Paper));
    assert_eq!((pairing.url.as_str(), pairing.account.to_string().as_str()), ("http://127.0.0.1:8547", ACCOUNT));

    let home = place.home();
    let modes = [("", 0o1733), ("guard.toml", 0o644), ("journals", 0o755), ("run", 0o700), ("kill.ready", 0o644)];
    for (name, expected) in modes {
        assert_eq!(mode(&home.join(name)), expected, "{name}");
    }
    let journal = format!("journals/paper-{ACCOUNT}/risk.jsonl");
    assert_eq!(mode(&home.join(journal)), 0o644);
    assert!(!home.join("api-wallet-key").exists() && !home.join("kill").exists());
    assert!(place.config().contains("http://127.0.0.1:9"), "the venue's table is kept");
    let secret = key.reveal();
    assert!(place.listing().iter().all(|(_, _, content)| !text(content).contains(&secret[2..])), "the key is stored");
    assert_eq!(succeeded(&place.run(&["config", "get", "rules"])).trim(), rules());
}

#[test]
fn init_makes_a_home_that_is_not_there() {
    let place = Place { folder: tempfile::tempdir().unwrap() };
    succeeded(&place.run(&init(&["--listen", "127.0.0.1:0", "--ip-share", "1/3", "--equity-cap", "1000"])));
    let config = place.config();
    for line in ["listen = \"127.0.0.1:0\"", "ip_share = \"1/3\"", "equity_cap = \"1000\"", "mode = \"paper\""] {
        assert!(config.contains(line), "{config}");
    }
}

#[test]
fn init_takes_its_answers_from_variables_and_flags_win() {
    let place = Place::empty();
    let mut command = place.command(&["init", "--non-interactive", "--ip-share", "1/2"]);
    command.env("SVC_GUARD_RULES", rules()).env("SVC_GUARD_ACCOUNT", ACCOUNT).env("SVC_GUARD_NETWORK", "paper");
    command.env("SVC_GUARD_IP_SHARE", "1/4").env("SVC_GUARD_LISTEN", "not an address");
    succeeded(&command.output().unwrap());
    assert!(place.config().contains("ip_share = \"1/2\""));
    for (name, value) in [("SVC_GUARD_NETWORK", "live"), ("SVC_GUARD_ACCOUNT", "0x1"), ("SVC_GUARD_IP_SHARE", "1/9")] {
        let place = Place::empty();
        let mut command = place.command(&["init", "--non-interactive", "--rules", &rules()]);
        refused(&command.env("SVC_GUARD_ACCOUNT", ACCOUNT).env(name, value).output().unwrap(), name);
    }
}

#[test]
fn init_refuses_what_it_cannot_set_up_and_leaves_nothing() {
    let place = Place::empty();
    place.refuses(&["init"], "--non-interactive");
    place.refuses(&["init", "--interactive"], "--non-interactive");
    let needs = |flags: &str| format!("init --non-interactive needs {flags}\n");
    let (by_rules, by_account) = ("--rules sr1_... (or @FILE, SVC_GUARD_RULES)", "--account 0x... (SVC_GUARD_ACCOUNT)");
    place.refuses(&["init", "--non-interactive", "--account", ACCOUNT], &needs(by_rules));
    place.refuses(&["init", "--non-interactive", "--rules", &rules()], &needs(by_account));
    place.refuses(&["init", "--non-interactive"], &needs(&format!("{by_rules} and {by_account}")));
    place.refuses(&["init", "--non-interactive", "--account", ACCOUNT, "--rules", "sr1_AAAA"], "checksum");
    let one = ["init", "--non-interactive", "--account", ACCOUNT, "--rules", "stop=1"];
    place.refuses(&one, "--rules @/dev/null begins with every default, and then `svc-guard");
    place.refuses(&one, "config set rules stop=1` changes that one");
    place.refuses(&init(&["--network", "mainnet"]), "--key-stdin");
    place.refuses(&init(&["--network", "testnet"]), "--key-stdin");
    place.refuses(&init(&["--key-stdin"]), "paper mode uses no API wallet key");
    place.refuses(&init(&["--confirm-mainnet", ACCOUNT]), "--confirm-mainnet");
    place.refuses(&init(&["--key-store", "host-creds"]), "no API wallet key to keep");
    place.refuses(&init(&["--refuse-mainnet", ""]), "refuse_mainnet");
    place.refuses(&init(&["--client-key-out", "/nonexistent-folder/key"]), "/nonexistent-folder/key");
    // The config is the last thing written: by then there is a journal and a key file to take back.
    let bot = place.path("bot");
    let nowhere = ["--config", "/nonexistent-folder/guard.toml", "--client-key-out", bot.to_str().unwrap()];
    place.refuses(&init(&nowhere), "/nonexistent-folder/guard.toml");
    place.refuses(&init(&["--network", "testnet", "--no-key", "--account-network", "mainnet"]), "account_network");
    fs::write(place.path("taken"), "").unwrap();
    let taken = place.path("taken");
    let journals = place.home().join("journals");
    fs::write(&journals, "").unwrap();
    place.refuses(&init(&[]), "journals is not a directory");
    fs::remove_file(&journals).unwrap();
    place.refuses(&init(&["--client-key-out", taken.to_str().unwrap()]), "exists already");
    assert_eq!(fs::read_dir(place.home()).unwrap().count(), 1);
}

#[test]
fn init_refuses_values_that_cannot_be() {
    let place = Place::empty();
    for more in [
        ["--listen", "8547"],
        ["--ip-share", "1/9"],
        ["--equity-cap", "0"],
        ["--network", "live"],
        ["--account", "0x1"],
        ["--key-store", "cloud"],
    ] {
        let output = place.run(&init(&more));
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(more[0]), "{}", text(&output.stderr));
    }
    assert!(text(&place.run(&init(&["--ip-share", "1/9"])).stderr).contains("leaves 133 of the venue's 1200 weight"));
}

#[test]
fn init_reads_rules_from_a_file_and_names_every_problem() {
    let place = Place::empty();
    let file = place.path("rules.toml");
    let from = format!("@{}", file.display());
    let args = ["init", "--non-interactive", "--account", ACCOUNT, "--rules", &from];
    place.refuses(&args, "rules.toml");
    fs::write(&file, "leverage = 0\nspeed = 1\n").unwrap();
    place.refuses(&args, "leverage = 0: must be a whole number from 1 to 100; speed: is not a rule");
    fs::write(&file, "leverage = 3\nmarkets = ['BTC']\n").unwrap();
    succeeded(&place.run(&args));
    let check = succeeded(&place.run(&["check-config"]));
    assert!(check.contains("entries are allowed in BTC") && check.contains("at most 3\n"), "{check}");
}

#[test]
fn init_again_needs_force_and_says_what_it_does() {
    let place = Place::paper();
    place.refuses(&init(&[]), "--force");
    let before = place.config();
    let journal = succeeded(&place.run(&["journal-show", "--mode", "paper"]));
    let output = place.run(&init(&["--force", "--listen", "127.0.0.1:0"]));
    succeeded(&output);
    let said = text(&output.stderr);
    assert!(
        said.contains("1 earlier client keys are no longer accepted") && said.contains("goes on as it is"),
        "{said}"
    );
    assert_eq!(succeeded(&place.run(&["journal-show", "--mode", "paper"])), journal);
    assert!(place.config() != before && place.config().contains("http://127.0.0.1:9"));
    // Nor does it keep silent on other values that are as at first again.
    for set in [["listen", "127.0.0.1:8600"], ["ip_share", "1/2"], ["equity_cap", "1000.5"]] {
        succeeded(&place.run(&[&["config", "set"], &set[..]].concat()));
    }
    let said = text(&place.run(&init(&["--force", "--ip-share", "1/2"])).stderr);
    let home = place.home().display().to_string();
    for (name, was, is) in [("listen", "127.0.0.1:8600", "127.0.0.1:8547"), ("equity_cap", "1000.5", "none")] {
        let told = format!(
            "{name} was {was} and is {is} now; `svc-guard --home {home} config set {name} {was}` brings it back"
        );
        assert!(said.contains(&told), "{said}");
    }
    assert!(!said.contains("ip_share was"), "{said}");
    place.write_config("mode = ");
    place.refuses(&init(&["--force"]), "not valid TOML");
}

#[test]
fn init_for_testnet_checks_and_stores_the_key() {
    let place = Place::with(&venue(AGENT));
    let output = place.run_with(&init(&TESTNET), &format!("{FAKE_KEY}\n"));
    let out = succeeded(&output);
    assert!(labelled(&out, "API wallet").starts_with(WALLET), "{out}");
    assert!(!out.contains(&FAKE_KEY[2..]) && !text(&output.stderr).contains(&FAKE_KEY[2..]));
    let stored = place.home().join("api-wallet-key");
    assert_eq!(mode(&stored), 0o600);
    assert_eq!(fs::read_to_string(&stored).unwrap(), format!("{FAKE_KEY}\n"));
    assert!(place.config().contains(&format!("api_wallet = \"{WALLET}\"")));

    let again = place.run_with(&init(&[&TESTNET[..], &["--force"]].concat()), FAKE_KEY);
    succeeded(&again);
    assert!(text(&again.stderr).contains("api-wallet-key.old-1"), "{}", text(&again.stderr));
    assert_eq!(fs::read_to_string(place.home().join("api-wallet-key.old-1")).unwrap(), format!("{FAKE_KEY}\n"));
    assert_eq!(mode(&place.home().join("api-wallet-key.old-1")), 0o600);
}

#[test]
fn init_for_testnet_refuses_a_key_that_is_not_the_accounts_agent() {
    let cases = [
        (
            r#"{"role":"agent","data":{"user":"0x2222222222222222222222222222222222222222"}}"#,
            "or guard 0x2222222222222222222222222222222222222222 if the account is what is wrong",
        ),
        (r#"{"role":"missing"}"#, "is no API wallet"),
        (r#"{"role":"user"}"#, "is no API wallet"),
        ("[]", "no role"),
    ];
    for (answer, reason) in cases {
        let place = Place::with(&venue(answer));
        let before = place.listing();
        refused(&place.run_with(&init(&TESTNET), FAKE_KEY), reason);
        assert!(place.listing() == before);
    }
    let place = Place::empty();
    let testnet = init(&TESTNET);
    refused(&place.run_with(&testnet, FAKE_KEY), "the venue could not be asked");
    refused(&place.run_with(&testnet, "0x0123"), "standard input holds no key");
    let own: Vec<&str> = testnet.iter().map(|arg| if *arg == ACCOUNT { WALLET } else { *arg }).collect();
    refused(&place.run_with(&own, FAKE_KEY), "named as the account itself");
    let no_key = succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    assert!(no_key.contains(" run --network testnet"), "{no_key}");
}

#[test]
fn init_leaves_a_stray_key_alone() {
    let place = Place::with(&venue(AGENT));
    fs::write(place.home().join("api-wallet-key"), "precious").unwrap();
    refused(&place.run_with(&init(&TESTNET), FAKE_KEY), "stands there already");
    assert_eq!(fs::read_to_string(place.home().join("api-wallet-key")).unwrap(), "precious");
    assert!(!place.home().join("journals").exists());
}
