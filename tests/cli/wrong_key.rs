//! A key in the place of another one: a bot's in the place of the API wallet's, which would have it approved at the venue, and the
//! API wallet's in the place of an agent's.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::place::*;
use crate::screen::Screen;

/// The address of [`OTHER_KEY`].
fn other() -> String {
    svc_guard::base::key::SecretKey::parse(OTHER_KEY).unwrap().address().to_string()
}

/// A home for the test network that names this as its API wallet, with a client whose key is in `bot`.
fn testnet(wallet: Option<&str>) -> Place {
    let place = Place::with(&venue(AGENT));
    let out = place.path("bot");
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key", "--client-key-out", out.to_str().unwrap()])));
    if let Some(wallet) = wallet {
        place.write_config(&format!("api_wallet = \"{wallet}\"\n{}", place.config()));
    }
    place
}

/// The venue would take it, and the bot could trade past the guard from then on.
#[test]
fn a_clients_key_is_never_taken_for_the_api_wallets() {
    for wallet in [None, Some(WALLET)] {
        let place = testnet(wallet);
        let key = fs::read_to_string(place.path("bot")).unwrap();
        let file = place.path("bot");
        let file = file.to_str().unwrap();
        let before = place.config();
        let anew = init(&["--network", "testnet", "--force", "--key-stdin"]);
        for args in [
            &["key", "check", "--key-stdin"][..],
            &["key", "replace", "--key-stdin"],
            &["run", "--network", "testnet", "--key-stdin"],
            &["run", "--network", "testnet", "--key-file", file],
            &anew,
        ] {
            let output = place.run_with(args, &key);
            refused(&output, ", a client of this home: ");
            let said = text(&output.stderr);
            assert!(said.contains("Never approve it at the venue") && !said.contains(&key[2..20]), "{said}");
            // What takes the right key is told: the command that was typed, where it reads one.
            let way = if args.contains(&"--key-stdin") { args.join(" ") } else { "key replace --key-stdin".to_owned() };
            assert!(said.contains(&format!("`svc-guard --home {} {way} < FILE`", place.home().display())), "{said}");
            for danger in ["approve it there", "takes this one", "to be approved"] {
                assert!(!said.contains(danger), "{args:?}: {said}");
            }
        }
        assert_eq!(place.config(), before);
        assert!(!place.home().join("api-wallet-key").exists());
    }
}

#[test]
fn an_agent_is_not_given_the_api_wallets_key() {
    let place = testnet(Some(&other()));
    let file = place.path("wallet");
    fs::write(&file, format!("{OTHER_KEY}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let said = "no agent must have it, for it trades past the guard";
    let home = place.home();
    let mcp = ["--home", home.to_str().unwrap(), "mcp", "--guard-url", "http://127.0.0.1:9"];
    place.refuses(&[&mcp[..], &["--key-file", file.to_str().unwrap()]].concat(), said);
    let typed = place.run_with(&[&mcp[..], &["--key-stdin"]].concat(), &format!("{OTHER_KEY}\n"));
    refused(&typed, said);
    let told = text(&typed.stderr);
    assert!(told.contains(&format!("`svc-guard --home {} client add --out FILE`", place.home().display())), "{told}");
    let bot = place.path("bot");
    succeeded(&place.run(&[&mcp[..], &["--key-file", bot.to_str().unwrap()]].concat()));
}

/// The questions do not take it either, and ask again.
#[test]
fn a_clients_key_is_not_taken_by_the_questions() {
    let place = testnet(None);
    let key = fs::read_to_string(place.path("bot")).unwrap();
    let rules = rules();
    let out = place.path("bot2");
    let args =
        ["init", "--force", "--network", "testnet", "--account", ACCOUNT, "--rules", &rules, "--key-store", "file"];
    let more = ["--equity-cap", "500", "--listen", "127.0.0.1:0", "--ip-share", "1", "--client-key-out"];
    let mut asked = Screen::start(place.command(&[&args[..], &more, &[out.to_str().unwrap()]].concat()));
    asked.answer("Type `anew` to set up anew", "anew");
    asked.answer("API wallet key", key.trim());
    asked.expect("a client of this home");
    asked.answer("API wallet key", "");
    asked.answer("Set up now?", "no");
    let output = asked.end();
    assert!(text(&output.stderr).contains("Never approve it at the venue"));
}
