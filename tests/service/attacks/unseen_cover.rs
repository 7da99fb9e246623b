//! A stop of the guard's is no client's to cancel, also where only the venue has told its order id.

use serde_json::{Value, json};

use crate::signing::{ETH, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, fault, held, stops};

/// The stop that goes with an entry gets the order id after it, which no answer tells.
#[test]
fn a_guessed_id_takes_no_stop_that_no_read_has_shown() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.without_feed();
    fault(&stand, "frontendOpenOrders", "delay", 2, "");
    let entry = json!({"a": ETH, "b": true, "p": "2510", "s": "0.4", "r": false, "t": {"limit": {"tif": "Ioc"}}});
    let reply = stand.send(&place(&entry));
    let oid = reply["response"]["data"]["statuses"][0]["filled"]["oid"].as_u64().unwrap();
    let child = until("the stop", || stops(&stand, "ETH").into_iter().next());
    let child_oid = child["oid"].as_u64().unwrap();
    assert!(child_oid > oid);
    let cancel: Value = json!({"type": "cancel", "cancels": [{"a": ETH, "o": child_oid}]});
    stand.send(&cancel);
    assert!(stops(&stand, "ETH").iter().any(|stop| stop["oid"] == child_oid), "{:?}", stops(&stand, "ETH"));
    assert!(held(&stand, "ETH").is_some());
}
