//! Requests that ask for far too much, and are refused for it, keep nobody from being decided on.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::clients::{another, filled, send_as};
use crate::signing::{ETH, closing, limit, signed};
use crate::stand::{Mode, Stand, until};
use crate::watched::{Ends, covered, held, hold};

const POSTERS: usize = 24;

/// Entries and stops, each of them fine by itself.
fn batch() -> Value {
    let entries = (0..450).map(|at| limit(ETH, true, &format!("{}.{}", 2400 + at / 10, at % 10), "0.0045"));
    let stops = (0..450).map(|at| {
        let px = format!("{}.{}", 1000 + at / 10, at % 10);
        let trigger = json!({"trigger": {"isMarket": true, "triggerPx": px, "tpsl": "sl"}});
        json!({"a": ETH, "b": false, "p": px, "s": "0.0045", "r": true, "t": trigger})
    });
    json!({"type": "order", "orders": entries.chain(stops).collect::<Vec<_>>(), "grouping": "na"})
}

#[test]
fn refused_batches_leave_decisions_to_others() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    let second = another(&stand);
    hold(&stand, "ETH", "0.4");
    stand.start();
    covered(&stand, "ETH", "0.4");
    let body = |stand: &Stand| signed(&stand.client, &batch()).to_string();
    let (over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..POSTERS {
            scope.spawn(|| {
                let mut connection = stand.connect();
                while !over.load(Ordering::SeqCst) {
                    if connection.post("/exchange", &body(&stand)).is_err() {
                        connection = stand.connect();
                    }
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let _ends = Ends(&over);
        until("a flood", || (answered.load(Ordering::SeqCst) > 2 * POSTERS).then_some(()));
        // The status is the decision loop's own, which has a second for it.
        for _ in 0..5 {
            let status = stand.get("/guard/status");
            assert_eq!(status.status, 200, "{status:?}");
        }
        let reply = send_as(&stand, &second, &closing(ETH, "2400", "0.4"));
        assert!(filled(&reply).is_some(), "{reply}");
    });
    assert_eq!(held(&stand, "ETH"), None);
}
