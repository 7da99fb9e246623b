//! Client order ids are public: nobody takes another's cancel away by resting an order of its own under the same id.

use serde_json::{Value, json};

use crate::clients::{another, code, send_as};
use crate::signing::{ETH, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, covered, hold, hold_covered};

const ID: &str = "0xcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd";

fn under_the_id(mut order: Value) -> Value {
    order["c"] = json!(ID);
    place(&order)
}

/// Where the orders rest that are no stops of the guard's, by their prices.
fn resting(stand: &Stand) -> Vec<String> {
    let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
    let plain = orders.into_iter().filter(|order| order["isTrigger"] == false);
    plain.map(|order| order["limitPx"].as_str().unwrap().to_owned()).collect()
}

/// Another key of the account has placed an order under it, which no rule of the guard's could hinder.
#[test]
fn a_cancel_by_an_id_of_several_orders_takes_the_first_of_them() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.5");
    stand.send(&under_the_id(limit(ETH, true, "2400", "2")));
    let profit =
        json!({"a": ETH, "b": false, "p": "2600", "s": "0.01", "r": true, "c": ID, "t": {"limit": {"tif": "Gtc"}}});
    stand.venue.control(&json!({"op": "order", "order": profit})).unwrap();
    until("a read of both", || {
        let known = stand.status()["open_orders"].as_array().unwrap().clone();
        (known.iter().filter(|order| order["cloid"] == ID).count() == 2).then_some(())
    });
    let reply = stand.send(&json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": ID}]}));
    assert_eq!(reply["response"]["data"]["statuses"], json!(["success"]), "{reply}");
    let left = resting(&stand);
    assert!(left.len() == 1 && left[0].starts_with("2600"), "{left:?}");
    assert!(reply["guard"]["text"].as_str().unwrap().contains("had it first"), "{reply}");
}

#[test]
fn a_cancel_by_an_id_takes_its_own_order() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let second = another(&stand);
    hold(&stand, "ETH", "0.5");
    stand.start();
    covered(&stand, "ETH", "0.5");
    send_as(&stand, &second, &under_the_id(limit(ETH, true, "2400", "2")));
    let profit = json!({"a": ETH, "b": false, "p": "2600", "s": "0.01", "r": true, "t": {"limit": {"tif": "Gtc"}}});
    let reply = stand.send(&under_the_id(profit));
    assert_eq!(resting(&stand).len(), 2);
    send_as(&stand, &second, &json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": ID}]}));
    let left = resting(&stand);
    assert!(left.len() == 1 && left[0].starts_with("2600"), "{left:?}");
    assert_eq!(code(&reply), "resized", "{reply}");
}
