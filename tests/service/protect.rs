//! No position stays bare: the guard's own stop, when it comes, what moves it, and what happens when it cannot be had.

use serde_json::{Value, json};

use crate::signing::{BTC, ETH, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{
    WIDE, closes, covered, fault, first, held, hold, hold_covered, is_flat, is_same, placed_stops, sends_are_named,
    stops, until_flat,
};

#[test]
fn a_bare_position_gets_a_stop_that_follows_its_size() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let stop = hold_covered(&stand, "ETH", "0.4");
    assert!(is_same(stop["triggerPx"].as_str().unwrap(), "2450"), "2% under 2500: {stop}");
    let told = first(&stand, "protect");
    assert_eq!((&told["coins"], &told["sent"], &told["problems"]), (&json!(["ETH"]), &json!(true), &json!([])));
    let sent = until("the send", || stand.events_of("sent").into_iter().find(|sent| sent["decision"] == told["seq"]));
    assert_eq!((&sent["index"], &sent["ok"], &sent["nonce"]), (&json!(0), &json!(true), &told["nonces"][0]));
    until("its end", || stand.events_of("done").into_iter().find(|done| done["intent"] == told["seq"]));

    // It grows with the position at the trigger where it stood, and the old one goes afterwards.
    stand.venue.price("ETH", "2480").unwrap();
    hold(&stand, "ETH", "0.7");
    let stop = covered(&stand, "ETH", "0.7");
    assert!(is_same(stop["triggerPx"].as_str().unwrap(), "2450"), "never further from the price: {stop}");
    until("the old stop to go", || (stops(&stand, "ETH").len() == 1).then_some(()));
    // And shrinks with it; without a position it goes.
    hold(&stand, "ETH", "0.2");
    covered(&stand, "ETH", "0.2");
    until("the larger stop to go", || (stops(&stand, "ETH").len() == 1).then_some(()));
    hold(&stand, "ETH", "0");
    until("nothing to rest", || is_flat(&stand).then_some(()));
    assert!(closes(&stand).is_empty());
    sends_are_named(&stand);
}

#[test]
fn a_short_has_its_stop_above() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let stop = hold_covered(&stand, "ETH", "-0.4");
    assert!(is_same(stop["triggerPx"].as_str().unwrap(), "2550"), "{stop}");
    let position = until("the status to show it", || {
        let position = stand.status()["positions"][0].clone();
        (position["stop_px"] == "2550").then_some(position)
    });
    assert!(is_same(position["covered_size"].as_str().unwrap(), "0.4"), "{position}");
}

#[test]
fn a_price_that_jumps_over_the_stop_closes_the_position() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    stand.venue.price("ETH", "2300").unwrap();
    assert_eq!(held(&stand, "ETH"), None, "the stop has filled");
    until("the guard to see it", || stand.status()["positions"].as_array()?.is_empty().then_some(()));
    assert_eq!(stand.events_of("protect").len(), 1, "and to do nothing about it");
    assert!(closes(&stand).is_empty() && is_flat(&stand));
}

/// A book that has run dry lets the stop go without a fill, or after part of one. What is left is beyond its line and closed,
/// and what no close takes either is covered anew.
#[test]
fn what_a_stop_did_not_fill_is_closed_or_covered_anew() {
    for (depth, left) in [("0", "0.4"), ("0.01", "0.2")] {
        let stand = Stand::up(Mode::Testnet, WIDE);
        hold_covered(&stand, "ETH", "0.4");
        // A stop that no read has shown yet is no line.
        let risk = stand.journal().join("risk.jsonl");
        until("its line", || std::fs::read_to_string(&risk).ok()?.contains("2450").then_some(()));
        stand.venue.control(&json!({"op": "book", "coin": "ETH", "depth": depth})).unwrap();
        stand.venue.price("ETH", "2400").unwrap();
        if depth == "0" {
            assert!(is_same(&held(&stand, "ETH").unwrap(), left), "{:?} is left", held(&stand, "ETH"));
            let stop = covered(&stand, "ETH", left);
            assert!(is_same(stop["triggerPx"].as_str().unwrap(), "2352"), "2% under 2400: {stop}");
        } else {
            until_flat(&stand);
        }
        let close = until("a close", || closes(&stand).into_iter().next());
        assert!(is_same(close["action"]["orders"][0]["s"].as_str().unwrap(), left), "{close}");
        sends_are_named(&stand);
    }
}

/// An entry that filled in part has no live stop of its own.
#[test]
fn the_part_of_an_entry_that_filled_is_covered() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.venue.control(&json!({"op": "book", "coin": "ETH", "depth": "0.01"})).unwrap();
    let entry = json!({"a": ETH, "b": true, "p": "2510", "s": "0.4", "r": false, "t": {"limit": {"tif": "Ioc"}}});
    let reply = stand.send(&place(&entry));
    let filled = reply["response"]["data"]["statuses"][0]["filled"]["totalSz"].as_str().unwrap().to_owned();
    assert!(!is_same(&filled, "0.4"), "in part: {reply}");
    covered(&stand, "ETH", &filled);
}

