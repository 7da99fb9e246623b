//! An account whose own time stands still is not known, however often it is read: nothing is opened on it, and a person is
//! told that it is the venue's reads that stand still, not this machine's clock that is wrong.

use serde_json::{Value, json};

use crate::signing::{ETH, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, covered, fault, held, hold, hold_covered};

fn alerts(stand: &Stand) -> Vec<String> {
    let alerts = stand.status()["alerts"].as_array().unwrap().clone();
    alerts.iter().map(|alert| alert["code"].as_str().unwrap().to_owned()).collect()
}

fn limit_now(is_buy: bool, px: &str, size: &str) -> Value {
    let order = json!({"a": ETH, "b": is_buy, "p": px, "s": size, "r": !is_buy, "t": {"limit": {"tif": "Ioc"}}});
    place(&order)
}

#[test]
fn an_account_that_stands_still_opens_nothing_and_closes_all_the_same() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    fault(&stand, "clearinghouseState", "stale", 1_000_000, "");
    until("the alert", || alerts(&stand).contains(&"account_stale".to_owned()).then_some(()));
    assert_eq!(stand.get("/healthz").status, 503);
    let reply = stand.send(&limit_now(true, "2510", "0.1"));
    assert_eq!(reply["guard"]["code"], "account_stale", "{reply}");
    // However long it lasts: ten reads and more, each of which shows the clocks further apart.
    let reads = || stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap();
    let before = reads();
    until("more reads", || (reads() >= before + 6).then_some(()));
    assert_eq!(alerts(&stand), ["account_stale"]);
    let reply = stand.send(&limit_now(false, "2490", "0.4"));
    assert_eq!(reply["status"], "ok", "{reply}");
    assert!(held(&stand, "ETH").is_none(), "an exit always goes");
    // As soon as it goes on, all is as before.
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until("the alert to end", || alerts(&stand).is_empty().then_some(()));
    hold(&stand, "ETH", "0.3");
    covered(&stand, "ETH", "0.3");
    assert_eq!(stand.send(&limit_now(true, "2510", "0.1"))["status"], "ok");
}
