//! `config set` and `key replace`: one thing changes, in words before and after, and all else stays as it is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

use svc_guard::rules::Rules;

use crate::place::*;

/// A set-up whose every other key has a value of its own, with a comment of its owner's.
fn kept() -> Place {
    let place = Place::empty();
    let more = ["--listen", "127.0.0.1:25111", "--ip-share", "1/2", "--equity-cap", "1000"];
    succeeded(&place.run(&init(&more)));
    place.write_config(&format!("# mine\n{}", place.config()));
    place
}

/// The config's lines that differ.
fn differing(before: &str, after: &str) -> Vec<String> {
    assert_eq!(before.lines().count(), after.lines().count(), "{after}");
    before.lines().zip(after.lines()).filter(|(one, other)| one != other).map(|(_, line)| line.to_owned()).collect()
}

#[test]
fn one_rule_changes_and_everything_else_stays() {
    let place = kept();
    let before = place.config();
    let said = succeeded(&place.run(&["config", "set", "rules", "stop=1.5%"]));
    assert!(said.contains("before  a stop that is missing is attached 2% from the price"), "{said}");
    assert!(said.contains("after   a stop that is missing is attached 1.5% from the price  (stricter)"), "{said}");
    assert!(said.contains("at its next start"), "{said}");
    let after = place.config();
    let lines = differing(&before, &after);
    assert!(lines.len() == 1 && lines[0].starts_with("rules = "), "{lines:?}");
    assert_eq!(mode(&place.home().join("guard.toml")), 0o644);
    let looser = succeeded(&place.run(&["config", "set", "rules", "leverage=6"]));
    assert!(looser.contains("(looser)") && !looser.contains("a stop"), "{looser}");
    // The whole of them, as a code and from a file.
    let said = succeeded(&place.run(&["config", "set", "rules", &rules()]));
    assert!(said.contains("stop  ") && said.contains("leverage  "), "{said}");
    assert_eq!(place.config(), before);
    fs::write(place.path("rules.toml"), "markets = [\"BTC\"]\n").unwrap();
    let file = format!("@{}", place.path("rules.toml").display());
    succeeded(&place.run(&["config", "set", "rules", &file]));
    let code = succeeded(&place.run(&["config", "get", "rules"]));
    assert_eq!(Rules::from_code(code.trim()).unwrap(), Rules::from_toml("markets = [\"BTC\"]").unwrap());
    let same = succeeded(&place.run(&["config", "set", "rules", &file]));
    assert_eq!(same, "That is its value already; nothing was written.\n");
}

#[test]
fn addresses_shares_and_caps_change_alone() {
    let place = kept();
    for (what, value, told) in [
        ("listen", "127.0.0.1:25112", "listen      127.0.0.1:25111 -> 127.0.0.1:25112"),
        ("ip_share", "1/4", "ip_share    1/2 (600 weight a minute) -> 1/4 (300 weight a minute)"),
        ("equity_cap", "2000", "equity_cap  1000 USDC -> 2000 USDC"),
    ] {
        let before = place.config();
        let said = succeeded(&place.run(&["config", "set", what, value]));
        assert!(said.contains(told), "{said}");
        let lines = differing(&before, &place.config());
        assert!(lines.len() == 1 && lines[0].starts_with(what), "{lines:?}");
    }
    assert!(succeeded(&place.run(&["config", "set", "equity_cap", "none"])).contains("2000 USDC -> none"));
    assert!(!place.config().contains("equity_cap") && place.config().contains("# mine"));
    succeeded(&place.run(&["config", "set", "equity_cap", "5"]));
    assert!(place.config().contains("equity_cap = \"5\""));
    assert!(
        succeeded(&place.run(&["config", "set", "listen", "127.0.0.1:1"])).contains("base URL is http://127.0.0.1:1")
    );
}

#[test]
fn a_value_that_cannot_be_changes_nothing() {
    let place = kept();
    for (what, value, said) in [
        ("rules", "stop=80", "stop = 80: must be a decimal from 0.05 to 50"),
        ("rules", "speed=1", "\"speed\" is not a rule; the rules are collar"),
        ("rules", "sr1_cut", "copy it whole"),
        ("rules", "rules.toml", "config set rules @rules.toml`"),
        ("listen", "8547", "\"8547\" must be IP:PORT"),
        ("ip_share", "1/9", "leaves 133"),
        ("equity_cap", "-5", "\"-5\" must be USDC above 0"),
    ] {
        place.refuses(&["config", "set", what, value], said);
    }
    Place::empty().refuses(&["config", "set", "listen", "127.0.0.1:1"], "holds no set-up");
}

