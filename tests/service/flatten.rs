//! Everything goes: what is closed and cancelled, in which order, through an outage, and that it stays so.

use std::fs;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use svc_guard::base::key::SecretKey;

use crate::http::Connection;
use crate::signing::{BTC, ETH, signed};
use crate::stand::{Mode, Stand, WALLET_KEY, run_with, until};
use crate::watched::{
    WIDE, closes, fault, first, held, hold, hold_covered, is_flat, is_same, sends_are_named, stops, until_flat,
};

/// How long the venue is away.
const MINUTE: Duration = Duration::from_secs(60);

fn pull(stand: &Stand) {
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    assert_eq!(done.status.code(), Some(0));
}

/// The account's owner places an order at the venue's own page.
fn order_by_hand(stand: &Stand, order: &Value) {
    stand.venue.control(&json!({"op": "order", "order": order})).unwrap();
}

fn entry() -> Value {
    json!({"a": BTC, "b": true, "p": "55000", "s": "0.01", "r": false, "t": {"limit": {"tif": "Gtc"}}})
}

/// Another program with a key of the account's starts a TWAP at the venue itself.
fn twap_by_hand(stand: &Stand) {
    let key = SecretKey::parse(WALLET_KEY).unwrap();
    let twap = json!({"a": ETH, "b": true, "s": "1", "r": false, "m": 30, "t": false});
    let body = signed(&key, &json!({"type": "twapOrder", "twap": twap})).to_string();
    let answer = Connection::open(stand.venue.addr()).post("/exchange", &body).unwrap().json();
    assert!(answer["response"]["data"]["status"]["running"].is_object(), "{answer}");
}

#[test]
fn a_kill_takes_all_of_it_and_the_stops_last() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let stop = hold_covered(&stand, "ETH", "0.4");
    hold_covered(&stand, "BTC", "-0.01");
    order_by_hand(&stand, &entry());
    twap_by_hand(&stand);
    pull(&stand);
    until_flat(&stand);
    let told = first(&stand, "flatten");
    assert_eq!((&told["sent"], &told["problems"]), (&json!(true), &json!([])), "{told}");
    assert!(told["reason"].as_str().unwrap().contains("enough"), "{told}");
    assert_eq!(stand.events_of("flatten").len(), 1);
    until("the TWAP to stop", || {
        let twaps = stand.venue.truth()["twaps"].as_array().unwrap().clone();
        twaps.iter().all(|twap| twap["status"] != "activated").then_some(())
    });
    // What closes the position comes before what takes its cover away.
    let saw = stand.venue_saw();
    let cancels_stop = |request: &Value| {
        let named =
            request["action"]["cancels"].as_array().is_some_and(|all| all.iter().any(|one| one["o"] == stop["oid"]));
        request["type"] == "cancel" && named
    };
    let is_close = |request: &Value| {
        request["action"]["orders"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["a"] == ETH && one["r"] == true))
            && request["action"]["orders"][0]["t"]["limit"]["tif"] == "Ioc"
    };
    let close = saw.iter().position(is_close).unwrap();
    // The venue may take the stop along with the position by itself.
    assert!(saw.iter().position(cancels_stop).is_none_or(|cancel| cancel > close), "{saw:?}");
    // Later rounds are intents of the one flatten.
    let of = |event: &Value| event["of"] == told["seq"] || event["action"]["type"] == "noop";
    assert!(stand.events_of("intent").iter().filter(|event| event["seq"].as_u64() > told["seq"].as_u64()).all(of));
    sends_are_named(&stand);
}

#[test]
fn what_appears_while_killed_goes_as_well() {
    let mut stand = Stand::up(Mode::Testnet, WIDE);
    pull(&stand);
    first(&stand, "flatten");
    hold(&stand, "ETH", "-0.3");
    order_by_hand(&stand, &entry());
    until_flat(&stand);
    // Over a restart too: the file is still there.
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    hold(&stand, "BTC", "0.02");
    stand.start();
    until_flat(&stand);
    fs::remove_file(stand.home().join("kill")).unwrap();
    hold(&stand, "ETH", "0.2");
    until_flat(&stand);
    // Only the person who removed it and starts the service anew has a position again. A start may cover what it finds
    // before it has looked for the kill file.
    let earlier = stand.events_of("protect").len();
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.start();
    hold_covered(&stand, "ETH", "0.2");
    assert!(held(&stand, "ETH").is_some());
    assert!(stand.events_of("protect").len() == earlier + 1 && stand.status()["killed"].is_null());
}

/// The venue takes no order for a while: tried less and less often, and flat in the end.
#[test]
fn an_outage_in_the_middle_ends_flat() {
    for kind in ["http_502", "http_429"] {
        let stand = Stand::up(Mode::Testnet, WIDE);
        hold_covered(&stand, "ETH", "0.4");
        hold_covered(&stand, "BTC", "0.02");
        fault(&stand, "order", kind, 4, "");
        pull(&stand);
        until_flat(&stand);
        let closes = closes(&stand);
        let at_ms: Vec<u64> = closes.iter().map(|close| close["at_ms"].as_u64().unwrap()).collect();
        assert!(closes.len() >= 5, "four in vain and one that was taken: {closes:?}");
        let pauses: Vec<u64> = at_ms.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(pauses[0] >= 900 && pauses[2] >= 2 * 900, "longer and longer: {pauses:?}");
        // Each round goes further from the price, and none is a blind repetition.
        let nonces: std::collections::BTreeSet<u64> =
            closes.iter().map(|close| close["nonce"].as_u64().unwrap()).collect();
        assert_eq!(nonces.len(), closes.len());
        assert_eq!(stand.events_of("flatten").len(), 1);
        sends_are_named(&stand);
    }
}

