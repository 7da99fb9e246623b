//! A flip that rests outlives the position that it was to close.

use serde_json::{Value, json};

use crate::signing::{ETH, closing, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{held, is_same};
use rust_decimal::{Decimal, dec};

/// A limit order of ETH with this time in force.
fn order(is_buy: bool, px: &str, size: &str, tif: &str) -> Value {
    place(&json!({"a": ETH, "b": is_buy, "p": px, "s": size, "r": false, "t": {"limit": {"tif": tif}}}))
}

/// A service whose account is long of 3.9 ETH, nearly the position cap, and knows it.
fn long() -> Stand {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    stand.send(&order(true, "2505", "3.9", "Ioc"));
    assert!(is_same(&held(&stand, "ETH").unwrap(), "3.9"));
    until("the guard to see it", || (stand.status()["positions"][0]["size"] == "3.9").then_some(()));
    stand
}

/// What is held, USDC at this price, is within the whole equity.
fn within_the_cap(stand: &Stand, px: Decimal) {
    let size: Decimal = held(stand, "ETH").map_or(Decimal::ZERO, |size| size.parse().unwrap());
    assert!(size < Decimal::ZERO, "the flip passed as far as it fits: {size}");
    assert!(size.abs() * px <= dec!(10000), "{size} is over the position cap");
}

#[test]
fn a_flip_that_rests_opens_no_more_than_the_cap_once_the_position_is_closed_otherwise() {
    for tif in ["Alo", "Gtc"] {
        let stand = long();
        let reply = stand.send(&order(false, "2530", "7.8", tif));
        assert_eq!(reply["guard"]["verdict"], "resize", "{reply}");
        let rests =
            || stand.venue.truth()["orders"].as_array().unwrap().iter().any(|order| order["limitPx"] == "2530.0");
        assert!(rests(), "{reply}: {}", stand.venue.truth()["orders"]);
        stand.send(&closing(ETH, "2450", "3.9"));
        assert_eq!(held(&stand, "ETH"), None);
        stand.venue.price("ETH", "2531").unwrap();
        until("the flip to fill", || held(&stand, "ETH").map(drop));
        within_the_cap(&stand, dec!(2531));
    }
}

/// Whether it rests or not, an order of no more than the position closes and passes.
#[test]
fn what_only_closes_passes_beside_a_flip_that_rests() {
    let stand = long();
    stand.send(&order(false, "2530", "7.8", "Alo"));
    let reply = stand.send(&order(false, "2490", "3.9", "Ioc"));
    assert_eq!(reply["guard"]["changes"][0], "sell of 3.9 only closes and goes as reduce-only", "{reply}");
    assert_eq!(held(&stand, "ETH"), None);
}
