//! Whichever child of a group fills first, the venue takes the others away: a small take profit must not take the stop of
//! a large position with it.

use serde_json::{Value, json};

use super::loosened_stop::sell_stop;
use crate::signing::{ETH, limit};
use crate::stand::{Mode, Stand, until};
use crate::watched::{covered, held, is_flat};

fn profit(px: &str, size: &str) -> Value {
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": px, "tpsl": "tp"}});
    json!({"a": ETH, "b": false, "p": px, "s": size, "r": true, "t": trigger})
}

fn group(children: &[Value]) -> Value {
    let mut orders = vec![limit(ETH, true, "2500.5", "3.9")];
    orders.extend_from_slice(children);
    json!({"type": "order", "orders": orders, "grouping": "normalTpsl"})
}

#[test]
fn a_small_take_profit_comes_beside_no_stop() {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    for children in [
        vec![profit("2501", "0.005")],
        vec![profit("2501", "3.8999")],
        vec![profit("2501", "0.005"), sell_stop("2490", "3.9")],
        vec![sell_stop("2499", "0.005"), sell_stop("2490", "3.9")],
    ] {
        let reply = stand.send(&group(&children));
        assert!(is_flat(&stand), "{reply}");
        assert_eq!(reply["guard"]["code"], "stop_loosened", "{reply}");
    }
    // One of the entry's size closes all of it.
    let reply = stand.send(&group(&[profit("2501", "3.9")]));
    assert_eq!(reply["guard"]["verdict"], "resize", "{reply}");
    covered(&stand, "ETH", "3.9");
    stand.venue.price("ETH", "2501.5").unwrap();
    until("all of it to be closed", || held(&stand, "ETH").is_none().then_some(()));
}

/// The child with this id, changed to another size and trigger.
fn changed(cloid: &str, mut child: Value, px: &str, size: &str) -> Value {
    (child["s"], child["t"]["trigger"]["triggerPx"]) = (json!(size), json!(px));
    json!({"type": "modify", "oid": cloid, "order": child})
}

fn named(mut order: Value, cloid: &str) -> Value {
    order["c"] = json!(cloid);
    order
}

const ONE: &str = "0x11111111111111111111111111111111";
const TWO: &str = "0x22222222222222222222222222222222";

/// Nor is one made small, or a stop large, where the other would be taken along.
#[test]
fn no_child_is_made_unequal_beside_a_stop() {
    let profit = named(profit("2520", "3"), ONE);
    let near = named(sell_stop("2470", "3"), TWO);
    let far = named(sell_stop("2460", "3"), ONE);
    for (children, change) in [
        ([profit.clone(), near.clone()], changed(ONE, profit, "2520", "0.01")),
        ([far.clone(), near], changed(ONE, far, "2490", "0.01")),
    ] {
        let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
        let entry = limit(ETH, true, "2500.5", "3");
        let orders = json!([entry, children[0], children[1]]);
        stand.send(&json!({"type": "order", "orders": orders, "grouping": "normalTpsl"}));
        covered(&stand, "ETH", "3");
        until("the refusal", || {
            let reply = stand.send(&change);
            (reply["guard"]["code"] == "stop_loosened").then_some(())
        });
        covered(&stand, "ETH", "3");
        // A stop that grows beyond the small child that it came with.
        let small = json!([limit(ETH, true, "2500.5", "0.1"), profit_of("0.1"), sell_stop("2480", "2.9")]);
        let reply = stand.send(&json!({"type": "order", "orders": small, "grouping": "normalTpsl"}));
        assert_eq!(reply["guard"]["code"], "stop_loosened", "{reply}");
    }
}

fn profit_of(size: &str) -> Value {
    profit("2515", size)
}
