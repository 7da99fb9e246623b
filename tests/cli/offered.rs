//! Commands that a refusal offers: each is taken as it stands, and allows no more than was asked for, nor than is allowed now.

use std::process::Command;

use crate::place::*;

/// What a refusal of these words says.
fn said(place: &Place, args: &[&str]) -> String {
    let before = place.listing();
    let output = place.run(args);
    refused(&output, "");
    assert!(place.listing() == before, "{args:?} left something behind");
    text(&output.stderr)
}

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
