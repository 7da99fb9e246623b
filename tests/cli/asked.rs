//! `init` by questions: an answer that is none is told what is typed instead.

use std::path::Path;

use svc_guard::rules::Rules;

use crate::place::*;
use crate::screen::Screen;

fn up_to_the_client_key(place: &Place) -> Screen {
    let args =
        ["init", "--network", "paper", "--account", ACCOUNT, "--account-network", "testnet", "--rules", &rules()];
    let more = ["--equity-cap", "500", "--listen", "127.0.0.1:0", "--ip-share", "1"];
    let mut command = place.command(&[&args[..], &more].concat());
    command.current_dir(place.folder.path());
    Screen::start(command)
}

#[test]
fn a_word_for_yes_or_no_makes_no_file() {
    let place = Place::empty();
    let mut screen = up_to_the_client_key(&place);
    for word in ["yes", "y", "No", "ok"] {
        screen.answer("File for the client key [show it]", word);
        screen.expect("`show it` has the key shown once, and a new file is named by its path");
    }
    screen.answer("File for the client key [show it]", "-");
    screen.expect("is no file here, for a key goes to a new file");
    screen.answer("File for the client key [show it]", "./bot.key");
    let file = place.path("bot.key");
    screen.expect(&format!("{}  the client key", file.display()));
    screen.answer("Set up now? [yes]", "");
    let out = succeeded(&screen.end());
    assert_eq!(labelled(&out, "client key "), format!("in {}", file.display()));
    assert!(file.exists() && !place.path("yes").exists());
}

#[test]
fn a_file_that_is_named_by_flag_is_told_whole() {
    let place = Place::empty();
    let mut command = place.command(&init(&["--client-key-out", "bot.key"]));
    let out = succeeded(&ended(command.current_dir(place.folder.path())));
    let told = labelled(&out, "client key ");
    assert!(Path::new(told.strip_prefix("in ").unwrap()).is_absolute(), "{told}");
}

#[test]
fn a_word_that_is_no_rule_is_told_what_is_typed_instead() {
    const RULE: &str = "Enter to keep these [keep]";
    let place = Place::empty();
    let args =
        ["init", "--network", "mainnet", "--account", ACCOUNT, "--equity-cap", "100", "--confirm-mainnet", ACCOUNT];
    let mut screen = Screen::start(place.command(&args));
    for (word, instead) in [
        ("done", "Enter alone keeps these rules and goes on"),
        ("quit", "Ctrl-D leaves, and nothing is set up then"),
        ("undo", "a rule is changed again by RULE=VALUE, and RULE=default takes its default"),
    ] {
        screen.answer(RULE, word);
        screen.expect(&format!("{word} is not a rule; {instead}"));
    }
    screen.answer(RULE, "leverage=20");
    screen.expect("leverage setting is at most 20");
    screen.answer(RULE, "");
    screen.expect("change leverage: the loosest that it takes is leverage=5");
    screen.answer(RULE, "stop=1");
    screen.expect("is attached 1% from the price");
    screen.answer(RULE, "stop=default");
    screen.expect("is attached 2% from the price");
    screen.answer(RULE, "leverage");
    screen.answer("new value [20]", "default");
    screen.expect("leverage setting is at most 5");
    screen.answer(RULE, "stop=9");
    screen.expect("change max_stop first");
    screen.answer(RULE, "");
    screen.answer("Listen address", "127.0.0.1:0");
    // As many guards as there are, each of which takes one part.
    screen.answer("Share [1]", "3");
    screen.expect("is over 1, the whole budget of this machine's IP address: try 1/3");
    screen.answer("Share [1]", "");
    screen.expect("API wallet key (Enter: none now): ");
    screen.type_in("\n");
    screen.answer("File for the client key [show it]", "");
    screen.answer("Set up now? [yes]", "");
    succeeded(&screen.end());
    assert_eq!(succeeded(&place.run(&["config", "get", "rules"])).trim(), Rules::default().to_code());
}
