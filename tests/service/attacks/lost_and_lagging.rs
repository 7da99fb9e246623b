//! An order whose answer was lost, and that no read shows yet, holds what it could fill: a venue that answers late and
//! shows late is given nothing twice.

use serde_json::json;

use crate::signing::{ETH, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::fault;
use rust_decimal::{Decimal, dec};

#[test]
fn lost_answers_and_reads_that_lag_give_no_cap_twice() {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    let lag = json!({"op": "setting", "name": "order_status_lag_ms", "value": 20_000});
    stand.venue.control(&lag).unwrap();
    fault(&stand, "frontendOpenOrders", "stale", 1_000_000, "");
    fault(&stand, "order", "apply_then_drop", 1_000_000, "");
    // Over twice the seconds in which the venue is asked three times.
    let rounds = 8;
    for round in 0..rounds {
        stand.send(&place(&limit(ETH, true, &format!("24{round:02}"), "3.8")));
        let reads = || stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap_or_default();
        let before = reads();
        until("time to pass", || (reads() > before).then_some(()));
    }
    let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
    let entries = orders.iter().filter(|order| order["side"] == "B" && order["reduceOnly"] == false);
    let number = |text: &serde_json::Value| text.as_str().unwrap().parse::<Decimal>().unwrap();
    let bid: Decimal = entries.map(|order| number(&order["sz"]) * number(&order["limitPx"])).sum();
    assert!(bid > dec!(0) && bid <= dec!(10_000), "{bid} USDC are bid for");
}
