//! Names and forms that are nearly right: what was meant is named, in a whole command where there is one, and nothing is changed.

use std::fs;
use std::process::Command;

use crate::place::*;
use crate::screen::Screen;

/// The refusal of a config with this text.
fn config_refused(text: &str, said: &str) {
    let place = Place::with(text);
    place.refuses(&["check-config"], said);
}

#[test]
fn a_rule_whose_name_is_nearly_right_is_named_with_its_command() {
    let place = Place::paper();
    for (args, change) in [
        (&["config", "set", "rules", "STOP=3"][..], "stop=3"),
        (&["config", "set", "rules", "stops=3"], "stop=3"),
        (&["config", "set", "rules", "daily-loss=4"], "daily_loss=4"),
        (&["config", "set", "rules", "max stop=4"], "max_stop=4"),
        (&["config", "set", "STOP=3"], "stop=3"),
        (&["config", "set", "daily-loss", "4"], "daily_loss=4"),
    ] {
        place.refuses(args, &format!("svc-guard --home {} config set rules {change}`", place.home().display()));
        succeeded(&place.run(&["config", "set", "rules", change]));
        succeeded(&place.run(&["config", "set", "rules", "@/dev/null"]));
    }
    // What is like none of them is told which there are.
    place.refuses(&["config", "set", "rules", "speed=3"], "\"speed\" is not a rule; the rules are collar");
    fs::write(place.path("rules.toml"), "dayly_loss = \"3\"\n").unwrap();
    let file = format!("@{}", place.path("rules.toml").display());
    place.refuses(&["config", "set", "rules", &file], "dayly_loss: is not a rule; daily_loss is one");
}

#[test]
fn a_value_of_another_form_is_told_in_its_own() {
    let place = Place::paper();
    let home = place.home();
    for (what, given, command) in [
        ("listen", "8548", "listen 127.0.0.1:8548"),
        // What is not given stays as it is.
        ("listen", "127.0.0.1", "listen 127.0.0.1:8548"),
        ("listen", "::1", "listen '[::1]:8548'"),
        ("listen", ":8550", "listen '[::1]:8550'"),
        ("ip_share", "25%", "ip_share 1/4"),
        ("ip_share", "half", "ip_share 1/4"),
        ("ip_share", "1:3", "ip_share 1/3"),
    ] {
        let whole = format!("`svc-guard --home {} config set {command}`", home.display());
        place.refuses(&["config", "set", what, given], &whole);
        let (_, value) = command.split_once(' ').unwrap();
        // As a shell reads it.
        succeeded(&place.run(&["config", "set", what, value.trim_matches('\'')]));
    }
    // A dash for an underscore, and the quotes of a text that was pasted, leave no doubt.
    succeeded(&place.run(&["config", "set", "ip-share", "1/3"]));
    succeeded(&place.run(&["config", "set", "equity-cap", "500"]));
    succeeded(&place.run(&["config", "set", "rules", "stop=“1.5”"]));
    assert!(succeeded(&place.run(&["check-config"])).contains("attached 1.5% from the price"));
}

#[test]
fn a_long_dash_is_told_from_two_plain_ones() {
    let place = Place::paper();
    for dash in ["\u{2014}", "\u{2013}", "\u{2014}-", "\u{2212}\u{2212}"] {
        let typed = format!("{dash}explain");
        let said = format!("{typed}: such an option begins with two plain dashes: --explain");
        place.refuses(&["check-config", &typed], &said);
    }
    place.refuses(&["kill", "\u{2014}reason", "x"], "NOT pulled");
}

#[test]
fn coins_in_small_letters_are_asked_about() {
    let place = Place::paper();
    let told = succeeded(&place.run(&["config", "set", "rules", "markets=eth,kPEPE"]));
    assert!(told.contains("entries are allowed in eth, kPEPE (the venue writes its coins in capitals: is ETH meant?)"));
    let told = succeeded(&place.run(&["config", "set", "rules", "markets=ETH,kPEPE"]));
    assert!(told.contains("entries are allowed in ETH, kPEPE  ("), "{told}");
}

