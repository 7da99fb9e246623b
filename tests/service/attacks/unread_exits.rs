//! Exits that rest, after a start that cannot read the open orders: no more of them come to rest than without it.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::signing::{ETH, closing, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, fault, held, hold_covered};

fn profit(px: u32) -> Value {
    let mut order = limit(ETH, false, &px.to_string(), "0.01");
    order["r"] = json!(true);
    order
}

#[test]
fn a_start_that_reads_no_orders_lets_no_more_exits_rest() {
    let mut stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "2");
    let hundred: Vec<Value> = (2_600..2_700).map(profit).collect();
    stand.send(&json!({"type": "order", "orders": hundred, "grouping": "na"}));
    let profits = |stand: &Stand| {
        let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
        orders.into_iter().filter(|order| order["reduceOnly"] == true && order["isTrigger"] == false).count()
    };
    assert_eq!(profits(&stand), 100);
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    fault(&stand, "frontendOpenOrders", "http_502", 100_000, "");
    stand.launch();
    let reply = until("the account's allowance to be read", || {
        let reply = stand.send(&place(&profit(2_700)));
        (reply["guard"]["code"] != "venue_budget").then_some(reply)
    });
    assert_eq!(reply["guard"]["code"], "open_exits_limit", "{reply}");
    assert_eq!(profits(&stand), 100);
    // What fills at once passes.
    until("the position to be closed", || {
        stand.send(&closing(ETH, "2400", "2"));
        held(&stand, "ETH").is_none().then_some(())
    });
}
