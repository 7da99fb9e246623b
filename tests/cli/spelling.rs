//! Commands, flags and values that are misspelt or another program's: each is told with the whole command, which is taken as it
//! stands.

use std::process::Command;

use crate::place::*;

/// Refused with this command, which names the home; it is taken, or refused for another reason than its words.
fn meant(place: &Place, typed: &str, command: &str) {
    let args: Vec<&str> = typed.split(' ').collect();
    let whole = format!("`svc-guard --home {} {command}`", place.home().display());
    place.refuses(&args, &whole);
    let shell = format!("PATH=\"$(dirname '{}')\":$PATH; {}", env!("CARGO_BIN_EXE_svc-guard"), whole.trim_matches('`'));
    let output = ended(Command::new("/bin/sh").args(["-c", &shell.replace("FILE", "/dev/null")]));
    let said = text(&output.stderr);
    for odd in ["not taken there", "unexpected argument", "unrecognized", "invalid value", "there is no `"] {
        assert!(!said.contains(odd), "{command}: {said}");
    }
}

#[test]
fn a_command_that_is_misspelt_is_told_with_the_one_that_was_meant() {
    let place = Place::paper();
    for (typed, command) in [
        ("cofig get rules", "config get rules"),
        ("key chek", "key check --key-stdin < FILE"),
        ("jounal-show", "journal-show --mode paper"),
        ("journal_show --mode paper", "journal-show --mode paper"),
        ("checkconfig", "check-config"),
        ("pari", "pair"),
        ("config rules", "config get rules"),
        ("config ip-share", "config get ip_share"),
    ] {
        meant(&place, typed, command);
    }
    // These would go on running.
    for (typed, command) in [("rnu --network paper", "run --network paper"), ("mpc", "mcp"), ("notfy", "notify")] {
        let said = format!("use `svc-guard --home {} {command}`", place.home().display());
        place.refuses(&typed.split(' ').collect::<Vec<_>>(), &said);
    }
    place.refuses(&["client", "lst"], "`clients` under [auth] in ");
    place.refuses(&["statu"], "there is no `status`; use GET /guard/status");
    place.refuses(&["xyz"], "unrecognized subcommand 'xyz'");
    place.refuses(&["klil"], "the kill switch is NOT pulled by this");
}

#[test]
fn a_value_of_the_config_that_is_misspelt_is_told_with_its_command() {
    let place = Place::paper();
    for (typed, command) in [
        ("config get ip-share", "config get ip_share"),
        ("config get Rules", "config get rules"),
        ("config get --listen", "config get listen"),
        ("config set lisen 127.0.0.1:1", "config set listen 127.0.0.1:1"),
        ("config set Listen 127.0.0.1:2", "config set listen 127.0.0.1:2"),
        ("config set rules=stop=1", "config set rules stop=1"),
        ("config set --rules stop=1.2", "config set rules stop=1.2"),
        ("config set --rules=stop=1.4", "config set rules stop=1.4"),
        ("config set --ip-share 1/2", "config set ip_share 1/2"),
    ] {
        meant(&place, typed, command);
    }
    assert!(succeeded(&place.run(&["config", "get", "ip_share"])).contains("1/2"), "what was told was done");
    place.refuses(&["config", "get", "api_wallet"], "is none of the possible values");
}

#[test]
fn a_flag_of_another_program_is_told_with_the_one_that_does_it() {
    let place = Place::paper();
    for (typed, command) in [
        ("report --mode paper --market ETH", "report --mode paper --by market"),
        ("report --mode paper --client x --csv", "report --mode paper --by client --format csv"),
        ("report --mode paper --since 2026-01-01", "report --mode paper --from 2026-01-01"),
        ("report --mode paper --until=2026-01-01", "report --mode paper --to 2026-01-01"),
        ("report --mode paper --json", "report --mode paper --format json"),
        ("report --mode paper --by coin", "report --mode paper --by market"),
        ("report --mode paper --format CSV", "report --mode paper --format csv"),
        ("report paper --csv", "report --mode paper --format csv"),
        ("report 2026-01-01", "report --mode paper --from 2026-01-01 --to 2026-01-01"),
        ("journal-show paper", "journal-show --mode paper"),
        ("journal-show --network paper", "journal-show --mode paper"),
        ("journal-init paper", "journal-init --mode paper --note 'first start'"),
        ("journal-resume paper --note x", "journal-resume --mode paper --note x"),
        ("health --port 8000", "health --listen 127.0.0.1:8000"),
    ] {
        meant(&place, typed, command);
    }
    place.refuses(&["run", "--port", "8000"], "run --listen 127.0.0.1:8000` names the address");
    place.refuses(&["run", "--foreground"], "without it: leave it out");
    // A value of a flag is no word without its own.
    place.refuses(&["report", "--mode", "testnet", "--nonsense"], "unexpected argument '--nonsense'");
}

