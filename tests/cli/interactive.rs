//! `init` by questions, through a pseudo-terminal.

use std::fs;
use std::os::unix::process::ExitStatusExt;

use nix::sys::signal::Signal;
use svc_guard::base::key::SecretKey;
use svc_guard::base::mode::Mode;
use svc_guard::home::Pairing;
use svc_guard::rules::Rules;

use crate::place::*;
use crate::screen::Screen;

const OTHER: &str = "0x2222222222222222222222222222222222222222";

fn screen(place: &Place, args: &[&str]) -> Screen {
    Screen::start(place.command(args))
}

/// The program ended with 2, and said so last.
fn left(screen: Screen, reason: &str) {
    let output = screen.end();
    let shown = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{shown}");
    assert!(output.stdout.is_empty());
    let last = shown.trim_end().lines().last().unwrap();
    assert!(last.starts_with("svc-guard: ") && last.contains(reason), "{reason:?} is not in {last:?}");
}

#[test]
fn enter_alone_sets_paper_up_and_every_rule_is_explained() {
    let place = Place::empty();
    let mut screen = screen(&place, &["init"]);
    screen.expect("Setting svc-guard up in");
    screen.expect("paper    judges and records, and sends nothing");
    screen.answer("Mode [paper]", "");
    screen.answer("Account (0x...)", "");
    screen.expect("This needs an answer");
    screen.answer("Account (0x...)", "0x12");
    screen.expect("must be an address: 0x and 40 hex digits");
    screen.answer("Account (0x...)", ACCOUNT);
    screen.answer("Network of the account [mainnet]", "");
    for rule in Rules::default().describe() {
        screen.expect(rule.key);
        screen.expect(&rule.words);
    }
    screen.answer("Enter to keep these [keep]", "");
    screen.answer("Equity cap in USDC [none]", "");
    // Said at once, while it can be gone back to.
    screen.answer("Listen address [127.0.0.1:8547]", "0.0.0.0:8547");
    screen.expect("Warning: 0.0.0.0:8547 is not this machine's alone; other machines may reach it");
    screen.answer("Share [1]", "back");
    screen.answer("Listen address [0.0.0.0:8547]", "127.0.0.1:8547");
    screen.answer("Share [1]", "1/9");
    screen.expect("leaves 133 of the venue's 1200 weight");
    screen.answer("Share [1]", "1/2");
    screen.answer("File for the client key [show it]", "");
    screen.expect("To be set up");
    assert!(!place.config().contains("mode"), "nothing is written before it is agreed to");
    screen.answer("Set up now? [yes]", "");
    let output = screen.end();
    let out = succeeded(&output);
    let key = SecretKey::parse(&labelled(&out, "client key (shown once)")).unwrap();
    let pairing = Pairing::from_code(&labelled(&out, "pairing code")).unwrap();
    assert_eq!((pairing.client, pairing.mode), (key.address(), Mode::Paper));
    assert!(out.contains(" check-config` shows") && out.contains(" run` starts"), "{out}");
    assert_eq!(succeeded(&place.run(&["config", "get", "rules"])).trim(), rules());
    assert!(place.config().contains("ip_share = \"1/2\""));
    assert!(!text(&output.stderr).contains(&key.reveal()[2..]), "it is shown in the result only");
}

