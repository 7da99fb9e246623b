//! While everything must go, an action that hangs at the venue holds up none of the others.

use serde_json::json;

use crate::signing::{ETH, limit, place};
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, held, hold_covered};

/// How long the venue takes for what hangs: it is done only then, and so not while this lasts.
const HANGS_MS: u64 = 60_000;

/// A position in two markets and an entry that rests; then the kill, with the first action of this kind hanging.
fn killed_with_hanging(action: &str) -> Stand {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    hold_covered(&stand, "BTC", "0.01");
    let reply = stand.send(&place(&limit(ETH, true, "2400", "0.1")));
    assert!(reply["response"]["data"]["statuses"][0].get("resting").is_some(), "{reply}");
    stand.venue.control(&json!({"op": "fault", "on": action, "kind": "delay", "times": 1, "ms": HANGS_MS})).unwrap();
    assert_eq!(run_with(&stand.home(), &["kill", "--reason", "test"], "").status.code(), Some(0));
    until("the action to hang", || stand.venue.truth()["faults"].as_array().unwrap().is_empty().then_some(()));
    stand
}

fn entries(stand: &Stand) -> usize {
    let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
    orders.iter().filter(|order| order["reduceOnly"] == false).count()
}

#[test]
fn a_close_that_hangs_holds_up_no_cancel() {
    let stand = killed_with_hanging("order");
    until("the entry to be gone", || (entries(&stand) == 0).then_some(()));
    let left = ["ETH", "BTC"].iter().filter(|coin| held(&stand, coin).is_some()).count();
    assert!(left > 0, "the close hangs still");
}

#[test]
fn a_cancel_that_hangs_holds_up_no_close() {
    let stand = killed_with_hanging("cancel");
    until("both positions to be closed", || {
        ["ETH", "BTC"].iter().all(|coin| held(&stand, coin).is_none()).then_some(())
    });
    assert_eq!(entries(&stand), 1, "the cancel hangs still");
}
