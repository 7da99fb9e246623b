//! Deposits and withdrawals are neither profit nor loss, though the balance moves before the ledger says why.

use serde_json::{Value, json};

use crate::stand::{Mode, Stand, until};
use crate::watched::{hold, hold_covered, until_flat};

const RULES: &str = "loss_per_trade = \"50\"\nopen_risk = \"60\"\nposition = \"400\"\nexposure = \"800\"\n";

fn flow(stand: &Stand, op: &str, usd: &str, late_ms: u64) {
    stand.venue.control(&json!({"op": op, "usd": usd, "ledger_delay_ms": late_ms})).unwrap();
}

/// Waits for a read of the account that begins after all that happened until now, and is answered: what a feed tells is none.
fn read_again(stand: &Stand) {
    let reads = || stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap_or_default();
    let before = reads();
    until("a newer read", || (reads() >= before + 3).then_some(()));
}

fn risk(stand: &Stand) -> Value {
    stand.status()["risk"].clone()
}

/// Waits until the day's start has moved to this.
fn day_start(stand: &Stand, usd: &str) -> Value {
    until("the day's start to move", || Some(risk(stand)).filter(|risk| risk["day_start_equity"] == usd))
}

#[test]
fn a_withdrawal_fires_nothing() {
    let stand = Stand::up(Mode::Testnet, RULES);
    hold_covered(&stand, "BTC", "0.01");
    read_again(&stand);
    flow(&stand, "withdraw", "6000", 6_000);
    let risk = day_start(&stand, "4000");
    assert_eq!(
        (&risk["state"], &risk["peak_equity"], &risk["day_pnl"]),
        (&json!("active"), &json!("4000"), &json!("0"))
    );
    // Two at once, and a deposit between them.
    flow(&stand, "withdraw", "900", 1_500);
    flow(&stand, "deposit", "400", 0);
    flow(&stand, "withdraw", "900", 800);
    let risk = day_start(&stand, "2600");
    assert_eq!((&risk["state"], &risk["drawdown"]), (&json!("active"), &json!("0")), "{risk}");
    assert!(stand.events_of("flatten").is_empty());
}

#[test]
fn a_deposit_is_no_peak_and_covers_up_no_loss() {
    let stand = Stand::up(Mode::Testnet, RULES);
    flow(&stand, "deposit", "5000", 1_000);
    let risk = day_start(&stand, "15000");
    assert_eq!((&risk["peak_equity"], &risk["drawdown"]), (&json!("15000"), &json!("0")), "{risk}");
    // 5% of 15000 are lost while as much comes in.
    hold(&stand, "BTC", "0.01");
    hold_covered(&stand, "ETH", "6");
    let ops = json!([
        {"op": "price", "coin": "ETH", "px": "2360"},
        {"op": "deposit", "usd": "900", "ledger_delay_ms": 700},
    ]);
    stand.venue.control(&ops).unwrap();
    until("the halt", || (risk_state(&stand) == "halted_for_day").then_some(()));
    until_flat(&stand);
}

fn risk_state(stand: &Stand) -> String {
    risk(stand)["state"].as_str().unwrap_or_default().to_owned()
}

/// Money that goes while the account is in loss is no further loss of what stays: neither limit is nearer for it.
#[test]
fn a_withdrawal_in_loss_fires_nothing() {
    let stand = Stand::up(Mode::Testnet, RULES);
    hold_covered(&stand, "BTC", "0.01");
    hold_covered(&stand, "ETH", "7.5");
    // 3% down, where 5% fire, and short of the stop.
    stand.venue.price("ETH", "2460").unwrap();
    until("the loss to be seen", || (risk(&stand)["day_pnl"] == "-300").then_some(()));
    flow(&stand, "withdraw", "4850", 0);
    let risk = day_start(&stand, "5000");
    assert_eq!((&risk["state"], &risk["day_pnl"]), (&json!("active"), &json!("-150")), "{risk}");
    assert!(stand.events_of("flatten").is_empty());
    assert!(crate::watched::held(&stand, "BTC").is_some(), "nothing was closed at the venue");
}

/// The same for what is lost since the peak: a tenth of what stays is no more of it.
#[test]
fn a_withdrawal_below_the_peak_stops_nothing() {
    let stand = Stand::up(Mode::Testnet, &format!("{RULES}daily_loss = \"50\"\n"));
    hold_covered(&stand, "ETH", "25");
    // 10% down, where 15% fire, and short of the stop.
    stand.venue.price("ETH", "2460").unwrap();
    until("the loss to be seen", || (risk(&stand)["drawdown"] == "1000").then_some(()));
    flow(&stand, "withdraw", "4500", 0);
    let risk = day_start(&stand, "5000");
    assert_eq!(
        (&risk["state"], &risk["peak_equity"], &risk["drawdown"]),
        (&json!("active"), &json!("5000"), &json!("500")),
        "{risk}"
    );
    assert!(stand.events_of("flatten").is_empty());
    assert!(crate::watched::held(&stand, "ETH").is_some(), "nothing was closed at the venue");
    // A limit that is of what stays fires where it is reached.
    stand.venue.price("ETH", "2445").unwrap();
    until("the halt", || (risk_state(&stand) == "stopped").then_some(()));
    until_flat(&stand);
}

/// What is lent, or spent in another token, is not in the equity: only what a read shows to have moved is a flow.
#[test]
fn lending_a_token_fires_nothing() {
    let stand = Stand::up(Mode::Testnet, RULES);
    hold_covered(&stand, "ETH", "2");
    let lent = json!({"type": "borrowLend", "token": "HYPE", "operation": "supply", "amount": "2000.0",
        "interestAmount": "0.0"});
    let strange = json!({"type": "neverHeardOf", "usdc": "3000.0"});
    for delta in [lent, strange] {
        stand.venue.control(&json!({"op": "ledger", "delta": delta})).unwrap();
    }
    // A real flow has the ledger read at once, and stands behind them in it.
    flow(&stand, "withdraw", "1000", 0);
    let risk = day_start(&stand, "9000");
    assert_eq!((&risk["state"], &risk["peak_equity"]), (&json!("active"), &json!("9000")), "{risk}");
    until("the alert", || {
        let alerts = stand.status()["alerts"].clone();
        alerts.as_array()?.iter().any(|alert| alert["code"] == "ledger_odd").then_some(())
    });
    assert!(stand.events_of("flatten").is_empty());
    assert!(crate::watched::held(&stand, "ETH").is_some(), "nothing was closed at the venue");
}