#[test]
fn rules_are_changed_one_by_one_or_as_a_whole() {
    let place = Place::empty();
    let file = place.path("rules.toml");
    fs::write(&file, "collar = '0.2'\n").unwrap();
    let args = ["init", "--network", "paper", "--account", ACCOUNT, "--account-network", "testnet"];
    let more = ["--equity-cap", "500", "--listen", "127.0.0.1:0", "--ip-share", "1", "--client-key-out"];
    let bot = place.path("bot");
    let mut screen = screen(&place, &[&args[..], &more, &[bot.to_str().unwrap()]].concat());
    screen.answer("Enter to keep these [keep]", &format!("@{}", file.display()));
    screen.expect("pulled to within 0.2% of the mid  (default \"0.5\")");
    screen.answer("Enter to keep these [keep]", "leverage");
    screen.answer("a market's leverage setting is at most 5; new value [5]", "0");
    screen.expect("must be a whole number from 1 to 100");
    // The rule is asked for again, not which rule; and from there the way back is to the list.
    screen.answer("new value [5]", "back");
    screen.answer("Enter to keep these [keep]", "leverage");
    screen.answer("new value [5]", "\"7\"");
    screen.expect("leverage setting is at most 7  (default 5; this is looser)");
    screen.answer("Enter to keep these [keep]", "speed");
    screen.expect("speed is not a rule");
    // The form of `config set` is understood too.
    screen.answer("Enter to keep these [keep]", "collar = 0.3");
    screen.expect("pulled to within 0.3% of the mid");
    screen.answer("Enter to keep these [keep]", "collar=0.2%");
    screen.expect("pulled to within 0.2% of the mid");
    screen.answer("Enter to keep these [keep]", "collar=much");
    screen.expect("must be a decimal from 0.01 to 50");
    screen.answer("Enter to keep these [keep]", "speed = 1");
    screen.expect("speed is not a rule");
    screen.answer("Enter to keep these [keep]", "markets");
    // A market may have any name, but not that of the rule that is wanted next.
    screen.answer("new value [all]", "leverage");
    screen.expect("leverage: is a rule, and no value of markets");
    screen.answer("new value [all]", "BTC, ETH");
    screen.expect("entries are allowed in BTC, ETH");
    screen.answer("Enter to keep these [keep]", "");
    screen.answer("Set up now? [yes]", "y");
    succeeded(&screen.end());
    let expected = Rules::from_toml("collar = '0.2'\nleverage = 7\nmarkets = ['BTC', 'ETH']").unwrap();
    assert_eq!(succeeded(&place.run(&["config", "get", "rules"])).trim(), expected.to_code());
    assert_eq!(mode(&bot), 0o600);
}

/// Up to the key, for testnet.
fn up_to_the_key(place: &Place) -> Screen {
    let args = ["init", "--network", "testnet", "--account", ACCOUNT, "--rules", &rules(), "--key-store", "file"];
    let more = ["--equity-cap", "500", "--listen", "127.0.0.1:0", "--ip-share", "1", "--client-key-out"];
    let bot = place.path("bot");
    let mut screen = screen(place, &[&args[..], &more, &[bot.to_str().unwrap()]].concat());
    screen.expect("The API wallet is a key that the venue lets trade");
    screen
}

#[test]
fn the_key_is_never_on_the_screen() {
    let place = Place::with(&venue(AGENT));
    let mut screen = up_to_the_key(&place);
    screen.answer("API wallet key", "0x0123");
    screen.expect("what was typed holds no key");
    // A slip is taken back, and a line begun anew.
    screen.expect("API wallet key (Enter: none now): ");
    screen.type_in(&format!("nonsense\u{15}{FAKE_KEY}9\u{7f}\n"));
    screen.answer("Set up now? [yes]", "");
    let output = screen.end();
    let out = succeeded(&output);
    assert!(out.contains(WALLET) && out.contains(" run --network testnet"), "{out}");
    let shown = text(&output.stderr);
    for part in [&FAKE_KEY[2..20], "nonsense", "0x0123"] {
        assert!(!shown.contains(part) && !out.contains(part), "{part} is shown: {shown}");
    }
    assert_eq!(fs::read_to_string(place.home().join("api-wallet-key")).unwrap(), format!("{FAKE_KEY}\n"));
}

/// Whoever types a key where it is seen hears what that means, and lines that are thrown away are told of.
#[test]
fn a_key_at_a_question_that_shows_it_is_called_burnt() {
    let place = Place::with(&venue(AGENT));
    let mut first = screen(&place, &["init"]);
    first.answer("Mode [paper]", FAKE_KEY);
    first.expect("approve a new API wallet at the venue in its place");
    first.answer("Mode [paper]", "back");
    first.expect("This is the first question.");
    drop(first);
    let args = ["init", "--network", "testnet", "--account", ACCOUNT, "--rules", &rules(), "--equity-cap", "500"];
    let mut screen = screen(&place, &[&args[..], &["--listen", "127.0.0.1:0"]].concat());
    screen.expect("Share [1]: ");
    screen.type_in(&format!("1\n{FAKE_KEY}\n"));
    screen.expect("What was typed before this question was on the screen, and is thrown away");
    screen.answer("API wallet key (Enter: none now)", "");
    screen.expect("installs one later");
}

