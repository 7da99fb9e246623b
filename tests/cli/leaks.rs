//! A key where none belongs: whatever refuses it, no part of it is repeated that would help to find the rest.

use std::fs;

use crate::place::*;
use crate::screen::Screen;

/// As obviously no real key, with letters in it.
const LETTERS: &str = "0xabcdefABCDEF0123456789abcdefABCDEF0123456789abcdefABCDEF01234567";

/// Refused, and hardly a digit of it told.
fn untold(place: &Place, args: &[&str]) {
    let output = place.run(args);
    refused(&output, "");
    let said = text(&output.stderr);
    for key in [FAKE_KEY, LETTERS] {
        for from in 0..57 {
            assert!(!said.contains(&key[2 + from..10 + from]), "{args:?}: {said}");
        }
    }
}

#[test]
fn a_key_in_the_config_is_not_repeated() {
    let place = Place::paper();
    let whole = place.config();
    for key in [FAKE_KEY, LETTERS] {
        for name in ["mode", "account", "account_network", "api_wallet", "listen", "ip_share", "equity_cap", "rules"] {
            let others: String = whole
                .lines()
                .filter(|line| !line.starts_with(&format!("{name} =")))
                .map(|line| format!("{line}\n"))
                .collect();
            for value in [format!("\"{key}\""), key.to_owned(), key[2..].to_owned(), format!("[\"{key}\"]")] {
                place.write_config(&format!("{name} = {value}\n{others}"));
                untold(&place, &["check-config"]);
            }
        }
        let others = whole.split("\n[venue]").next().unwrap();
        for lines in [
            format!("\"{key}\" = 1\n{whole}"),
            format!("{key} = 1\n{whole}"),
            format!("{others}\n[venue]\nurl = \"{key}\"\n"),
            format!("{others}\n[venue]\nurl = \"http://127.0.0.1/{key}\"\n"),
            format!("{others}\n[venue]\n{key} = 1\n"),
            whole.replace("clients = [", &format!("clients = [\"{key}\", ")),
        ] {
            place.write_config(&lines);
            untold(&place, &["check-config"]);
            untold(&place, &["run"]);
        }
    }
}

#[test]
fn a_key_given_as_a_value_is_not_repeated() {
    let place = Place::paper();
    for key in [FAKE_KEY, LETTERS] {
        for (what, value) in [
            ("rules", format!("stop={key}")),
            ("rules", format!("{key}=1")),
            ("rules", format!("markets={key},BTC")),
            ("rules", key.to_owned()),
            ("listen", key.to_owned()),
            ("ip_share", key.to_owned()),
            ("equity_cap", key.to_owned()),
        ] {
            untold(&place, &["config", "set", what, &value]);
        }
        untold(&place, &["config", "set", key, "1"]);
        let file = place.path("rules.toml");
        for table in [format!("stop = \"{key}\"\n"), format!("{key} = 1\n")] {
            fs::write(&file, table).unwrap();
            untold(&place, &["config", "set", "rules", &format!("@{}", file.display())]);
        }
    }
}

/// The terminal shows what is typed at a question that is no secret; the program does not say it once more.
#[test]
fn a_key_pasted_at_a_visible_question_is_not_repeated() {
    let place = Place::empty();
    let mut screen = Screen::start(place.command(&["init"]));
    screen.answer("Mode [paper]", FAKE_KEY);
    screen.expect("64 hex digits, as of a key");
    screen.answer("Mode [paper]", "");
    screen.answer("Account (0x...)", FAKE_KEY);
    screen.answer("Account (0x...)", ACCOUNT);
    screen.answer("Network of the account [mainnet]", "");
    screen.answer("Enter to keep these [keep]", FAKE_KEY);
    screen.expect("64 hex digits, as of a key) is not a rule");
    screen.answer("Enter to keep these [keep]", "");
    screen.expect("Equity cap in USDC [none]: ");
    screen.type_in("\u{4}");
    let shown = text(&screen.end().stderr);
    assert_eq!(shown.matches(FAKE_KEY).count(), 3, "{shown}");
}

/// A reason is read by everybody, in the file too; a note stays in the journal. No key keeps the switch from being pulled.
#[test]
fn a_key_in_a_reason_or_a_note_is_kept_nowhere() {
    for key in [FAKE_KEY, LETTERS] {
        let place = Place::paper();
        let reason = format!("leaked {key} today");
        let output = place.run(&["kill", "--reason", &reason]);
        let kept = fs::read_to_string(place.home().join("kill")).unwrap();
        let said = format!("{}{}{kept}", text(&output.stdout), text(&output.stderr));
        assert!(kept.contains("leaked (64 hex digits, as of a key) today"), "{kept}");
        assert!((0..57).all(|from| !said.contains(&key[2 + from..10 + from])), "{said}");
        untold(&place, &["journal-resume", "--mode", "paper", "--note", &reason]);
        place.refuses(&["journal-resume", "--mode", "paper", "--note", &reason], "leave them out");
        let anew = place.path("anew");
        let told = ["--force", "--client-key-out", anew.to_str().unwrap(), "--refuse-mainnet", &reason];
        place.refuses(&init(&told), "--refuse-mainnet holds over 40 hex digits");
        // Nor is a file or a folder called like it.
        let named = place.path(key);
        untold(&place, &["--home", named.to_str().unwrap(), "check-config"]);
        place.refuses(&init(&["--force", "--client-key-out", named.to_str().unwrap()]), "there is no --client-key-out");
    }
}
