//! Cancels of ids that nothing has take no large part of the account's allowance, however much of it is left, and hold up
//! no cancel of what is open.

use serde_json::{Value, json};

use crate::clients::requests_used;
use crate::signing::{ETH, limit, place};
use crate::stand::{Mode, Stand, until};

fn cancel(oids: impl Iterator<Item = u64>) -> Value {
    let cancels: Vec<Value> = oids.map(|oid| json!({"a": ETH, "o": oid})).collect();
    json!({"type": "cancel", "cancels": cancels})
}

#[test]
fn invented_ids_spend_no_more_than_their_part() {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    let reply = stand.send(&place(&limit(ETH, true, "2300", "0.01")));
    let known = reply["response"]["data"]["statuses"][0]["resting"]["oid"].as_u64().unwrap();
    until("it to be read", || (stand.status()["open_orders"][0]["oid"] == known).then_some(()));
    let before = requests_used(&stand);
    for round in 0..20 {
        stand.send(&cancel((0..50).map(|at| known + 1_000 + 50 * round + at)));
    }
    let spent = requests_used(&stand) - before;
    assert!(spent <= 150, "{spent} requests for a thousand ids that never were");
    // And known orders go all the same.
    let reply = stand.send(&cancel((0..50).map(|at| known + at)));
    assert_eq!(reply["response"]["data"]["statuses"][0], "success", "{reply}");
    let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
    assert!(orders.iter().all(|order| order["oid"] != known), "{orders:?}");
}
