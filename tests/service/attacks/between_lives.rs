//! Money that goes while no life of the guard reads the account is withdrawn or lost, and the next life tells which, by what the one
//! before it has read last and what the venue says of fills.

use serde_json::{Value, json};

use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, held, hold, hold_covered, until_flat};

/// So long the ledger says nothing of it: more than a life waits that knows nothing of before.
const LATE_MS: u64 = 6_000;

fn risk(stand: &Stand) -> Value {
    stand.status()["risk"].clone()
}

/// A service that has read what is held, and has left word of that; it is gone in the next moment.
fn killed() -> Stand {
    let rules =
        WIDE.replace("daily_loss = \"90\"", "daily_loss = \"5\"").replace("drawdown = \"95\"", "drawdown = \"15\"");
    let mut stand = Stand::up(Mode::Testnet, &rules);
    hold_covered(&stand, "BTC", "0.01");
    let word = stand.home().join("run/account");
    let has_told = || std::fs::read_to_string(&word).is_ok_and(|text| text.contains("\"BTC\""));
    until("word of what is held", || has_told().then_some(()));
    stand.kill();
    stand
}

#[test]
fn what_is_withdrawn_or_lent_between_two_lives_closes_nothing() {
    let lent = json!({"type": "borrowLend", "token": "USDC", "operation": "supply", "amount": "3000.0", "interestAmount": "0.0"});
    for moved in [
        json!({"op": "withdraw", "usd": "3000", "ledger_delay_ms": LATE_MS}),
        json!({"op": "ledger", "usd": "-3000", "ledger_delay_ms": 0, "delta": lent}),
    ] {
        let mut stand = killed();
        stand.venue.control(&moved).unwrap();
        stand.launch();
        until("the day's start to move", || (risk(&stand)["day_start_equity"] == "7000").then_some(()));
        assert_eq!(risk(&stand)["state"], "active", "{moved}");
        assert!(held(&stand, "BTC").is_some() && stand.events_of("flatten").is_empty(), "{moved}");
    }
}

#[test]
fn what_is_lost_between_two_lives_halts_the_next() {
    let mut stand = killed();
    // Opened and closed by hand: the positions are as they were, and 600 are gone.
    let at = |szi: &str, px: &str| json!({"op": "position", "coin": "ETH", "szi": szi, "entry_px": px});
    stand.venue.control(&json!([at("1", "2500"), at("0", "1900")])).unwrap();
    stand.launch();
    until("the halt", || (risk(&stand)["state"] == "halted_for_day").then_some(()));
    until_flat(&stand);
}

/// An answer that is dated ahead makes nothing old that comes after it: what is opened then can be closed at once.
#[test]
fn an_answer_that_is_dated_ahead_traps_nobody() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let reads = || stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap_or_default();
    let more = |times: u64| {
        let before = reads();
        until("newer reads", || (reads() >= before + times).then_some(()));
    };
    hold_covered(&stand, "BTC", "0.01");
    stand
        .venue
        .control(&json!({"op": "fault", "on": "clearinghouseState", "kind": "early", "times": 1, "ms": 9_500}))
        .unwrap();
    stand.without_feed();
    more(2);
    hold(&stand, "ETH", "0.4");
    more(2);
    let told = stand.send(&crate::signing::closing(crate::signing::ETH, "2490", "0.4"));
    assert_eq!(told["guard"]["code"], "reduces", "{told}");
    until("the exit", || held(&stand, "ETH").is_none().then_some(()));
}
