//! Fills elsewhere, covered by the push alone.

use std::time::{Duration, Instant};

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{audited, covered_in_all, covered_once, listening, reads, same_picture, trouble};
use crate::clients::filled;
use crate::signing::ETH;
use crate::stand::{Stand, run_with, until};
use crate::watched::{closes, covered, held, hold, hold_covered, is_flat, is_same, placed_stops, stops};

/// The venue answers no question about the account.
fn blind(stand: &Stand) {
    let fault = |on: &str| json!({"op": "fault", "on": on, "kind": "http_502", "times": 100_000});
    stand.venue.control(&json!([fault("clearinghouseState"), fault("frontendOpenOrders")])).unwrap();
}

#[test]
fn a_position_made_elsewhere_is_covered_before_any_read() {
    let stand = listening();
    audited(&stand);
    blind(&stand);
    let before = reads(&stand, "clearinghouseState");
    hold(&stand, "ETH", "0.4");
    let stop = covered(&stand, "ETH", "0.4");
    assert!(is_same(stop["triggerPx"].as_str().unwrap(), "2450"), "2% under 2500: {stop}");
    assert_eq!(reads(&stand, "clearinghouseState"), before, "nothing was read");
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    same_picture(&stand);
    assert_eq!((stops(&stand, "ETH").len(), closes(&stand).len()), (1, 0));
}

/// What grows has stops for just as much, whatever came together.
#[test]
fn nothing_is_covered_twice() {
    let stand = listening();
    audited(&stand);
    for size in ["0.2", "0.4", "0.6"] {
        hold(&stand, "ETH", size);
        covered_in_all(&stand, "ETH", size);
    }
    covered_once(&stand, "ETH", "0.6");
    same_picture(&stand);
    let placed: Vec<Value> = placed_stops(&stand);
    assert!(placed.len() <= 3, "{placed:?}");
    hold(&stand, "ETH", "0");
    until("nothing to rest", || is_flat(&stand).then_some(()));
    assert!(closes(&stand).is_empty());
}

/// Each fill comes twice, and the second one counts for nothing.
#[test]
fn a_fill_told_twice_counts_once() {
    let stand = listening();
    audited(&stand);
    trouble(&stand, json!({"kind": "duplicate", "on": "userFills", "times": 1_000}));
    for size in ["0.2", "0.4"] {
        hold(&stand, "ETH", size);
        covered_in_all(&stand, "ETH", size);
    }
    same_picture(&stand);
    covered_once(&stand, "ETH", "0.4");
}

/// A fill far from the known price opens a position whatever the price is: where no read of the account is answered, the feed's
/// own account that shows it is enough to cover it.
#[test]
fn a_fill_far_off_is_covered_while_the_account_is_not_read() {
    let stand = listening();
    audited(&stand);
    blind(&stand);
    stand.venue.control(&json!({"op": "position", "coin": "SOL", "szi": "10", "entry_px": "200"})).unwrap();
    let stop = covered(&stand, "SOL", "10");
    assert!(is_same(stop["triggerPx"].as_str().unwrap(), "147"), "by the mark of 150: {stop}");
    assert!(closes(&stand).is_empty());
}

/// The venue answers no question about the account, and all others.
fn hide_account(stand: &Stand) {
    let fault = json!({"op": "fault", "on": "clearinghouseState", "kind": "http_502", "times": 100_000});
    stand.venue.control(&fault).unwrap();
}

fn a_kill_closes(stand: &Stand, coin: &str) {
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    assert_eq!(done.status.code(), Some(0));
    until("nothing to be held", || held(stand, coin).is_none().then_some(()));
}

/// For longer than what a read denies is believed.
fn stays_covered(stand: &Stand, coin: &str, size: &str) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(14) {
        covered_in_all(stand, coin, size);
        std::thread::sleep(Duration::from_millis(250));
    }
}

/// However long no read shows it: the feed's account does, and the stop for all of it stays until it fires.
#[test]
fn what_grew_keeps_its_stop_while_the_account_is_not_read() {
    let stand = listening();
    hold_covered(&stand, "ETH", "0.4");
    audited(&stand);
    hide_account(&stand);
    hold(&stand, "ETH", "3");
    stays_covered(&stand, "ETH", "3");
    stand.venue.price("ETH", "2400").unwrap();
    until("the stop to have closed all", || held(&stand, "ETH").is_none().then_some(()));
}

