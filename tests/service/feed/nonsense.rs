//! A feed that tells what cannot be closes nothing.

use serde_json::{Value, json};

use super::{audited, feed, listening, proved, same_picture, trouble};
use crate::stand::{ACCOUNT, Stand, until};
use crate::watched::{closes, held, hold_covered, is_same, stops};

/// Pushes a frame as it is.
fn push(stand: &Stand, frame: &Value) {
    trouble(stand, json!({"kind": "garbage", "text": frame.to_string()}));
}

/// The position stays as it was, with its stop, and nothing was closed.
fn stays(stand: &Stand) {
    same_picture(stand);
    assert!(is_same(&held(stand, "ETH").unwrap(), "0.4"));
    assert!(closes(stand).is_empty(), "{:?}", closes(stand));
    let status = stand.status();
    assert_eq!((&status["risk"]["state"], &status["killed"]), (&json!("active"), &Value::Null), "{status}");
    until("its stop alone", || (stops(stand, "ETH").len() == 1).then_some(()));
}

/// It is said, shown as an alert, and everything is read.
fn is_told(stand: &Stand, what: &str) {
    let is_it =
        |event: &Value| event["kind"] == "error" && event["text"].as_str().is_some_and(|text| text.contains(what));
    until("the event", || stand.events().into_iter().find(is_it));
    let alerts = stand.status()["alerts"].as_array().unwrap().clone();
    assert!(alerts.iter().any(|alert| alert["code"] == "feed_down"), "{alerts:?}");
    let feed = feed(stand);
    assert_eq!((&feed["proved"], &feed["audited"]), (&json!(false), &json!(false)), "{feed}");
}

fn holding() -> Stand {
    let stand = listening();
    hold_covered(&stand, "ETH", "0.4");
    audited(&stand);
    stand
}

fn fill(stand: &Stand, px: &str, sz: &str, start: &str, ahead_ms: u64) -> Value {
    let time = stand.venue.truth()["now_ms"].as_u64().unwrap() + ahead_ms;
    json!({"channel": "userFills", "data": {"user": ACCOUNT, "fills": [{
        "coin": "ETH", "px": px, "sz": sz, "side": "B", "time": time, "startPosition": start, "dir": "Open Long",
        "closedPnl": "0.0", "hash": "0x", "oid": 7, "crossed": true, "fee": "0.0", "tid": time, "feeToken": "USDC",
    }]}})
}

#[test]
fn prices_that_cannot_be() {
    for (mark, mid) in [("1", "1"), ("2500", "1"), ("100000", "2500")] {
        let stand = holding();
        let ctx = json!({"markPx": mark, "midPx": mid, "oraclePx": mark});
        push(&stand, &json!({"channel": "activeAssetCtx", "data": {"coin": "ETH", "ctx": ctx}}));
        is_told(&stand, "a price cannot be");
        stays(&stand);
    }
}

#[test]
fn fills_that_cannot_be() {
    let odd = [("1", "0.4", 0), ("2500", "0", 0), ("-2500", "1", 0), ("2500", "1", 3_600_000)];
    for (px, sz, ahead_ms) in odd {
        let stand = holding();
        push(&stand, &fill(&stand, px, sz, "0.4", ahead_ms));
        is_told(&stand, "a fill cannot be");
        stays(&stand);
    }
}

/// One that nothing speaks against has a stop placed, which goes again; one that begins elsewhere has the account read.
#[test]
fn fills_that_never_were() {
    for (sz, start) in [("0.2", "0.4"), ("1000000", "0.4"), ("0.4", "-1000000")] {
        let stand = holding();
        push(&stand, &fill(&stand, "2500", sz, start, 0));
        // The next frames are as they should be.
        super::frames(&stand, 10);
        stays(&stand);
    }
}

/// A loss that only marks show is looked at, and there is none.
#[test]
fn a_loss_by_a_push_alone_halts_nothing() {
    let stand = holding();
    let ctx = json!({"markPx": "2100", "midPx": "2500", "oraclePx": "2100"});
    push(&stand, &json!({"channel": "activeAssetCtx", "data": {"coin": "ETH", "ctx": ctx}}));
    super::frames(&stand, 20);
    stays(&stand);
    proved(&stand);
}

/// Positions that the account does not have: it is read, and the socket ends if it goes on.
#[test]
fn positions_that_cannot_be() {
    let stand = holding();
    for _ in 0..4 {
        let truth = stand.venue.truth();
        let time = truth["now_ms"].as_u64().unwrap();
        let state = json!({"marginSummary": {"accountValue": "1.0"}, "crossMaintenanceMarginUsed": "0.0",
            "assetPositions": [], "time": time});
        let data = json!({"user": ACCOUNT, "dex": "", "clearinghouseState": state});
        push(&stand, &json!({"channel": "clearinghouseState", "data": data}));
        super::frames(&stand, 10);
    }
    stays(&stand);
}
