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
