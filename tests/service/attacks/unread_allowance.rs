//! While nobody knows how many requests the venue still takes from the account, no client spends them without bound: the
//! kill switch closes everything.

use serde_json::{Value, json};

use crate::clients::{code, filled, leave_requests, requests_used};
use crate::signing::{ETH, closing, limit, place};
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, covered, fault, hold, until_flat};

fn entries(stand: &Stand) -> usize {
    let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
    orders.into_iter().filter(|order| order["reduceOnly"] == false).count()
}

#[test]
fn an_unread_allowance_is_not_unlimited() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    hold(&stand, "ETH", "0.5");
    leave_requests(&stand, 700);
    fault(&stand, "userRateLimit", "http_502", 100_000, "");
    stand.launch();
    covered(&stand, "ETH", "0.5");
    let before = requests_used(&stand);
    let cancels: Vec<Value> = (0..1_000).map(|at| json!({"asset": ETH, "cloid": format!("0x{at:032x}")})).collect();
    let cancel = json!({"type": "cancelByCloid", "cancels": cancels});
    let replies = [(); 3].map(|()| stand.send(&cancel));
    assert!(requests_used(&stand) - before < 50, "{}", requests_used(&stand) - before);
    assert!(replies.iter().all(|reply| code(reply) == "venue_budget"), "{replies:?}");
    // Nothing is opened, what closes passes, and whoever looks is told.
    let entry = || place(&limit(ETH, true, "2400", "0.01"));
    until("the first reads", || (code(&stand.send(&entry())) == "venue_budget").then_some(()));
    assert_eq!(entries(&stand), 0);
    let reply = stand.send(&closing(ETH, "2400", "0.1"));
    assert_eq!(filled(&reply), Some("0.1"), "{reply}");
    assert_eq!(stand.get("/healthz").status, 503);
    assert!(stand.status()["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "venue_budget"));

    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until("good health", || (stand.get("/healthz").status == 200).then_some(()));
    stand.send(&entry());
    assert_eq!(entries(&stand), 1);
    assert_eq!(run_with(&stand.home(), &["kill", "--reason", "enough"], "").status.code(), Some(0));
    until_flat(&stand);
}
