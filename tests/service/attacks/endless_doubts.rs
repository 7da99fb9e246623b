//! A client whose requests stay without an answer holds up no cover, however many it makes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::signing::{ETH, limit, place, signed};
use crate::stand::{Mode, Stand, until};
use crate::watched::{Ends, WIDE, covered, fault, hold};

#[test]
fn doubts_without_end_leave_no_position_bare() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let reply = stand.send(&place(&limit(ETH, true, "2200", "0.05")));
    let oid = reply["response"]["data"]["statuses"][0]["resting"]["oid"].as_u64().unwrap();
    // The guard's own stops are orders; the client's requests are not, and nothing settles what became of them.
    for on in ["modify", "batchModify", "noop"] {
        fault(&stand, on, "drop_before", 1_000_000, "");
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _ends = Ends(&is_over);
        scope.spawn(|| {
            let mut px = 2_201;
            while !is_over.load(Ordering::Relaxed) {
                let order = limit(ETH, true, &px.to_string(), "0.05");
                let modifies = json!([{"oid": oid, "order": order}]);
                let action = json!({"type": "batchModify", "modifies": modifies});
                let _answer = stand.post("/exchange", &signed(&stand.client, &action));
                px += 1;
                std::thread::sleep(Duration::from_millis(700));
            }
        });
        let in_doubt = || stand.venue_saw().iter().filter(|request| request["type"] == "batchModify").count();
        until("requests without an answer", || (in_doubt() >= 2).then_some(()));
        hold(&stand, "ETH", "0.4");
        covered(&stand, "ETH", "0.4");
    });
}
