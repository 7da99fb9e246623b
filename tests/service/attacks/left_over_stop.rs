//! The guard's own stop of a position that is gone, kept for an entry that rests, is no cover of a new one far above it.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, hold, hold_covered, is_same, stops};

#[test]
fn an_own_stop_left_far_from_the_price_covers_no_new_position() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    // A market maker's bid that nothing fills.
    stand.venue.control(&json!({"op": "order", "order": bid()})).unwrap();
    hold_covered(&stand, "ETH", "0.5");
    let reads = || stand.venue.truth()["reads"]["frontendOpenOrders"].as_u64().unwrap();
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0", "entry_px": "2500"})).unwrap();
    let before = reads();
    until("the open orders to be read twice", || (reads() >= before + 2).then_some(()));
    stand.venue.price("ETH", "3300").unwrap();
    hold(&stand, "ETH", "0.5");
    let near = |stop: &Value| {
        let px: Decimal = stop["triggerPx"].as_str().unwrap().parse().unwrap();
        px >= Decimal::from(3_200) && is_same(stop["sz"].as_str().unwrap(), "0.5")
    };
    until("a stop near the price", || stops(&stand, "ETH").iter().any(near).then_some(()));
}

fn bid() -> Value {
    json!({"a": crate::signing::ETH, "b": true, "p": "1500", "s": "0.1", "r": false, "t": {"limit": {"tif": "Gtc"}}})
}
