//! A position that was opened anew as soon as its stop had fired is another one: its own stop covers it, and nothing closes it
//! for the line of the one before.

use serde_json::{Value, json};

use crate::signing::{ETH, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, closes, held, is_same, stops};

fn buy(stand: &Stand, px: &str, size: &str) {
    let order = json!({"a": ETH, "b": true, "p": px, "s": size, "r": false, "t": {"limit": {"tif": "Ioc"}}});
    let reply = stand.send(&place(&order));
    assert!(reply.pointer("/response/data/statuses/0/filled").is_some(), "{reply}");
}

fn more_reads(stand: &Stand, times: u64) {
    let reads = || {
        let of = |kind: &str| stand.venue.truth()["reads"][kind].as_u64().unwrap_or_default();
        of("clearinghouseState").min(of("frontendOpenOrders"))
    };
    for _ in 0..times {
        let before = reads();
        until("another read", || (reads() > before).then_some(()));
    }
}

/// Smaller, as large, and larger than before; between two reads of the account.
#[test]
fn a_bot_that_enters_again_right_after_its_stop_keeps_its_position() {
    for size in ["0.1", "0.2", "0.3"] {
        let stand = Stand::up(Mode::Testnet, WIDE);
        buy(&stand, "2501", "0.2");
        until("its stop", || stops(&stand, "ETH").first().cloned());
        stand.venue.price("ETH", "2520").unwrap();
        let trailing = json!({"a": ETH, "b": false, "p": "2400", "s": "0.2", "r": true,
            "t": {"trigger": {"isMarket": true, "triggerPx": "2510", "tpsl": "sl"}}});
        let reply = stand.send(&place(&trailing));
        assert_eq!(reply["status"], "ok", "{reply}");
        let is_trailing = |stop: &Value| is_same(stop["triggerPx"].as_str().unwrap(), "2510");
        until("the trailing stop alone", || stops(&stand, "ETH").iter().all(is_trailing).then_some(()));
        more_reads(&stand, 2);
        stand.venue.fault("clearinghouseState", "http_502", 1_000).unwrap();
        stand.venue.price("ETH", "2509").unwrap();
        until("the stop to have fired", || held(&stand, "ETH").is_none().then_some(()));
        buy(&stand, "2512", size);
        stand.venue.control(&json!({"op": "clear"})).unwrap();
        more_reads(&stand, 1);
        // Once all is calm beside the feed nothing is read for minutes.
        stand.without_feed();
        more_reads(&stand, 3);
        let now = held(&stand, "ETH").expect("the new position");
        assert!(is_same(&now, size), "{now} of {size}: {:?}", stand.events().pop());
        assert!(closes(&stand).is_empty(), "{size}: {:?}", closes(&stand));
        assert!(!stops(&stand, "ETH").is_empty(), "{size}");
    }
}

/// While the guard was away: its stop fired, and a bid far below with a stop of its own filled.
#[test]
fn what_filled_while_the_guard_was_away_keeps_its_own_stop() {
    for size in ["0.1", "0.3"] {
        let mut stand = Stand::up(Mode::Testnet, WIDE);
        // Beside a calm feed the open orders are read every other minute.
        stand.without_feed();
        buy(&stand, "2501", "0.2");
        let bid = json!({"a": ETH, "b": true, "p": "2300", "s": size, "r": false, "t": {"limit": {"tif": "Gtc"}}});
        let reply = stand.send(&place(&bid));
        assert!(reply.pointer("/response/data/statuses/0/resting").is_some(), "{reply}");
        more_reads(&stand, 2);
        stand.kill();
        for px in ["2450", "2445", "2350", "2299", "2305"] {
            stand.venue.price("ETH", px).unwrap();
        }
        let child = stops(&stand, "ETH");
        assert_eq!(child.len(), 1, "the bid's own stop: {child:?}");
        stand.start();
        stand.without_feed();
        more_reads(&stand, 3);
        let now = held(&stand, "ETH").expect("the new position");
        assert!(is_same(&now, size), "{now}: {:?}", stand.events().pop());
        assert_eq!(stops(&stand, "ETH")[0]["oid"], child[0]["oid"]);
    }
}

/// Between two reads a stop fires, a bid with a stop of its own fills, and the price goes on.
#[test]
fn a_bid_that_fills_on_the_way_down_keeps_its_own_stop() {
    for (first, bid, size, last) in [("0.2", "2300", "0.1", "2270"), ("0.1", "2430", "0.2", "2410")] {
        let stand = Stand::up(Mode::Testnet, WIDE);
        // Beside a calm feed the open orders are read every other minute.
        stand.without_feed();
        buy(&stand, "2501", first);
        let order = json!({"a": ETH, "b": true, "p": bid, "s": size, "r": false, "t": {"limit": {"tif": "Gtc"}}});
        let reply = stand.send(&place(&order));
        assert!(reply.pointer("/response/data/statuses/0/resting").is_some(), "{reply}");
        more_reads(&stand, 2);
        let under = (bid.parse::<u32>().unwrap() - 1).to_string();
        for px in ["2480", "2455", "2450", &under, last] {
            stand.venue.price("ETH", px).unwrap();
        }
        let child = stops(&stand, "ETH");
        assert_eq!(child.len(), 1, "the bid's own stop: {child:?}");
        more_reads(&stand, 4);
        let now = held(&stand, "ETH").expect("the new position");
        assert!(is_same(&now, size), "{now} of {size}: {:?}", stand.events().pop());
        assert!(closes(&stand).is_empty(), "{size}: {:?}", closes(&stand));
        assert_eq!(stops(&stand, "ETH")[0]["oid"], child[0]["oid"]);
    }
}