#[test]
fn mainnet_takes_no_looser_rule_and_keeps_its_cap() {
    let place = Place::empty();
    let mainnet = ["--network", "mainnet", "--no-key", "--equity-cap", "1000", "--confirm-mainnet", ACCOUNT];
    succeeded(&place.run(&init(&mainnet)));
    place.refuses(
        &["config", "set", "rules", "leverage=6"],
        "rules no looser than the defaults (looser: leverage, whose default is 5)",
    );
    let way =
        format!("as loose as it may be: `svc-guard --home {} config set rules leverage=5`", place.home().display());
    place.refuses(&["config", "set", "rules", "leverage=6"], &way);
    place.refuses(&["config", "set", "equity_cap", "none"], "mainnet needs an equity_cap");
    succeeded(&place.run(&["config", "set", "rules", "leverage=4"]));
}

#[test]
fn another_key_takes_the_place_of_the_one_there() {
    let place = Place::with(&venue(AGENT));
    let args = init(&["--network", "testnet", "--key-stdin", "--key-store", "file"]);
    succeeded(&place.run_with(&args, FAKE_KEY));
    let before = place.config();
    let output = place.run_with(&["key", "replace", "--key-stdin"], OTHER_KEY);
    let said = succeeded(&output);
    assert!(
        said.contains(&format!("The earlier one, {WALLET}, is used no more")) && !said.contains(&OTHER_KEY[2..]),
        "{said}"
    );
    let lines = differing(&before, &place.config());
    assert!(lines.len() == 1 && lines[0].starts_with("api_wallet = "), "{lines:?}");
    let file = place.home().join("api-wallet-key");
    assert!(fs::read_to_string(&file).unwrap().contains(&OTHER_KEY[2..]));
    assert_eq!(mode(&file), 0o600);
    let aside = place.home().join("api-wallet-key.old-1");
    assert!(fs::read_to_string(aside).unwrap().contains(&FAKE_KEY[2..]), "the earlier key is kept");
    // The same once more is no other: no further copy of a secret is made.
    let said = succeeded(&place.run_with(&["key", "replace", "--key-stdin"], OTHER_KEY));
    assert!(!said.contains("The earlier one") && said.contains("its key in"), "{said}");
    assert!(!place.home().join("api-wallet-key.old-2").exists() && mode(&file) == 0o600);
    // One that was in another store is recorded alone.
    let said = succeeded(&place.run_with(&["key", "replace", "--key-stdin", "--no-store"], FAKE_KEY));
    assert!(said.contains("stored nowhere"), "{said}");
    assert_eq!(place.config(), before);
    // No start takes the other one's key for it, and it is lost no more than any other.
    assert!(!file.exists());
    fs::rename(place.home().join("api-wallet-key.old-2"), &file).unwrap();
    let run = ["run", "--network", "testnet", "--listen", "127.0.0.1:0"];
    refused(&place.run(&run), &format!("the key in {} is that of ", file.display()));
    refused(&place.run(&run), &format!("key replace --key-stdin < {}` takes this one", file.display()));
    // One that stands there already is not put aside.
    succeeded(&place.run_with(&["key", "replace", "--key-stdin", "--no-store"], OTHER_KEY));
    assert!(fs::read_to_string(&file).unwrap().contains(&OTHER_KEY[2..]));
}

#[test]
fn a_key_that_others_could_read_is_kept_where_they_cannot() {
    let place = Place::with(&venue(AGENT));
    succeeded(&place.run_with(&init(&["--network", "testnet", "--key-stdin", "--key-store", "file"]), FAKE_KEY));
    fs::set_permissions(place.home().join("api-wallet-key"), fs::Permissions::from_mode(0o644)).unwrap();
    succeeded(&place.run_with(&["key", "replace", "--key-stdin"], OTHER_KEY));
    assert_eq!(mode(&place.home().join("api-wallet-key.old-1")), 0o600);
}