/// A person who goes back for something else types no key anew, and may still leave it out.
#[test]
fn a_key_that_was_taken_stays_for_who_goes_back() {
    let kept = format!("API wallet key (Enter: the one of {WALLET}, `none`: none now): ");
    for (last, is_kept) in [("", true), ("none", false)] {
        let place = Place::with(&venue(AGENT));
        let mut screen = up_to_the_key(&place);
        screen.answer("API wallet key (Enter: none now)", FAKE_KEY);
        screen.answer("Set up now? [yes]", "back");
        screen.expect(&kept);
        screen.type_in("back\n");
        screen.expect("This is the first question.");
        screen.expect(&kept);
        screen.type_in(&format!("{last}\n"));
        screen.answer("Set up now? [yes]", "");
        let output = screen.end();
        succeeded(&output);
        assert!(!text(&output.stderr).contains(&FAKE_KEY[2..20]));
        assert_eq!(place.home().join("api-wallet-key").exists(), is_kept);
    }
}

#[test]
fn a_signal_at_the_hidden_question_ends_it_and_the_terminal_echoes_again() {
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
        let place = Place::empty();
        let before = place.listing();
        let mut screen = up_to_the_key(&place);
        screen.expect("API wallet key (Enter: none now): ");
        assert!(!screen.echoes());
        screen.type_in("0x0123");
        screen.signal(signal);
        let (output, echoes) = screen.end_and_echo();
        assert_eq!(output.status.signal(), Some(signal as i32), "{output:?}");
        assert!(echoes && !text(&output.stderr).contains("0x0123"));
        assert!(place.listing() == before);
    }
}