/// A tight stop of before stands for the new position as well, and no read of the open orders has shown it there yet when it fires and
/// the book is thin.
#[test]
fn what_a_stop_of_before_leaves_of_the_new_position_is_closed() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.without_feed();
    let at_once = |is_buy: bool, px: &str, size: &str, reduces: bool| json!({"a": ETH, "b": is_buy, "p": px, "s": size, "r": reduces, "t": {"limit": {"tif": "Ioc"}}});
    stand.send(&place(&at_once(false, "2495", "0.2", false)));
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": "2510", "tpsl": "sl"}});
    stand.send(&place(&json!({"a": ETH, "b": true, "p": "2600", "s": "0.4", "r": true, "t": trigger})));
    let is_tight = |stop: &Value| is_same(stop["triggerPx"].as_str().unwrap(), "2510");
    until("the tight stop alone", || stops(&stand, "ETH").iter().all(is_tight).then_some(()));
    more_reads(&stand, 2);
    stand.venue.fault("frontendOpenOrders", "http_502", 1_000).unwrap();
    let anew = [at_once(true, "2520", "0.2", true), at_once(false, "2495", "0.4", false)];
    stand.send(&json!({"type": "order", "orders": anew, "grouping": "na"}));
    assert!(is_same(&held(&stand, "ETH").expect("the new position"), "-0.4"));
    let reads = |what: &str| stand.status()["positions"][0]["size"].as_str().is_some_and(|size| is_same(size, what));
    until("it to be read", || reads("0.4").then_some(()));
    for control in
        [json!({"op": "book", "coin": "ETH", "depth": "0.01"}), json!({"op": "price", "coin": "ETH", "px": "2511"})]
    {
        stand.venue.control(&control).unwrap();
    }
    let left = held(&stand, "ETH").expect("a part that nobody took");
    assert!(!is_same(&left, "-0.4") && !stops(&stand, "ETH").iter().any(is_tight), "{left}");
    until("what is left to be read", || reads(left.trim_start_matches('-')).then_some(()));
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    stand.venue.control(&json!({"op": "book", "coin": "ETH", "depth": null})).unwrap();
    until("the rest to be closed", || held(&stand, "ETH").is_none().then_some(()));
}

fn bid(stand: &Stand, px: &str, size: &str) {
    let order = json!({"a": ETH, "b": true, "p": px, "s": size, "r": false, "t": {"limit": {"tif": "Gtc"}}});
    let reply = stand.send(&place(&order));
    assert!(reply.pointer("/response/data/statuses/0/resting").is_some(), "{reply}");
}

/// Places a client's own stop, and waits until it stands alone.
fn stop_alone(stand: &Stand, px: &str, size: &str) {
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": px, "tpsl": "sl"}});
    let stop = json!({"a": ETH, "b": false, "p": "2400", "s": size, "r": true, "t": trigger});
    let reply = stand.send(&place(&stop));
    assert_eq!(reply["status"], "ok", "{reply}");
    let is_it = |stop: &Value| is_same(stop["triggerPx"].as_str().unwrap(), px);
    until("that stop alone", || stops(stand, "ETH").iter().all(is_it).then_some(()));
}

/// What is left has one stop, of the bid, for just that; it stays so for longer than anything is looked at before it is closed.
fn stays_with_its_own_stop(stand: &Stand, size: &str) {
    let child = stops(stand, "ETH");
    assert!(child.len() == 1 && is_same(child[0]["sz"].as_str().unwrap(), size), "the bid's own stop: {child:?}");
    more_reads(stand, 1);
    std::thread::sleep(std::time::Duration::from_secs(4));
    let now = held(stand, "ETH").unwrap_or_else(|| "0".to_owned());
    assert!(is_same(&now, size), "{now} of {size}: {:?}", stand.events().pop());
    assert!(closes(stand).is_empty(), "{size}: {:?}", closes(stand));
    assert!(stops(stand, "ETH").iter().any(|stop| stop["oid"] == child[0]["oid"]));
}

/// The price leaps over a bid and the stop of what was held, in one step and beside the live feed.
#[test]
fn a_bid_that_fills_beside_the_stop_of_before_is_not_closed_with_it() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    buy(&stand, "2501", "0.4");
    stop_alone(&stand, "2490", "0.4");
    bid(&stand, "2495", "0.6");
    until("the feed's audits", || (stand.status()["venue"]["feed"]["audited"] == true).then_some(()));
    stand.venue.price("ETH", "2488").unwrap();
    stays_with_its_own_stop(&stand, "0.6");
}
