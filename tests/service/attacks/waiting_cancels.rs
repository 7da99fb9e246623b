//! Cancels of one client that wait for the open orders keep no entry of another's out: what the guard reads for them leaves
//! each client its part of the minute's weight.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::clients::another;
use crate::signing::{BTC, ETH, limit, place, signed};
use crate::stand::{Mode, Stand, until};
use crate::watched::{Ends, WIDE};

/// Entries, one after each second read of the prices: for about as long as a flood needs to use up all that it could.
const ENTRIES: usize = 16;

#[test]
fn cancels_that_wait_for_the_open_orders_keep_no_others_entry_out() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let second = another(&stand);
    stand.start();
    let is_over = AtomicBool::new(false);
    let (mut taken, mut refused) = (0, Vec::new());
    std::thread::scope(|scope| {
        let _ends = Ends(&is_over);
        for lane in 0..3 {
            let (stand, is_over) = (&stand, &is_over);
            scope.spawn(move || {
                let mut oid = 1_000_000_000 + lane;
                while !is_over.load(Ordering::Relaxed) {
                    let action = json!({"type": "cancel", "cancels": [{"a": BTC, "o": oid}]});
                    let _answer = stand.post("/exchange", &signed(&stand.client, &action));
                    oid += 10;
                }
            });
        }
        for round in 0..ENTRIES {
            // The stop that goes with it is unseen for a moment: a cancel of an id that nobody knows waits for the orders then.
            let entry = place(&limit(ETH, true, &format!("23{round:02}"), "0.01"));
            let reply = stand.post("/exchange", &signed(&second, &entry)).json();
            match reply["response"]["data"]["statuses"][0].get("resting") {
                Some(_) => taken += 1,
                None if reply.to_string().contains("venue_budget") => refused.push((round, reply)),
                None => {}
            }
            let reads = || stand.venue.truth()["reads"]["allMids"].as_u64().unwrap_or_default();
            let before = reads();
            until("time to pass", || (reads() >= before + 2).then_some(()));
        }
    });
    assert!(refused.is_empty() && taken > 0, "{taken} taken, {} refused: {:?}", refused.len(), refused.first());
}
