//! A feed that is well.

use serde_json::json;

use super::{audited, feed, frames, listening, reads, same_picture, trouble};
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
