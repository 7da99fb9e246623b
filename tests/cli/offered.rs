//! Commands that a refusal offers: each is taken as it stands, and allows no more than was asked for, nor than is allowed now.

use std::process::Command;

use crate::place::*;

/// The commands of this program that a text offers.
fn commands(said: &str) -> Vec<String> {
    let quoted = said.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.contains("svc-guard ")).map(str::to_owned).collect()
}

/// Types a command into a shell, as it was offered.
fn typed(place: &Place, line: &str) -> std::process::Output {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_svc-guard")).parent().unwrap();
    let line = format!("PATH='{}':$PATH; {line}", program.display());
    ended(Command::new("/bin/sh").args(["-c", &line]).current_dir(place.folder.path()))
}

fn rule(place: &Place, change: &str) -> String {
    let said = said(place, &["config", "set", "rules", change]);
    let offered = commands(&said);
    assert_eq!(offered.len(), 1, "{said}");
    let home = format!("svc-guard --home {} config set rules ", place.home().display());
    offered[0].strip_prefix(&home).unwrap_or_else(|| panic!("{said}")).to_owned()
}

#[test]
fn a_rule_that_is_offered_is_no_looser_than_what_was_asked_for_and_what_is_there() {
    let place = Place::paper();
    for (asked, offered) in [
        ("order_value=1k", "order_value=1000"),
        ("order_value=1.5k", "order_value=1500"),
        ("order_value=1,000", "order_value=1000"),
        ("order_value=$1,000", "order_value=1000"),
        ("order_value=99.999", "order_value=99.99"),
        ("markets=[\"BTC\"]", "markets=BTC"),
        ("markets=['BTC','ETH']", "markets=BTC,ETH"),
        ("markets=BTC-PERP", "markets=BTC"),
        ("markets=BTC/USDC", "markets=BTC"),
        ("markets=btc-perp", "markets=BTC"),
        ("markets=ALL", "markets=all"),
        ("leverage=3.5", "leverage=3"),
        ("leverage=3.5x", "leverage=3"),
        ("leverage=500", "leverage=5"),
        ("leverage=default", "leverage=5"),
        ("daily_loss=500", "daily_loss=5"),
        ("daily_loss=4.999", "daily_loss=4.99"),
        ("daily_loss=3 USDC", "daily_loss=5"),
        ("stop=0", "stop=2"),
        ("stop=1,5", "stop=1.5"),
        ("duplicate_window=1.2345", "duplicate_window=1.235"),
    ] {
        assert_eq!(rule(&place, asked), offered, "{asked}");
    }
    // The present value, where that is the stricter one.
    for change in ["leverage=2", "stop=1", "daily_loss=3", "markets=ETH"] {
        succeeded(&place.run(&["config", "set", "rules", change]));
    }
    for (asked, offered) in [
        ("leverage=3.5", "leverage=2"),
        ("leverage=much", "leverage=2"),
        ("leverage=1.5", "leverage=1"),
        ("stop=80", "stop=1"),
        ("stop=none", "stop=1"),
        ("daily_loss=500", "daily_loss=3"),
        ("daily_loss=50 USDC", "daily_loss=3"),
        ("markets=none", "markets=ETH"),
        ("markets=@1", "markets=ETH"),
    ] {
        assert_eq!(rule(&place, asked), offered, "{asked}");
        let told = said(&place, &["config", "set", "rules", asked]);
        assert!(typed(&place, &commands(&told)[0]).status.success(), "{told}");
    }
}

#[test]
fn no_limit_at_all_is_offered_to_nobody() {
    let place = Place::paper();
    for (asked, offered) in [
        ("order_value=1e3", "order_value=NUMBER"),
        ("order_value=5", "order_value=NUMBER"),
        ("order_value=much", "order_value=NUMBER"),
        ("order_value=50%", "order_value=NUMBER"),
        ("markets=", "markets=COINS"),
        ("markets=@1", "markets=COINS"),
        ("markets=xyz:TSLA", "markets=COINS"),
    ] {
        assert_eq!(rule(&place, asked), offered, "{asked}");
    }
    // Nor a value that is refused in its turn.
    for (words, offered) in [
        (&["config", "set", "rules", "order-value=1k"][..], "order_value=1000"),
        (&["config", "set", "order_value", "1k"], "order_value=1000"),
        (&["config", "set", "rules", "market=[\"BTC\"]"], "markets=BTC"),
    ] {
        let said = said(&place, words);
        assert!(said.contains(&format!("config set rules {offered}`")), "{said}");
        assert!(typed(&place, &commands(&said)[0]).status.success(), "{said}");
    }
}

