//! Entries whose children were cancelled and that fill while no guard runs: what they opened is stopped out where it was judged to be,
//! and nothing else is closed for them.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::cancelled_children::rest_without_children;
use crate::signing::ETH;
use crate::stand::{Mode, Stand, until};
use crate::watched::{fault, held, is_same, stops};

/// By then what a start has read is acted on.
const SETTLED: Duration = Duration::from_secs(5);

/// An entry for 0.9 rests at 2489 without its child, which was at 2445, and the guard dies.
fn dead(rules: &str, has_feed: bool) -> Stand {
    let mut stand = Stand::up(Mode::Testnet, rules);
    if !has_feed {
        stand.without_feed();
    }
    rest_without_children(&stand, &[("2489", "0.9", "2445")], &["2445"]);
    stand.kill();
    stand
}

fn prices(stand: &Stand, all: &[&str]) {
    all.iter().for_each(|px| drop(stand.venue.price("ETH", px).unwrap()));
}

fn by_hand(stand: &Stand, is_buy: bool, px: &str) {
    let order = json!({"a": ETH, "b": is_buy, "p": px, "s": "0.9", "r": !is_buy, "t": {"limit": {"tif": "Ioc"}}});
    stand.venue.control(&json!({"op": "order", "order": [order], "grouping": "na"})).unwrap();
}

fn is_held(stand: &Stand, size: &str) -> bool {
    held(stand, "ETH").is_some_and(|held| is_same(&held, size))
}

fn until_closed(stand: &Stand) {
    until("the end of the position", || held(stand, "ETH").is_none().then_some(()));
}

/// A client cancels the children, the guard dies, and the entries fill and the price leaps over the stop of one of them before a guard
/// runs again: what opened the position is known by its fills alone.
fn stopped_out_where_it_was_judged_to_be(mut stand: Stand) {
    rest_without_children(&stand, &[("2489", "0.9", "2445"), ("2487", "0.1", "2400")], &["2445", "2400"]);
    stand.kill();
    prices(&stand, &["2486", "2426"]);
    // The first fills that a feed tells of are newer.
    sleep(Duration::from_secs(11));
    stand.start();
    until("the part that is beyond its stop to be closed", || is_held(&stand, "0.1").then_some(()));
    let other = || stops(&stand, "ETH").iter().any(|stop| is_same("2400", stop["triggerPx"].as_str().unwrap()));
    until("the other's stop", || other().then_some(()));
}

#[test]
fn what_fills_while_no_guard_runs_is_stopped_out_where_it_was_judged_to_be() {
    stopped_out_where_it_was_judged_to_be(Stand::up(Mode::Testnet, ""));
}

#[test]
fn the_same_is_known_without_a_feed() {
    let stand = Stand::up(Mode::Testnet, "");
    stand.without_feed();
    stopped_out_where_it_was_judged_to_be(stand);
}

/// What was closed by hand has nothing to do with what is opened by hand after that, while no guard ran.
#[test]
fn what_is_opened_by_hand_since_has_a_stop_of_its_own() {
    let mut stand = dead("", true);
    prices(&stand, &["2486", "2426"]);
    by_hand(&stand, false, "2400");
    by_hand(&stand, true, "2450");
    stand.start();
    until("a stop of its own", || (!stops(&stand, "ETH").is_empty()).then_some(()));
    sleep(SETTLED);
    assert!(is_held(&stand, "0.9"), "{}", stand.venue.truth());
}

/// The same where that happens in the new life, and the fills are told after it.
#[test]
fn fills_that_are_told_late_close_nothing_that_was_opened_since() {
    let mut stand = dead("", false);
    fault(&stand, "userFillsByTime", "http_502", 1_000_000, "");
    prices(&stand, &["2486", "2450"]);
    stand.start();
    let positions = || stand.status()["positions"].as_array().unwrap().len();
    until("the position to be read", || (positions() == 1).then_some(()));
    by_hand(&stand, false, "2400");
    until("its end to be read", || (positions() == 0).then_some(()));
    prices(&stand, &["2426"]);
    by_hand(&stand, true, "2450");
    until("the new one's stop", || (!stops(&stand, "ETH").is_empty()).then_some(()));
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    stand.without_feed();
    until("the fills to be told", || (stand.events_of("fill").len() == 3).then_some(()));
    sleep(SETTLED);
    assert!(is_held(&stand, "0.9"), "{}", stand.venue.truth());
}

/// A life that dies before the stop of such an entry stands does not take the knowledge of it along.
#[test]
fn a_second_death_leaves_it_its_stop() {
    for has_feed in [true, false] {
        let mut stand = dead("", has_feed);
        prices(&stand, &["2486", "2460"]);
        fault(&stand, "exchange", "drop_before", 1_000_000, "");
        stand.start();
        until("the fill to be on record", || (stand.events_of("fill").len() == 1).then_some(()));
        stand.kill();
        stand.venue.control(&json!({"op": "clear"})).unwrap();
        if !has_feed {
            stand.without_feed();
        }
        prices(&stand, &["2440"]);
        stand.start();
        until_closed(&stand);
    }
}

/// It fills after the first read of the account, and the open orders come late: no read has ever shown that it rested.
#[test]
fn one_that_fills_between_the_first_reads_has_its_stop() {
    let mut stand = dead("", false);
    let slow = json!({"op": "fault", "on": "frontendOpenOrders", "kind": "delay", "times": 4, "ms": 2_500});
    stand.venue.control(&slow).unwrap();
    stand.launch();
    sleep(Duration::from_millis(600));
    prices(&stand, &["2486", "2440"]);
    until_closed(&stand);
}
