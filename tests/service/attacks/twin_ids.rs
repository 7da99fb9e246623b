//! Two orders may carry one client order id, and nobody knows which of them the venue takes: no modify by it takes a stop
//! away from its position.

use serde_json::{Value, json};

use super::loosened_stop::{sell_stop, stays_covered};
use crate::clients::code;
use crate::signing::ETH;
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, hold_covered};

const ID: &str = "0xabababababababababababababababab";

fn take_profit(px: &str) -> Value {
    json!({"a": ETH, "b": false, "p": px, "s": "0.01", "r": true, "t": {"limit": {"tif": "Gtc"}}, "c": ID})
}

#[test]
fn a_modify_by_an_id_of_two_takes_no_stop_away() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "2");
    let mut stop = sell_stop("2480", "2");
    stop["c"] = json!(ID);
    stand.send(&json!({"type": "order", "orders": [take_profit("2600"), stop], "grouping": "na"}));
    // From here on nobody sees that a stop is gone, and puts another one there.
    until("both to be read", || (stand.status()["open_orders"].as_array()?.len() == 2).then_some(()));
    stand.venue.fault("frontendOpenOrders", "stale", 1_000).unwrap();
    let reply = stand.send(&json!({"type": "modify", "oid": ID, "order": take_profit("2700")}));
    assert_eq!(code(&reply), "stop_loosened", "{reply}");
    stays_covered(&stand, "2480", "2", 3);
}
