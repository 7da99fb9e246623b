//! A feed that is well.

use serde_json::{Value, json};

use super::{audited, feed, frames, listening, reads, same_picture};
use crate::stand::{Mode, Stand};
use crate::watched::{hold_covered, trades};

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

/// Without the key nothing listens, and nothing tells of a feed.
#[test]
fn without_the_key_nothing_listens() {
    let mut stand = Stand::set_up_watching(Mode::Testnet, "", "feed = false\n");
    stand.start();
    assert_eq!(feed(&stand), Value::Null);
    assert_eq!(stand.venue.truth()["feed"]["opened"], json!(0));
}
