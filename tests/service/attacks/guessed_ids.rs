//! Order ids can be guessed: cancels of the next ones take no stop that is still on its way, however often they come and
//! however slow the venue is.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::signing::{ETH, limit, place, signed};
use crate::stand::{Mode, Stand, until};
use crate::watched::{Ends, held, stops};

const CANCELS: u64 = 30;
const POSTERS: usize = 5;

fn order_and_cancel_take_their_time(stand: &Stand) {
    for on in ["order", "cancel"] {
        let fault = json!({"op": "fault", "on": on, "kind": "delay", "times": 1_000_000, "ms": 400});
        stand.venue.control(&fault).unwrap();
    }
}

/// The trigger of the stops, the nearest one; none while it is bare.
fn nearest(stand: &Stand) -> Option<f64> {
    let px = |stop: &Value| stop["triggerPx"].as_str().unwrap().parse::<f64>().unwrap();
    stops(stand, "ETH").iter().map(px).reduce(f64::max)
}

#[test]
fn cancels_of_the_next_ids_take_no_stop_away() {
    let stand = Stand::up(Mode::Testnet, "orders_per_minute = 1200\nduplicate_window = \"0\"\n");
    let reply = stand.send(&place(&limit(ETH, true, "2300", "0.01")));
    let last = reply["response"]["data"]["statuses"][0]["resting"]["oid"].as_u64().unwrap();
    order_and_cancel_take_their_time(&stand);
    let cancels: Vec<Value> = (last + 1..=last + CANCELS).map(|oid| json!({"a": ETH, "o": oid})).collect();
    let cancel = json!({"type": "cancel", "cancels": cancels});
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| stand.send(&place(&limit(ETH, true, "2500.5", "3.9"))));
        for _ in 0..POSTERS {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let _answer = stand.post("/exchange", &signed(&stand.client, &cancel));
                }
            });
        }
        let _ends = Ends(&over);
        until("the fill", || held(&stand, "ETH"));
        let mut line = nearest(&stand).unwrap();
        // The price falls towards the stop, step by step, and the stop stays where it is or comes nearer.
        for step in 0..120 {
            stand.venue.price("ETH", &format!("{:.1}", 2499.0 - 0.4 * f64::from(step))).unwrap();
            let now = nearest(&stand);
            if held(&stand, "ETH").is_none() {
                break;
            }
            assert!(now.is_some_and(|px| px >= line), "{now:?} after {line}");
            line = now.unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    });
}