/// Nothing at all gets through, and the service is killed in the middle of it.
#[test]
fn a_crash_and_an_outage_in_the_middle_end_flat() {
    let mut stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    fault(&stand, "exchange", "drop_before", 1_000_000, "");
    fault(&stand, "info", "drop_before", 1_000_000, "");
    pull(&stand);
    let told = first(&stand, "flatten");
    until("a close in vain", || (!closes(&stand).is_empty()).then_some(()));
    stand.kill();
    stand.launch();
    until("another life to try", || stand.status()["killed"].as_str().map(str::to_owned));
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until_flat(&stand);
    let intents = stand.events_of("intent");
    let flattens = stand.events_of("flatten");
    let serves =
        |event: &Value| flattens.iter().any(|flatten| flatten["seq"] == event["of"]) || event["of"] == told["seq"];
    assert!(intents.iter().filter(|event| event["action"]["type"] != "noop").all(serves), "{intents:?}");
    sends_are_named(&stand);
}

/// Nothing gets through for a minute after the first closes: fewer and fewer tries, and flat soon after it is over.
#[test]
fn a_minute_without_a_venue_in_the_middle_ends_flat() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.6");
    stand.venue.control(&json!({"op": "book", "coin": "ETH", "depth": "0.01"})).unwrap();
    pull(&stand);
    until("the first part to be closed", || held(&stand, "ETH").filter(|szi| !is_same(szi, "0.6")));
    fault(&stand, "exchange", "http_502", 1_000_000, "");
    fault(&stand, "info", "http_502", 1_000_000, "");
    std::thread::sleep(MINUTE);
    let in_vain = closes(&stand).iter().filter(|close| close["verdict"] != "applied").count();
    assert!(in_vain <= 8, "{in_vain} tries in a minute");
    assert!(!is_flat(&stand) && !stops(&stand, "ETH").is_empty(), "its stop stands");
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until_flat(&stand);
    assert_eq!(stand.events_of("flatten").len(), 1);
    sends_are_named(&stand);
}

/// A thin book takes it in parts.
#[test]
fn a_book_that_is_thin_is_emptied_round_by_round() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.6");
    stand.venue.control(&json!({"op": "book", "coin": "ETH", "depth": "0.01"})).unwrap();
    pull(&stand);
    until_flat(&stand);
    assert!(closes(&stand).len() >= 3, "0.2 a round: {:?}", closes(&stand));
}

/// What cannot be closed is named, and does not keep the rest from going.
#[test]
fn dust_is_named() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.venue.setting("min_notional_reduce_only", "rejected").unwrap();
    hold(&stand, "ETH", "0.002");
    hold(&stand, "BTC", "0.01");
    until("both to be seen", || (stand.status()["positions"].as_array()?.len() == 2).then_some(()));
    pull(&stand);
    let told = first(&stand, "flatten");
    assert_eq!(told["problems"][0]["coin"], "ETH", "{told}");
    assert!(told["problems"][0]["text"].as_str().unwrap().contains("minimum of 10"), "{told}");
    until("the rest to be closed", || held(&stand, "BTC").is_none().then_some(()));
    until("an alert", || {
        let alerts = stand.status()["alerts"].clone();
        alerts.as_array()?.iter().find(|alert| alert["code"] == "dust").cloned()
    });
    assert!(is_same(&held(&stand, "ETH").unwrap(), "0.002"));
}

#[test]
fn orders_of_other_markets_are_named() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.venue.control(&json!({"op": "foreign_order", "coin": "PURR/USDC", "px": "0.2", "sz": "100"})).unwrap();
    hold_covered(&stand, "BTC", "0.01");
    until("it to be seen", || {
        let orders = stand.status()["open_orders"].clone();
        orders.as_array()?.iter().find(|order| order["coin"] == "PURR/USDC").cloned()
    });
    pull(&stand);
    let told = first(&stand, "flatten");
    assert_eq!(told["problems"][0]["coin"], "PURR/USDC", "{told}");
    assert!(told["problems"][0]["text"].as_str().unwrap().contains("no core perp"), "{told}");
    until("the rest to be closed", || held(&stand, "BTC").is_none().then_some(()));
}

#[test]
fn on_paper_nothing_goes() {
    let stand = Stand::up(Mode::Paper, WIDE);
    hold(&stand, "ETH", "0.4");
    until("it to be seen", || (stand.status()["positions"].as_array()?.len() == 1).then_some(()));
    pull(&stand);
    let told = first(&stand, "flatten");
    assert_eq!((&told["sent"], told.get("nonces")), (&json!(false), None));
    assert_eq!(told["actions"][0]["orders"][0]["s"], "0.4");
    assert!(stand.venue_saw().is_empty() && !is_flat(&stand));
}