#[test]
fn a_key_that_the_venue_refuses_is_asked_for_again_or_left_out() {
    let place = Place::with(&venue(r#"{"role":"missing"}"#));
    let mut screen = up_to_the_key(&place);
    screen.answer("API wallet key", FAKE_KEY);
    screen.expect("is no API wallet: the venue knows it as nobody; approve it there");
    screen.answer("API wallet key", "");
    screen.expect("key replace --key-stdin");
    screen.answer("Set up now? [yes]", "");
    let out = succeeded(&screen.end());
    assert!(out.contains(" key check --key-stdin < FILE"), "{out}");
    assert!(!place.config().contains("api_wallet") && !place.home().join("api-wallet-key").exists());
}

#[test]
fn mainnet_asks_for_its_guards_and_the_account_once_more() {
    let place = Place::with(&venue(AGENT));
    let looser = Rules::from_toml("leverage = 6").unwrap().to_code();
    let mut screen = screen(&place, &["init", "--listen", "127.0.0.1:0", "--ip-share", "1", "--key-store", "file"]);
    screen.answer("Mode [paper]", "mainnet");
    screen.answer("Account (0x...)", ACCOUNT);
    screen.answer("Enter to keep these [keep]", &looser);
    screen.answer("Enter to keep these [keep]", "");
    screen.expect("mainnet takes no rule looser than the defaults; change leverage");
    screen.answer("Enter to keep these [keep]", "leverage");
    screen.answer("new value [6]", "5");
    screen.answer("Enter to keep these [keep]", "");
    screen.answer("Equity cap in USDC", "");
    screen.answer("Equity cap in USDC", "none");
    screen.expect("must be USDC above 0");
    screen.answer("Equity cap in USDC", "1000");
    screen.answer("Account once more", OTHER);
    screen.expect(&format!("is not {ACCOUNT}"));
    screen.answer("Account once more", ACCOUNT);
    screen.answer("API wallet key", FAKE_KEY);
    screen.answer("File for the client key", place.path("bot").to_str().unwrap());
    screen.answer("Set up now? [yes]", "");
    let out = succeeded(&screen.end());
    assert!(out.contains("journal-init --mode mainnet"), "{out}");
    assert!(place.config().contains("allow_mainnet = true") && place.config().contains("equity_cap = \"1000\""));
}

/// What was answered stays, whichever way a person goes; what cannot be is asked for again.
#[test]
fn answers_are_kept_back_and_forth() {
    let place = Place::empty();
    let own = place.path("own");
    fs::create_dir(&own).unwrap();
    fs::write(place.path("rules.toml"), "stop = '1'\n").unwrap();
    fs::rename(place.path("rules.toml"), own.join("rules.toml")).unwrap();
    let mut command = place.command(&["init", "--listen", "127.0.0.1:0", "--ip-share", "1"]);
    command.env("HOME", &own);
    let mut screen = Screen::start(command);
    screen.answer("Mode [paper]", "back");
    screen.expect("This is the first question.");
    screen.answer("Mode [paper]", "");
    screen.answer("Account (0x...)", OTHER);
    screen.answer("Network of the account [mainnet]", "testnet");
    screen.answer("Enter to keep these [keep]", "@~/rules.toml");
    screen.answer("Enter to keep these [keep]", "loss_per_trade");
    screen.answer("new value [2]", "1.5%");
    screen.expect("a market's stop loses at most 1.5% of equity");
    screen.answer("Enter to keep these [keep]", "back");
    screen.answer("Network of the account [testnet]", "back");
    screen.answer(&format!("Account (0x...) [{OTHER}]"), ACCOUNT);
    screen.answer("Network of the account [testnet]", "");
    screen.expect("attached 1% from the price  (default \"2\")");
    screen.answer("Enter to keep these [keep]", "");
    screen.answer("Equity cap in USDC [none]", "500 USDC");
    screen.answer("File for the client key [show it]", "/no/such/dir/bot.key");
    screen.expect("cannot be made: there is no folder /no/such/dir");
    screen.answer("File for the client key [show it]", "back");
    screen.answer("Equity cap in USDC [500]", "");
    screen.answer("File for the client key [show it]", "~/bot.key");
    // Everything that will be written is told.
    screen.expect("stop: a stop that is missing is attached 1% from the price");
    screen.expect("To be written:");
    for file in [place.home().join("guard.toml"), own.join("bot.key"), place.home().join("journals")] {
        screen.expect(file.to_str().unwrap());
    }
    screen.answer("Set up now? [yes]", "back");
    screen.answer(&format!("File for the client key [{}]", own.join("bot.key").display()), "");
    screen.answer("Set up now? [yes]", "");
    succeeded(&screen.end());
    let expected = Rules::from_toml("stop = '1'\nloss_per_trade = '1.5'").unwrap();
    assert_eq!(succeeded(&place.run(&["config", "get", "rules"])).trim(), expected.to_code());
    assert_eq!(succeeded(&place.run(&["config", "get", "account"])).trim(), ACCOUNT);
    assert!(
        place.config().contains("account_network = \"testnet\"") && place.config().contains("equity_cap = \"500\"")
    );
    assert_eq!(mode(&own.join("bot.key")), 0o600);
}

#[test]
fn mainnet_refused_here_is_refused_at_the_question() {
    let place = Place::empty();
    let mut asked = screen(&place, &["init", "--refuse-mainnet", "a test machine"]);
    asked.answer("Mode [paper]", "mainnet");
    asked.expect("mainnet is refused here: a test machine");
    asked.expect("Mode [paper]");
    asked.type_in("\u{4}");
    left(asked, "nothing was set up");
    let asked = screen(&place, &["init", "--refuse-mainnet", "a test machine", "--network", "mainnet"]);
    left(asked, "mainnet is refused here (a test machine)");
}

#[test]
fn leaving_anywhere_sets_nothing_up() {
    let place = Place::with(&venue(AGENT));
    let before = place.listing();
    for keys in ["\u{4}", "\u{3}"] {
        let mut asked = up_to_the_key(&place);
        asked.expect("API wallet key (Enter: none now): ");
        asked.type_in(keys);
        left(asked, "nothing was set up");
    }
    // A line is asked for, where the terminal turns the key into a signal.
    let mut asked = screen(&place, &["init"]);
    asked.expect("Mode [paper]: ");
    asked.signal(Signal::SIGINT);
    left(asked, "nothing was set up");
    let mut asked = up_to_the_key(&place);
    asked.answer("API wallet key", "");
    asked.answer("Set up now? [yes]", "no");
    left(asked, "nothing was written");
    assert!(place.listing() == before);
}

#[test]
fn setting_up_anew_is_said_and_has_to_be_typed() {
    let place = Place::paper();
    left(screen(&place, &["init"]), "--force sets up anew");
    let before = place.listing();
    let mut asked = screen(&place, &["init", "--force"]);
    asked.expect("holds a set-up for paper of 0x1111");
    asked.expect("its 1 clients are no longer accepted");
    asked.answer("Type `anew` to set up anew [leave it]", "yes");
    left(asked, "left as it is");
    assert!(place.listing() == before);

    let journal = succeeded(&place.run(&["journal-show", "--mode", "paper"]));
    let rules = rules();
    let args = ["init", "--force", "--network", "paper", "--account", ACCOUNT, "--rules", &rules, "--equity-cap", "5"];
    let more = ["--listen", "127.0.0.1:0", "--ip-share", "1", "--account-network", "mainnet"];
    let mut asked = screen(&place, &[&args[..], &more].concat());
    asked.answer("Type `anew` to set up anew", "anew");
    asked.answer("File for the client key", "");
    asked.answer("Set up now?", "");
    let output = asked.end();
    succeeded(&output);
    assert!(text(&output.stderr).contains("the risk journal in"), "{}", text(&output.stderr));
    assert_eq!(succeeded(&place.run(&["journal-show", "--mode", "paper"])), journal);
}

#[test]
fn a_key_on_standard_input_and_questions_do_not_go_together() {
    let place = Place::empty();
    left(screen(&place, &["init", "--key-stdin"]), "--key-stdin goes with --non-interactive");
    // And a terminal is no place to read a key from in other commands.
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    left(screen(&place, &["key", "check", "--key-stdin"]), "from a pipe or a file");
    left(screen(&place, &["key", "replace", "--key-stdin"]), "put `< FILE` behind");
}

#[test]
fn a_flag_that_would_do_nothing_is_refused_or_told_of() {
    let place = Place::with(&venue(AGENT));
    let seal = ["init", "--key-store", "host-creds"];
    left(screen(&place, &[&seal[..], &["--network", "paper"]].concat()), "--key-store host-creds has nothing to do");
    left(screen(&place, &[&seal[..], &["--network", "testnet", "--no-key"]].concat()), "has nothing to do");
    left(screen(&place, &["init", "--network", "paper", "--confirm-mainnet", ACCOUNT]), "--confirm-mainnet is for");
    let mut asked = screen(&place, &seal);
    asked.answer("Mode [paper]", "");
    left(asked, "has nothing to do");
    // That there is a key is known only once it is asked for.
    let args = ["init", "--network", "testnet", "--account", ACCOUNT, "--rules", &rules(), "--equity-cap", "500"];
    let more = ["--listen", "127.0.0.1:0", "--ip-share", "1", "--key-store", "host-creds"];
    let mut asked = screen(&place, &[&args[..], &more].concat());
    asked.answer("API wallet key", "");
    asked.expect("--key-store host-creds has nothing to seal");
    asked.type_in("\u{4}");
    left(asked, "nothing was set up");
    assert_eq!(place.listing().len(), 2, "the home and its config");
}

#[test]
fn a_long_wait_says_for_what() {
    // A venue that takes questions and never answers.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = Place::with(&format!("[venue]\nurl = \"http://{}\"\n", listener.local_addr().unwrap()));
    let mut screen = up_to_the_key(&place);
    screen.answer("API wallet key", FAKE_KEY);
    screen.expect(&format!("waiting for the venue at http://{} (2 s)", listener.local_addr().unwrap()));
}
