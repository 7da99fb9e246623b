//! Who cancels several orders, one of which is gone, takes the others back at once, whatever anybody places meanwhile.

use serde_json::{Value, json};

use crate::clients::code;
use crate::signing::{ETH, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, fault};

fn rest(stand: &Stand, px: &str) -> u64 {
    let reply = stand.send(&place(&limit(ETH, true, px, "0.01")));
    reply["response"]["data"]["statuses"][0]["resting"]["oid"].as_u64().unwrap_or_else(|| panic!("{reply}"))
}

fn cancel(oids: &[u64]) -> Value {
    let cancels: Vec<Value> = oids.iter().map(|oid| json!({"a": ETH, "o": oid})).collect();
    json!({"type": "cancel", "cancels": cancels})
}

fn rests(stand: &Stand, oid: u64) -> bool {
    stand.venue.truth()["orders"].as_array().unwrap().iter().any(|order| order["oid"] == oid)
}

#[test]
fn an_id_that_is_gone_keeps_no_known_order() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let (gone, known) = (rest(&stand, "2400"), rest(&stand, "2410"));
    stand.send(&cancel(&[gone]));
    let reads = || stand.venue.truth()["reads"]["frontendOpenOrders"].as_u64().unwrap_or_default();
    let before = reads();
    until("two reads of the open orders", || (reads() > before + 1).then_some(()));
    // From here on no read shows the stops of what is placed.
    fault(&stand, "frontendOpenOrders", "http_502", 100_000, "");
    rest(&stand, "2420");
    let reply = stand.send(&cancel(&[gone, known]));
    assert!(!rests(&stand, known), "{reply}");
    let statuses = &reply["response"]["data"]["statuses"];
    assert!(statuses[0]["error"].as_str().unwrap().contains("no read has shown"), "{reply}");
    assert_eq!(statuses[1], "success");
    // By itself such an id still takes nothing.
    assert_eq!(code(&stand.send(&cancel(&[gone]))), "order_unknown");
}