/// Its bot's own entry is known by its request alone at first.
#[test]
fn a_kill_closes_what_its_bot_opened_while_the_account_is_not_read() {
    let stand = listening();
    audited(&stand);
    hide_account(&stand);
    let entry = json!({"a": ETH, "b": true, "p": "2510", "s": "0.4", "r": false, "t": {"limit": {"tif": "Ioc"}}});
    let reply = stand.send(&json!({"type": "order", "orders": [entry], "grouping": "na"}));
    assert_eq!(filled(&reply), Some("0.4"), "{reply}");
    a_kill_closes(&stand, "ETH");
}

/// The feed's account tells it still while another position is closed; nothing does while the feed is away.
#[test]
fn what_grew_keeps_its_stop_whatever_becomes_of_other_positions_and_of_the_feed() {
    for is_away in [false, true] {
        let stand = listening();
        hold_covered(&stand, "ETH", "0.4");
        hold_covered(&stand, "SOL", "6");
        audited(&stand);
        hide_account(&stand);
        hold(&stand, "ETH", "3");
        covered_once(&stand, "ETH", "3");
        if is_away {
            stand.without_feed();
        } else {
            hold(&stand, "SOL", "0");
        }
        stays_covered(&stand, "ETH", "3");
        a_kill_closes(&stand, "ETH");
    }
}

/// Fills and the feed's account both show it.
#[test]
fn what_was_turned_is_covered_and_killed_while_the_account_is_not_read() {
    let stand = listening();
    hold_covered(&stand, "ETH", "0.4");
    audited(&stand);
    hide_account(&stand);
    hold(&stand, "ETH", "-0.6");
    let is_above = |stop: &Value| stop["triggerPx"].as_str().unwrap().parse::<Decimal>().unwrap() > Decimal::from(2500);
    until("a stop above the price", || stops(&stand, "ETH").into_iter().find(is_above));
    a_kill_closes(&stand, "ETH");
}

/// Its stop has fired, and the bot entered again at once.
#[test]
fn what_was_opened_anew_is_not_closed_for_the_line_of_before_while_the_account_is_not_read() {
    let stand = listening();
    hold_covered(&stand, "ETH", "0.4");
    audited(&stand);
    hide_account(&stand);
    stand.venue.price("ETH", "2425").unwrap();
    until("the stop to have fired", || held(&stand, "ETH").is_none().then_some(()));
    let entry = json!({"a": ETH, "b": true, "p": "2434", "s": "0.3", "r": false, "t": {"limit": {"tif": "Ioc"}}});
    let reply = stand.send(&json!({"type": "order", "orders": [entry], "grouping": "na"}));
    assert_eq!(filled(&reply), Some("0.3"), "{reply}");
    stays_covered(&stand, "ETH", "0.3");
    assert!(held(&stand, "ETH").is_some_and(|szi| is_same(&szi, "0.3")));
    assert!(closes(&stand).is_empty(), "{:?}", closes(&stand));
}

/// Its fill is lost on either feed that tells it, and no read is answered: the feed's account alone shows it.
#[test]
fn what_the_feeds_account_alone_shows_is_covered_and_killed() {
    let stand = listening();
    audited(&stand);
    hide_account(&stand);
    for on in ["userFills", "userEvents"] {
        trouble(&stand, json!({"kind": "lose", "on": on, "times": 1}));
    }
    hold(&stand, "ETH", "0.4");
    let stop = covered(&stand, "ETH", "0.4");
    assert!(is_same(stop["triggerPx"].as_str().unwrap(), "2450"), "2% under 2500: {stop}");
    assert!(closes(&stand).is_empty());
    a_kill_closes(&stand, "ETH");
}

/// The first read after a fill lags, and all others fail: what is known by the feed alone is covered, and a kill closes it.
#[test]
fn a_read_that_lags_leaves_nothing_bare() {
    let stand = listening();
    hold_covered(&stand, "ETH", "0.4");
    audited(&stand);
    let stale = json!({"op": "fault", "on": "clearinghouseState", "kind": "stale", "times": 1});
    let then = json!({"op": "fault", "on": "clearinghouseState", "kind": "http_502", "times": 100_000});
    stand.venue.control(&json!([stale, then])).unwrap();
    // The read is of an earlier moment of the venue's than the fill.
    std::thread::sleep(Duration::from_millis(30));
    hold(&stand, "ETH", "-0.3");
    let stop = covered(&stand, "ETH", "0.3");
    assert_eq!(stop["side"], "B", "{stop}");
    assert!(closes(&stand).is_empty());
    a_kill_closes(&stand, "ETH");
}
