//! A venue whose reads lag behind its own answers hides nothing from the limits.

use serde_json::{Value, json};

use crate::signing::{ETH, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{fault, held};
use rust_decimal::{Decimal, dec};

/// A buy of 3.9 ETH, nearly the whole position cap.
fn buy(px: &str, tif: &str) -> Value {
    place(&json!({"a": ETH, "b": true, "p": px, "s": "3.9", "r": false, "t": {"limit": {"tif": tif}}}))
}

/// Waits until the venue has answered this question so many times more.
fn more_reads(stand: &Stand, question: &str, times: u64) {
    let reads = || stand.venue.truth()["reads"][question].as_u64().unwrap_or_default();
    let before = reads();
    until(question, || (reads() >= before + times).then_some(()));
}

/// What is held at 2500 and what is bid for, USDC.
fn notional(stand: &Stand) -> Decimal {
    let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
    let entries = orders.iter().filter(|order| order["side"] == "B" && order["reduceOnly"] == false);
    let number = |text: &Value| text.as_str().unwrap().parse::<Decimal>().unwrap();
    let resting: Decimal = entries.map(|order| number(&order["sz"]) * number(&order["limitPx"])).sum();
    held(stand, "ETH").map_or(Decimal::ZERO, |size| size.parse::<Decimal>().unwrap() * dec!(2500)) + resting
}

#[test]
fn an_account_read_that_lags_frees_nothing_that_has_filled() {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    stand.without_feed();
    fault(&stand, "clearinghouseState", "stale", 6, "");
    for px in ["2505", "2506", "2507"] {
        stand.send(&buy(px, "Ioc"));
        more_reads(&stand, "clearinghouseState", 2);
    }
    assert!(notional(&stand) <= dec!(10000), "{} USDC are held", notional(&stand));
}

#[test]
fn an_orders_read_that_lags_frees_nothing_that_rests() {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    stand.without_feed();
    fault(&stand, "frontendOpenOrders", "stale", 1, "");
    for px in ["2400", "2401"] {
        stand.send(&buy(px, "Gtc"));
        more_reads(&stand, "frontendOpenOrders", 1);
        more_reads(&stand, "clearinghouseState", 2);
    }
    assert!(notional(&stand) <= dec!(10000), "{} USDC are bid for", notional(&stand));
}

/// However long it lasts, and however long the entries are apart.
#[test]
fn orders_reads_that_go_on_lagging_free_nothing_that_rests() {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    stand.without_feed();
    fault(&stand, "frontendOpenOrders", "stale", 1_000, "");
    for number in 0..5 {
        stand.send(&buy(&format!("240{number}"), "Gtc"));
        more_reads(&stand, "frontendOpenOrders", 1);
        more_reads(&stand, "clearinghouseState", 2);
    }
    assert!(notional(&stand) <= dec!(10000), "{} USDC are bid for", notional(&stand));
}

/// Also beyond the half minute after which each is asked for by itself.
#[test]
fn orders_reads_that_lag_for_over_half_a_minute_free_nothing_that_rests() {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    stand.without_feed();
    fault(&stand, "frontendOpenOrders", "stale", 1_000, "");
    stand.send(&buy("2400", "Gtc"));
    assert!(notional(&stand) > dec!(9000));
    for px in ["2401", "2402"] {
        more_reads(&stand, "orderStatus", 1);
        more_reads(&stand, "frontendOpenOrders", 1);
        more_reads(&stand, "clearinghouseState", 2);
        stand.send(&buy(px, "Gtc"));
    }
    assert!(notional(&stand) <= dec!(10000), "{} USDC are bid for", notional(&stand));
}
