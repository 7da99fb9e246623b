//! A group whose entry would turn a position around closes it at least: what the group wanted behind the entry goes
//! nowhere where nothing is opened, and the exit is not refused for its sake.

use serde_json::{Value, json};

use crate::signing::ETH;
use crate::stand::{Mode, Stand};
use crate::watched::{WIDE, held, hold_covered, stops};

/// Sells twice what is held, with a stop for the short that would come of it.
fn flip(tif: &str, stop_size: &str) -> Value {
    let entry = json!({"a": ETH, "b": false, "p": "2400", "s": "2", "r": false, "t": {"limit": {"tif": tif}}});
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": "2540", "tpsl": "sl"}});
    let stop = json!({"a": ETH, "b": true, "p": "2600", "s": stop_size, "r": true, "t": trigger});
    json!({"type": "order", "orders": [entry, stop], "grouping": "normalTpsl"})
}

fn closes_by(stand: &Stand, action: &Value) {
    hold_covered(stand, "ETH", "1");
    let reply = stand.send(action);
    let told = reply["response"]["data"]["statuses"].as_array().unwrap_or_else(|| panic!("{reply}"));
    assert_eq!(told.len(), 2, "{reply}");
    assert!(told[0].get("filled").is_some() && told[1].get("error").is_some(), "{reply}");
    assert_eq!(held(stand, "ETH"), None, "{reply}");
    let stop_of_short = stops(stand, "ETH").into_iter().find(|stop| stop["side"] == "B");
    assert_eq!(stop_of_short, None, "nothing is there for it");
}

/// What an order may be worth leaves nothing to open.
#[test]
fn a_flip_that_may_not_open_closes_without_its_stop() {
    for tif in ["Ioc", "Gtc"] {
        let stand = Stand::up(Mode::Testnet, &format!("{WIDE}order_value = \"10\"\n"));
        closes_by(&stand, &flip(tif, "2"));
    }
}

/// Nothing may be opened in that market at all.
#[test]
fn a_flip_that_is_refused_closes_without_its_stop() {
    let stand = Stand::up(Mode::Testnet, &format!("{WIDE}markets = [\"BTC\"]\n"));
    closes_by(&stand, &flip("Ioc", "1"));
}