/// A testnet home that keeps no key, whose venue is not there.
fn testnet() -> Place {
    let place = Place::empty();
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    place
}

fn whole(place: &Place, command: &str) -> String {
    format!("`svc-guard --home {} {command}`", place.home().display())
}

#[test]
fn days_are_offered_as_they_are_written() {
    let place = Place::paper();
    let today = svc_guard::base::day::day_of(svc_guard::base::clock::now_ms());
    let (today, yesterday) = (today.to_string(), today.preceding().to_string());
    let span = |from: &str, to: &str| whole(&place, &format!("report --mode paper --from {from} --to {to}"));
    for (words, command) in [
        ("report --day today", span(&today, &today)),
        (
            "report --day=yesterday --mode paper",
            whole(&place, &format!("report --from {yesterday} --to {yesterday} --mode paper")),
        ),
        ("report --mode paper --day 2026/11/28", span("2026-11-28", "2026-11-28")),
        ("report --today", span(&today, &today)),
        ("report --mode paper --yesterday", span(&yesterday, &yesterday)),
        ("report today", span(&today, &today)),
        ("report --from yesterday --to today", span(&yesterday, &today)),
        ("report --mode paper --from 2026-11-28 --to today", span("2026-11-28", &today)),
        ("report --since yesterday --until today", span(&yesterday, &today)),
    ] {
        let told = said(&place, &words.split(' ').collect::<Vec<_>>());
        assert!(told.contains(&command), "{words}: {told}");
        assert!(typed(&place, &commands(&told)[0]).status.success(), "{words}: {told}");
    }
    // No day is made up for a word that is none.
    let told = said(&place, &["report", "--day", "doomsday"]);
    assert!(told.contains(&span("DATE", "DATE")), "{told}");
    // What is offered of the formats is not the only one.
    let told = said(&place, &["report", "--format", "xml"]);
    assert!(told.contains("\"xml\"") && told.contains("table, csv and json"), "{told}");
    assert!(typed(&place, &commands(&told)[0]).status.success(), "{told}");
}

#[test]
fn what_else_was_typed_stays_in_the_command() {
    let place = testnet();
    for (words, command) in [
        ("run --network testnet --port 25940", "run --network testnet --listen 127.0.0.1:25940"),
        ("run --port 25940", "run --network testnet --listen 127.0.0.1:25940"),
        ("run --network testnet --host 127.0.0.2 --port=25940", "run --network testnet --listen 127.0.0.2:25940"),
        (
            "run --network testnet --key-file k --bind 127.0.0.1:25940",
            "run --network testnet --key-file k --listen 127.0.0.1:25940",
        ),
        ("journal-resume --mode testnet -m x", "journal-resume --mode testnet --note x"),
        ("journal-init -m x", "journal-init --mode testnet --note x"),
        ("run --quiet --testnet", "run --quiet --network testnet"),
    ] {
        let told = said(&place, &words.split(' ').collect::<Vec<_>>());
        assert!(told.contains(&whole(&place, command)), "{words}: {told}");
    }
    // A word that nobody knows is named, and no command is offered that would be refused for it.
    let told = said(&place, &["report", "--mode", "testnet", "--day", "today", "--nonsense"]);
    assert!(told.contains("unexpected argument"), "{told}");
}

#[test]
fn no_start_is_offered_in_a_mode_that_the_home_has_not() {
    let place = testnet();
    for words in [&["run", "--network", "testnet", "--paper"][..], &["run", "paper"]] {
        let told = said(&place, words);
        assert!(told.contains("\"") && told.contains(&whole(&place, "run --network testnet")), "{told}");
        assert!(!told.contains(&whole(&place, "run --network paper")), "{told}");
        assert!(told.contains("set up for testnet") && told.contains("--home DIR"), "{told}");
    }
}

#[test]
fn rules_by_a_word_are_told_what_the_flag_takes() {
    let place = Place::empty();
    for word in ["default", "none"] {
        let told = said(&place, &["init", "--non-interactive", "--account", ACCOUNT, "--rules", word]);
        assert!(told.contains("--rules @/dev/null") && told.contains("@FILE"), "{told}");
        assert!(!told.contains(&format!("@{word}")), "{told}");
    }
    let file = place.path("mine.toml");
    std::fs::write(&file, "stop = '1'\n").unwrap();
    let told = said(&place, &["init", "--non-interactive", "--account", ACCOUNT, "--rules", file.to_str().unwrap()]);
    assert!(told.contains(&format!("--rules @{}", file.display())), "{told}");
}
