//! A venue whose answers and reads contradict each other is told of: the owner hears that the account is not what was sent.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::signing::{ETH, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{Ends, WIDE, held};

fn told(stand: &Stand) -> Vec<Value> {
    let alerts = stand.status()["alerts"].as_array().unwrap().clone();
    alerts.into_iter().filter(|alert| alert["code"] == "discrepancy").collect()
}

/// Has every read of the account show that nothing is held, at a time that goes on.
fn show_nothing(stand: &Stand) {
    let now_ms = stand.venue.truth()["now_ms"].clone();
    let sums =
        json!({"accountValue": "10000.0", "totalNtlPos": "0.0", "totalRawUsd": "10000.0", "totalMarginUsed": "0.0"});
    let account = json!({"marginSummary": sums, "crossMarginSummary": sums, "crossMaintenanceMarginUsed": "0.0",
        "withdrawable": "10000.0", "assetPositions": [], "time": now_ms});
    let fault = json!({"op": "fault", "on": "clearinghouseState", "kind": "garbage", "times": 1_000_000,
        "text": account.to_string()});
    stand.venue.control(&json!([{"op": "clear"}, fault])).unwrap();
}

#[test]
fn a_fill_that_the_account_does_not_show_is_told_of_until_it_does() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        show_nothing(&stand);
        let liar = scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                show_nothing(&stand);
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        });
        let ends = Ends(&is_over);
        let order = json!({"a": ETH, "b": true, "p": "2510", "s": "0.1", "r": false, "t": {"limit": {"tif": "Ioc"}}});
        let reply = stand.send(&place(&order));
        assert_eq!(reply["response"]["data"]["statuses"][0]["filled"]["totalSz"], "0.1", "{reply}");
        assert!(held(&stand, "ETH").is_some(), "the venue holds it");
        let alert = until("the alert", || told(&stand).into_iter().next());
        assert!(alert["text"].as_str().unwrap().contains("0.1 ETH were bought"), "{alert}");
        assert_eq!(stand.get("/healthz").status, 503);
        // The status tells it at once, and the event once it is on disk.
        let names = |risk: &Value| risk["discrepancies"].as_array().is_some_and(|named| !named.is_empty());
        let risk = until("the event", || stand.events_of("risk").pop().filter(names));
        assert_eq!(risk["discrepancies"].as_array().unwrap().len(), 1, "{risk}");
        drop(ends);
        liar.join().unwrap();
    });
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until("the end of it", || told(&stand).is_empty().then_some(()));
    until("the event of it", || {
        let risk = stand.events_of("risk").pop()?;
        risk["discrepancies"].as_array()?.is_empty().then_some(())
    });
    until("health", || (stand.get("/healthz").status == 200).then_some(()));
}
