//! A set-up over an earlier one keeps silent on nothing that is another then, and leaves no key that a start would take for its own.

use std::fs;
use std::path::PathBuf;

use super::place::{ACCOUNT, AGENT, FAKE_KEY, OTHER_KEY, Place, init, refused, succeeded, text, venue};

const TESTNET: [&str; 5] = ["--network", "testnet", "--key-stdin", "--key-store", "file"];
const RUN: [&str; 5] = ["run", "--network", "testnet", "--listen", "127.0.0.1:0"];

#[test]
fn other_rules_are_told_with_the_way_back() {
    let place = Place::paper();
    succeeded(&place.run(&["config", "set", "rules", "stop=1"]));
    let before = succeeded(&place.run(&["config", "get", "rules"]));
    let said = text(&place.run(&init(&["--force"])).stderr);
    assert!(said.contains("the rules are others now") && said.contains("(looser)"), "{said}");
    assert_ne!(succeeded(&place.run(&["config", "get", "rules"])), before);
    let way = said.split('`').find(|part| part.contains("config set rules sr1_")).unwrap();
    let code = way.split(' ').next_back().unwrap();
    succeeded(&place.run(&["config", "set", "rules", code]));
    assert_eq!(succeeded(&place.run(&["config", "get", "rules"])), before);
    // The same once more is no news.
    let args = ["init", "--non-interactive", "--force", "--account", ACCOUNT, "--rules", code];
    let said = text(&place.run(&args).stderr);
    assert!(!said.contains("the rules are others now"), "{said}");
}

#[test]
fn another_account_is_told() {
    let place = Place::paper();
    let other = "0x2222222222222222222222222222222222222222";
    let args: Vec<&str> = init(&["--force"]).into_iter().map(|arg| if arg == ACCOUNT { other } else { arg }).collect();
    let said = text(&place.run(&args).stderr);
    let told = format!("account was {} and is {other} now", ACCOUNT);
    assert!(said.contains(&told), "{said}");
}

/// With no key to store none is left where the next start would take it.
#[test]
fn a_key_of_before_is_kept_aside_where_none_is_given() {
    let place = Place::with(&venue(AGENT));
    succeeded(&place.run_with(&init(&TESTNET), FAKE_KEY));
    let (key, aside) = (place.home().join("api-wallet-key"), place.home().join("api-wallet-key.old-1"));
    let output = place.run(&init(&["--force", "--network", "testnet", "--no-key"]));
    succeeded(&output);
    let said = text(&output.stderr);
    assert!(said.contains(&format!("the earlier API wallet key is kept in {}", aside.display())), "{said}");
    assert!(!key.exists() && fs::read_to_string(&aside).unwrap().contains(&FAKE_KEY[2..]));
    refused(&place.run(&RUN), "needs the API wallet's key");
    // Paper signs nothing, and takes none.
    let place = Place::with(&venue(AGENT));
    succeeded(&place.run_with(&init(&TESTNET), FAKE_KEY));
    succeeded(&place.run(&init(&["--force"])));
    assert!(place.home().join("api-wallet-key").exists());
}

/// A set-up that is not told of is none: the config of before has its key still.
#[test]
fn a_set_up_that_fails_leaves_the_key_where_it_was() {
    let place = Place::with(&venue(AGENT));
    succeeded(&place.run_with(&init(&TESTNET), FAKE_KEY));
    let before = place.listing();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut again = place.command(&init(&["--force", "--network", "testnet", "--no-key", "--client-key-out", "bot"]));
    let output = again.current_dir(place.folder.path()).stdout(full).output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(2) && said.trim_end().ends_with("nothing is set up"), "{said}");
    let after = place.listing();
    // The journal's lock names who looked into it last.
    let is_lock = |file: &(PathBuf, u32, Vec<u8>)| file.0.ends_with("lock");
    let other = after.iter().filter(|file| !before.contains(file) && !is_lock(file)).collect::<Vec<_>>();
    assert!(other.is_empty() && after.len() == before.len(), "{other:?}");
}

/// Of the keys that were kept aside only the one that the config names is offered again.
#[test]
fn the_key_that_is_offered_back_is_the_configs() {
    let place = Place::with(&venue(AGENT));
    succeeded(&place.run_with(&init(&TESTNET), FAKE_KEY));
    succeeded(&place.run_with(&["key", "replace", "--key-stdin"], OTHER_KEY));
    succeeded(&place.run_with(&["key", "replace", "--key-stdin", "--no-store"], FAKE_KEY));
    let path = |name: &str| place.home().join(name).display().to_string();
    let way = format!("`mv {} {}` puts its key", path("api-wallet-key.old-1"), path("api-wallet-key"));
    refused(&place.run(&RUN), &way);
    fs::remove_file(path("api-wallet-key.old-1")).unwrap();
    let said = text(&place.run(&RUN).stderr);
    assert!(!said.contains("`mv ") && said.contains("--key-stdin"), "{said}");
}

/// A journal that is there is started by nobody.
#[test]
fn a_risk_journal_that_goes_on_is_no_next_step() {
    let place = Place::empty();
    let mainnet = ["--network", "mainnet", "--no-key", "--equity-cap", "1000", "--confirm-mainnet", ACCOUNT];
    let said = succeeded(&place.run(&init(&mainnet)));
    assert!(said.contains("journal-init"), "{said}");
    let folder = place.home().join("journals").join(format!("mainnet-{ACCOUNT}"));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("risk.jsonl"), "").unwrap();
    let output = place.run(&init(&[&mainnet[..], &["--force"]].concat()));
    let (out, said) = (succeeded(&output), text(&output.stderr));
    assert!(!out.contains("journal-init"), "{out}");
    assert!(said.contains(&format!("the risk journal in {} goes on as it is", folder.display())), "{said}");
}
