//! While the open orders cannot be read, and no feed tells of them, nothing is opened, and the guard is not well.

use serde_json::json;

use crate::signing::{ETH, closing, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, held, hold_covered};

#[test]
fn nothing_is_opened_by_open_orders_that_are_too_old() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    stand.without("frontendOpenOrders");
    until("ill health", || (stand.get("/healthz").status == 503).then_some(()));
    let alerts = stand.status()["alerts"].clone();
    assert_eq!(alerts[0]["code"], "orders_stale", "{alerts}");
    let reply = stand.send(&place(&limit(ETH, true, "2480", "0.1")));
    assert_eq!(reply["guard"]["code"], "account_stale", "{reply}");
    let entries = || {
        let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
        orders.into_iter().filter(|order| order["reduceOnly"] == false).count()
    };
    assert_eq!(entries(), 0);

    // An exit passes, and once they are read again so does an entry.
    stand.send(&closing(ETH, "2400", "0.4"));
    assert_eq!(held(&stand, "ETH"), None);
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until("good health", || (stand.get("/healthz").status == 200).then_some(()));
    stand.send(&place(&limit(ETH, true, "2480", "0.1")));
    assert_eq!(entries(), 1);
}
