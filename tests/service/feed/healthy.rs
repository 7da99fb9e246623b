//! A feed that is well.

use serde_json::json;

use super::{audited, feed, frames, listening, proved, reads, same_picture, trouble};
use crate::signing::{BTC, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, hold_covered, trades};

/// While it tells everything, what is told is hardly read: a position that is held is no reason to.
#[test]
fn what_the_feed_tells_is_hardly_read() {
    let stand = listening();
    hold_covered(&stand, "ETH", "0.4");
    audited(&stand);
    let kinds = ["clearinghouseState", "allMids", "frontendOpenOrders"];
    let before = kinds.map(|kind| reads(&stand, kind));
    // Ten seconds of states at least: ten reads of account and prices, and two of the orders, without a feed.
    frames(&stand, 70);
    let more: Vec<u64> = kinds.iter().zip(before).map(|(kind, before)| reads(&stand, kind) - before).collect();
    assert!(more.iter().all(|more| *more <= 2), "{kinds:?}: {more:?}");
    let status = stand.status();
    assert!(status["venue"]["account_age_ms"].as_u64().unwrap() < 15_000, "{status}");
    assert_eq!(status["alerts"], json!([]));
    trades(&stand, None);
    same_picture(&stand);
}

/// A venue without a socket is read as often as ever.
#[test]
fn where_no_socket_is_to_be_had_all_is_read() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    trouble(&stand, json!({"kind": "refuse"}));
    stand.start();
    hold_covered(&stand, "ETH", "0.4");
    let count = || reads(&stand, "clearinghouseState");
    let before = count();
    until("reads on their interval", || (count() >= before + 5).then_some(()));
    let feed = feed(&stand);
    assert_eq!(
        (&feed["proved"], &feed["audited"], &feed["sockets"]),
        (&json!(false), &json!(false), &json!(0)),
        "{feed}"
    );
    assert_eq!(stand.venue.truth()["feed"]["opened"], json!(0));
    trades(&stand, None);
    same_picture(&stand);
}

/// The best bid and ask tell the mid before anything else does. In paper mode an order that rests goes by that.
#[test]
fn a_mid_is_taken_from_the_best_bid_and_ask() {
    let mut stand = Stand::set_up(Mode::Paper, WIDE);
    stand.start();
    proved(&stand);
    stand.send(&place(&limit(BTC, true, "59000", "0.001")));
    let rests = || stand.status()["open_orders"].as_array().unwrap().len();
    until("the order to rest", || (rests() == 1).then_some(()));
    for on in ["allMids", "activeAssetCtx"] {
        trouble(&stand, json!({"kind": "mute", "on": on}));
    }
    for on in ["allMids", "metaAndAssetCtxs"] {
        stand.venue.control(&json!({"op": "fault", "on": on, "kind": "http_502", "times": 1_000_000})).unwrap();
    }
    stand.venue.control(&json!({"op": "price", "coin": "BTC", "px": "58900"})).unwrap();
    until("the order to be done", || (rests() == 0).then_some(()));
}