/// What no answer changes stays over a set-up: where the journal goes on when its disk is full, and for which network requests are
/// signed. The file that a person wrote is kept, and so is whom it is shown to.
#[test]
fn setting_up_anew_keeps_what_it_does_not_ask_for() {
    let place = Place::paper();
    let fallback = place.path("fallback");
    let more = format!("# mine\njournal_fallback = \"{}\"\n", fallback.display());
    place.write_config(&(more + &place.config().replace("require_network = false", "require_network = true")));
    let (path, before) = (place.home().join("guard.toml"), place.config());
    assert!(before.contains("require_network = true"), "{before}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let bot = place.path("second");
    let output = place.run(&init(&["--force", "--client-key-out", bot.to_str().unwrap()]));
    let aside = place.home().join("guard.toml.old-1");
    let said = succeeded(&output) + &text(&output.stderr);
    assert!(said.contains(&format!("the earlier config is kept in {}", aside.display())), "{said}");
    assert_eq!(fs::read_to_string(&aside).unwrap(), before);
    let after = place.config();
    assert!(after.contains("require_network = true") && after.contains("journal_fallback"), "{after}");
    assert_eq!((mode(&path), mode(&aside)), (0o600, 0o600));
    // The folder is that journal's: another account's files would have the same names in it.
    let other = "0x2222222222222222222222222222222222222222";
    let args = ["init", "--force", "--non-interactive", "--account", other, "--rules", &rules(), "--client-key-out"];
    let output = place.run(&[&args[..], &[place.path("third").to_str().unwrap()]].concat());
    let said = succeeded(&output) + &text(&output.stderr);
    assert!(said.contains(&format!("journal_fallback was {} and is none now", fallback.display())), "{said}");
    assert!(!place.config().contains("journal_fallback"), "{}", place.config());
}

#[test]
fn a_key_that_is_refused_changes_nothing() {
    let nobody = Place::with(&venue("{\"role\":\"missing\"}"));
    succeeded(&nobody.run(&init(&["--network", "testnet", "--no-key"])));
    let before = nobody.listing();
    refused(
        &nobody.run_with(&["key", "replace", "--key-stdin"], FAKE_KEY),
        "testnet and mainnet each know their own wallets",
    );
    refused(&nobody.run_with(&["key", "replace", "--key-stdin"], "0x12"), "4 hex digits");
    assert!(nobody.listing() == before);
    nobody.refuses(&["key", "replace"], "--key-stdin");
    refused(
        &Place::paper().run_with(&["key", "replace", "--key-stdin"], FAKE_KEY),
        "paper mode uses no API wallet key",
    );
}

/// A command that is cut off between two steps must leave one of the two keys in its place.
#[test]
fn a_key_is_in_its_place_at_every_moment_of_a_replacement() {
    let place = Place::with(&venue(AGENT));
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    succeeded(&place.run_with(&["key", "replace", "--key-stdin"], FAKE_KEY));
    let key = place.home().join("api-wallet-key");
    let over = AtomicBool::new(false);
    let missed = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut missed = 0;
            while !over.load(Ordering::Relaxed) {
                missed += usize::from(fs::symlink_metadata(&key).is_err());
            }
            missed
        });
        for given in [OTHER_KEY, FAKE_KEY].into_iter().cycle().take(6) {
            succeeded(&place.run_with(&["key", "replace", "--key-stdin"], given));
        }
        over.store(true, Ordering::Relaxed);
        watcher.join().unwrap()
    });
    assert_eq!(missed, 0);
    let kept = |number: u32| fs::read_to_string(place.home().join(format!("api-wallet-key.old-{number}"))).unwrap();
    assert_eq!((kept(1).trim(), kept(2).trim(), kept(6).trim()), (FAKE_KEY, OTHER_KEY, OTHER_KEY));
    assert_eq!(fs::read_to_string(&key).unwrap().trim(), FAKE_KEY);
}

/// The first comment says what the whole file is, and stays first.
#[test]
fn a_new_line_stands_below_the_first_comment() {
    let place = Place::paper();
    let first = place.config().lines().next().unwrap().to_owned();
    assert!(first.starts_with('#'), "{first}");
    succeeded(&place.run(&["config", "set", "equity_cap", "500"]));
    let lines = |text: String| text.lines().take(2).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(place.config()), [first, "equity_cap = \"500\"".to_owned()]);
    // A person's own, which an empty line ends; one that stands at a key is about that key.
    succeeded(&place.run(&["config", "set", "equity_cap", "none"]));
    let plain = place.config().lines().skip(1).collect::<Vec<_>>().join("\n");
    for (before, line) in [("# mine\n# all of it\n\n", 3), ("# of the mode\n", 0), ("", 0)] {
        place.write_config(&format!("{before}{plain}\n"));
        succeeded(&place.run(&["config", "set", "equity_cap", "500"]));
        assert_eq!(place.config().lines().nth(line), Some("equity_cap = \"500\""), "{}", place.config());
    }
}