#[test]
fn rules_that_stand_where_none_belong_are_told_their_place() {
    let config = Place::paper().config();
    let rules = config.lines().find(|line| line.starts_with("rules = ")).unwrap();
    config_refused(&config.replace(rules, "rules = \"stop=3\""), "rules = \"stop=3\": must be an sr1_ code in quotes");
    let at_top = config.replace(rules, &format!("{rules}\nstop = \"1\""));
    config_refused(&at_top, "stop: is one of the rules, which stand together in the code behind rules; remove it here");
    config_refused(&format!("{config}\n[rules]\nstop = \"1\"\n"), ", [rules]: duplicate key; a key, and a table");
    config_refused(&config.replace("ip_share", "ip-share"), "ip-share: is not a key of guard.toml(5); ip_share is one");
    let bare = config.replace("allow_mainnet = false", "allow_mainnet = no");
    config_refused(&bare, "allow_mainnet = no: invalid");
    config_refused(&bare, "true, false and numbers stand without quotes, every other value in them");
}

#[test]
fn what_was_typed_beside_what_is_missing_is_kept() {
    let place = Place::paper();
    let whole = format!("`svc-guard --home {} report --mode paper --from 2026-01-01 --by=day`", place.home().display());
    place.refuses(&["report", "--from", "2026-01-01", "--by=day"], &whole);
    let whole = format!("`svc-guard --home {} --config p1 check-config`", place.home().display());
    place.refuses(&["check-config", "p1"], &whole);
}

#[test]
fn a_key_in_the_place_of_a_file_is_refused_and_not_repeated() {
    let place = Place::paper();
    for args in [
        &["client", "add", "--out", FAKE_KEY][..],
        &["client", "add", "--out", &FAKE_KEY[2..]],
        &["config", "set", "rules", FAKE_KEY],
        &["config", "set", "rules", &format!("@{FAKE_KEY}")],
    ] {
        let before = place.listing();
        let output = place.run(args);
        refused(&output, "stands in the shell's history");
        assert!(!text(&output.stderr).contains(&FAKE_KEY[2..]) && place.listing() == before);
    }
}

#[test]
fn a_client_key_that_cannot_be_read_is_told_whose_it_is() {
    let place = Place::paper();
    let file = place.path("bot.key");
    for (holds, said) in [
        ("nothing like one", "holds no key but 3 words; a client key is one line"),
        (&format!("{}\n{}\n", &FAKE_KEY[..30], &FAKE_KEY[30..]), "one that is broken into 2 parts; join them"),
    ] {
        fs::write(&file, holds).unwrap();
        succeeded(&ended(Command::new("chmod").arg("600").arg(&file)));
        let args = ["mcp", "--key-file", file.to_str().unwrap()];
        place.refuses(&args, said);
        place.refuses(&args, "client add --out FILE` writes one to a new file");
    }
}

#[test]
fn mainnet_is_told_all_that_it_lacks_at_once() {
    let place = Place::empty();
    fs::write(place.path("loose.toml"), "leverage = 9\n").unwrap();
    let rules = format!("@{}", place.path("loose.toml").display());
    let args = ["init", "--non-interactive", "--network", "mainnet", "--account", ACCOUNT, "--rules", &rules];
    for said in ["--key-stdin < FILE", "--equity-cap USDC", "leverage, whose default is 5", "--confirm-mainnet"] {
        place.refuses(&args, said);
    }
}

#[test]
fn a_change_that_cannot_be_told_of_says_that_it_was_not_made() {
    let place = Place::paper();
    let before = place.config();
    for args in [&["pair"][..], &["config", "set", "ip_share", "1/2"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        refused(&place.command(args).stdout(full).output().unwrap(), "; nothing is changed");
        assert_eq!(place.config(), before);
    }
    place.refuses(&["client", "add", "--out", "/proc/new"], "/proc takes no such file");
}

#[test]
fn a_person_who_asks_at_a_question_is_told_what_can_be_done() {
    let place = Place::empty();
    let mut screen = Screen::start(place.command(&["init"]));
    screen.answer("Mode [paper]", "help");
    screen.expect("`back` goes to the question before, Ctrl-D leaves");
    screen.answer("Mode [paper]", "\u{1b}[A");
    screen.expect("a key in it that types nothing, such as an arrow; type it anew");
}