#[test]
fn a_stop_refused_twice_has_the_position_closed() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    fault(&stand, "order", "error", 2, "Invalid TP/SL price.");
    hold(&stand, "ETH", "0.4");
    until("the close", || held(&stand, "ETH").is_none().then_some(()));
    let told = first(&stand, "protect");
    let tried = placed_stops(&stand);
    assert_eq!(tried.len(), 2, "once more at a new price: {tried:?}");
    let of = |event: &Value| event["of"] == told["seq"];
    let intents: Vec<Value> = until("both intents", || {
        Some(stand.events_of("intent")).filter(|all| all.iter().filter(|one| of(one)).count() == 2)
    });
    let [again, close] = intents.iter().filter(|one| of(one)).collect::<Vec<_>>()[..] else { panic!("{intents:?}") };
    assert_eq!(again["action"]["orders"][0]["t"]["trigger"]["tpsl"], "sl", "{again}");
    let order = &close["action"]["orders"][0];
    assert_eq!((&order["r"], &order["t"]["limit"]["tif"]), (&json!(true), &json!("Ioc")), "{close}");
    assert_eq!(closes(&stand).len(), 1);
    sends_are_named(&stand);
}

/// Nothing was decided about the stop, so nothing is closed, and it is tried until it is had.
#[test]
fn rate_limits_and_silence_close_nothing() {
    for (kind, text) in [
        ("http_429", ""),
        ("error", "Too many cumulative requests sent (10001 > 10000)"),
        ("drop_before", ""),
        ("apply_then_drop", ""),
        ("http_502", ""),
        ("http_403", ""),
        ("http_404", ""),
        ("http_422", ""),
    ] {
        let stand = Stand::up(Mode::Testnet, WIDE);
        fault(&stand, "order", kind, 3, text);
        hold_covered(&stand, "ETH", "0.4");
        until("one stop in the end", || (stops(&stand, "ETH").len() == 1).then_some(()));
        assert!(closes(&stand).is_empty(), "{kind}");
        assert!(held(&stand, "ETH").is_some(), "{kind}");
        sends_are_named(&stand);
    }
}

/// Answers that arrive late or show the past move nothing for good.
#[test]
fn old_answers_end_with_one_stop_and_the_position() {
    for (on, kind) in [
        ("clearinghouseState", "stale"),
        ("frontendOpenOrders", "stale"),
        ("clearinghouseState", "reorder"),
        ("frontendOpenOrders", "reorder"),
        ("clearinghouseState", "delay"),
    ] {
        let stand = Stand::up(Mode::Testnet, WIDE);
        fault(&stand, on, kind, 4, "");
        hold_covered(&stand, "ETH", "0.4");
        // A feed that tells of everything leaves little to read: what happens elsewhere has both read again.
        let mut asked = 0;
        until("the fault to be over", || {
            asked += 1;
            if asked % 100 == 0 {
                let order = limit(BTC, true, &(58_000 + asked).to_string(), "0.01");
                stand.venue.control(&json!([{"op": "order", "order": order}, {"op": "deposit", "usd": "1"}])).unwrap();
            }
            stand.venue.truth()["faults"].as_array()?.is_empty().then_some(())
        });
        let reads = || stand.venue.truth()["reads"]["frontendOpenOrders"].as_u64().unwrap();
        // What becomes of orders elsewhere has them read, also where a feed leaves little to read.
        for px in ["59000", "59001"] {
            let before = reads();
            stand.venue.control(&json!({"op": "order", "order": limit(BTC, true, px, "0.01")})).unwrap();
            until("a true read", || (reads() > before).then_some(()));
        }
        until("one stop", || (stops(&stand, "ETH").len() == 1).then_some(()));
        covered(&stand, "ETH", "0.4");
        assert!(closes(&stand).is_empty(), "{on} {kind}");
        assert!(is_same(&held(&stand, "ETH").unwrap(), "0.4"), "{on} {kind}");
    }
}

#[test]
fn on_paper_it_is_told_and_not_done() {
    let stand = Stand::up(Mode::Paper, WIDE);
    hold(&stand, "ETH", "0.4");
    let told = first(&stand, "protect");
    assert_eq!((&told["coins"], &told["sent"], told.get("nonces")), (&json!(["ETH"]), &json!(false), None));
    assert_eq!(told["actions"][0]["orders"][0]["s"], "0.4");
    hold(&stand, "BTC", "0.01");
    until("another set of them", || (stand.events_of("protect").len() == 2).then_some(()));
    assert!(stand.venue_saw().is_empty());
}