#[test]
fn a_value_that_cannot_be_is_told_with_one_that_can() {
    let place = Place::paper();
    for (typed, command) in [
        ("config set ip_share 1/100", "config set ip_share 1/8"),
        ("config set ip_share 2", "config set ip_share 1/2"),
        ("config set equity_cap 1,000", "config set equity_cap 1000"),
        ("config set equity_cap 1000,50", "config set equity_cap 1000.50"),
        ("config set equity_cap $1,000", "config set equity_cap 1000"),
        ("config set equity_cap 1000USDC", "config set equity_cap 1000"),
        ("config set rules stop-loss=1", "config set rules stop=1"),
        ("config set rules stop=80", "config set rules stop=1"),
        ("config set rules stop=abc", "config set rules stop=1"),
        ("config set rules markets=BTC;ETH", "config set rules markets=BTC,ETH"),
        ("config set rules markets=ALL", "config set rules markets=all"),
        ("report --mode paper --fills json", "report --mode paper --fills --format json"),
        ("report --fills csv", "report --mode paper --fills --format csv"),
        ("report --mode paper --format xlsx", "report --mode paper --format csv"),
        ("report --mode paper --from 2026/01/31", "report --mode paper --from 2026-01-31"),
        ("journal-resume reviewed", "journal-resume --mode paper --note reviewed"),
        ("client rotate bot", "client add --out FILE"),
        ("health --listen 8547", "health --listen 127.0.0.1:8547"),
        ("health --listen=8547", "health --listen=127.0.0.1:8547"),
    ] {
        meant(&place, typed, command);
    }
    place.refuses(&["run", "--ip-share", "1/100"], "run --ip-share 1/8`");
    place.refuses(&["run", "--network=TESTNET"], "run --network=testnet`");
    for day in ["today", "yesterday"] {
        let told = text(&place.run(&["report", "--mode", "paper", "--from", day]).stderr);
        assert!(told.contains("report --mode paper --from 20"), "{told}");
    }
    place.refuses(
        &["journal-init", "--mode", "paper", "--note", ""],
        "journal-init --mode paper --note 'looked into it'`",
    );
    std::fs::write(place.home().join("notify.toml"), "").unwrap();
    place.refuses(&["notify", "test"], "under a line [[target]] stand its name, its form");
}

/// On mainnet this is the number that bounds every limit: another one than was meant must not be a copy away.
#[test]
fn no_equity_cap_is_advised_that_may_not_be_meant() {
    let place = Place::paper();
    for typed in ["1e3", "1.5e6", "10k", "2m", "-5", "１０００", "1000,500", "0"] {
        let output = place.run(&["config", "set", "equity_cap", typed]);
        refused(&output, "in plain digits");
        let told = text(&output.stderr);
        let advised = told.split_once("digits").unwrap().1.replace(&place.home().display().to_string(), "");
        assert!(advised.contains("config set equity_cap USDC`"), "{told}");
        assert!(!advised.contains(|letter: char| letter.is_ascii_digit()), "{told}");
    }
    let place = Place::empty();
    let told = text(&place.run(&init(&["--equity-cap", "1000,50"])).stderr);
    assert!(told.contains("a point parts the digits: 1000.50") && told.contains("--equity-cap 1000.50"), "{told}");
}

/// A coin in small letters allows nothing, and nobody would see why.
#[test]
fn coins_in_small_letters_are_told_with_the_command_that_names_them() {
    let place = Place::paper();
    let change = format!("`svc-guard --home {} config set rules markets=ETH,BTC`", place.home().display());
    let told = succeeded(&place.run(&["config", "set", "rules", "markets=btc,ETH"]));
    assert!(told.contains("is BTC meant?") && told.contains(&change), "{told}");
    assert!(succeeded(&place.run(&["config", "set", "rules", "markets=btc,eth"])).contains("are BTC, ETH meant?"));
    let place = Place::empty();
    std::fs::write(place.path("rules.toml"), "markets = [\"btc\"]\n").unwrap();
    let file = format!("@{}", place.path("rules.toml").display());
    let output = place.run(&["init", "--non-interactive", "--account", ACCOUNT, "--rules", &file]);
    succeeded(&output);
    assert!(text(&output.stderr).contains("config set rules markets=BTC`"), "{}", text(&output.stderr));
}

/// A cap is loosened and lifted in words; a note beside the line that goes stays; a point is no mark between thousands.
#[test]
fn a_change_of_the_cap_is_told_in_words_and_drops_no_note() {
    let place = Place::paper();
    let file = place.home().join("guard.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("equity_cap = \"1000\" # what I can lose\n{config}")).unwrap();
    let set = |value: &str| succeeded(&place.run(&["config", "set", "equity_cap", value]));
    assert!(set("2000").contains("1000 USDC -> 2000 USDC  (looser)"));
    assert!(set("900.5").contains("2000 USDC -> 900.5 USDC  (stricter)"));
    let told = set("1.000");
    assert!(
        told.contains("900.5 USDC -> 1 USDC  (stricter)") && told.contains("config set equity_cap 1000`"),
        "{told}"
    );
    assert!(set("none").contains("1 USDC -> none  (looser)"));
    let now = std::fs::read_to_string(&file).unwrap();
    assert_eq!(now, format!("# what I can lose\n{config}"));
}

/// Who asks for help in the same breath has pulled nothing.
#[test]
fn the_help_of_a_kill_says_that_it_pulls_nothing() {
    let place = Place::paper();
    let output = place.run(&["kill", "--reason", "x", "--help"]);
    assert!(succeeded(&output).contains("Usage:") && text(&output.stderr).contains("NOT pulled"));
    assert!(place.run(&["kill", "--help"]).stderr.is_empty());
    assert!(!place.home().join("kill").exists());
}
