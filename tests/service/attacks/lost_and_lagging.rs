//! An order whose answer was lost, and that no read shows yet, holds what it could fill: a venue that answers late and
//! shows late is given nothing twice, however late that is. What nobody shows is taken back, and then there is room again.

use serde_json::json;

use crate::signing::{ETH, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::fault;
use rust_decimal::{Decimal, dec};

/// What rests there to buy, USDC.
fn bid(stand: &Stand) -> Decimal {
    let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
    let entries = orders.iter().filter(|order| order["side"] == "B" && order["reduceOnly"] == false);
    let number = |text: &serde_json::Value| text.as_str().unwrap().parse::<Decimal>().unwrap();
    entries.map(|order| number(&order["sz"]) * number(&order["limitPx"])).sum()
}

#[test]
fn lost_answers_and_reads_that_lag_give_no_cap_twice() {
    no_cap_twice(&Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n"));
}

#[test]
fn by_reads_alone_they_give_none_twice_either() {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    stand.without_feed();
    no_cap_twice(&stand);
}

fn no_cap_twice(stand: &Stand) {
    let lag = json!({"op": "setting", "name": "order_status_lag_ms", "value": 600_000});
    stand.venue.control(&lag).unwrap();
    fault(stand, "frontendOpenOrders", "stale", 1_000_000, "");
    fault(stand, "order", "apply_then_drop", 1_000_000, "");
    let taken_back = || stand.venue_saw().iter().filter(|request| request["type"] == "cancelByCloid").count();
    let (mut entries, mut after) = (0, 0);
    for round in 0..200 {
        stand.send(&place(&limit(ETH, true, &format!("24{:02}", round % 100), "3.8")));
        let reads = || stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap_or_default();
        let before = reads();
        until("time to pass", || (reads() > before).then_some(()));
        let bid = bid(stand);
        assert!(bid <= dec!(10_000), "{bid} USDC are bid for in round {round}");
        entries += usize::from(bid > dec!(0));
        after += usize::from(taken_back() > 0);
        if after > 5 {
            break;
        }
    }
    assert!(entries > 0 && taken_back() > 0, "{entries} rounds with bids");
}
